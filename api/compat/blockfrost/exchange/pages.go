package exchange

import (
	"iter"
	"strconv"

	"golang.org/x/crypto/blake2b"

	"birthmark/api/compat/blockfrost/positions"
	"birthmark/core/query"
	"birthmark/model"
)

// A position is valid for lastsFor blocks, unless its block was rolled back. Later the list is read from its beginning.
const lastsFor = 30

// stillValid reports whether positions of a tip are valid.
func (q *Request) stillValid(at model.Point) (bool, error) {
	tip := q.Q.Tip
	if at == tip {
		return true, nil
	}
	if at.IsOrigin() || at.Height > tip.Height || tip.Height-at.Height > lastsFor {
		return false, nil
	}
	p, err := q.Point(at.Height)
	return err == nil && p.Hash == at.Hash, err
}

// LongSkip is the number of skipped entries from which a request is expensive.
const LongSkip = 5000

// PageOf returns the entries of a page. scan yields the list after an entry, nil for its beginning. The list is
// identified by the path of the request and by its parameters.
func PageOf[P any](q *Request, p Paging, scan func(after *P) iter.Seq2[P, error]) ([]P, error) {
	k := positions.Page{Number: p.Page}
	sum := blake2b.Sum256([]byte(q.R.URL.Path + "?" + strconv.Itoa(p.Count) + strconv.FormatBool(p.Descending) +
		"&" + q.last("from") + "&" + q.last("to")))
	copy(k.List[:], sum[:])
	after, skip, err := positions.Start[P](q.Pages, k, p.Count, q.stillValid)
	if err != nil {
		return nil, err
	}
	if skip >= LongSkip {
		if err := q.Expensive(); err != nil {
			return nil, err
		}
	}
	entries := make([]P, 0, p.Count)
	for e, err := range scan(after) {
		if err != nil {
			return nil, err
		}
		if skip > 0 {
			if skip--; skip%LongSkip == 0 {
				if err := q.Ctx.Err(); err != nil {
					return nil, err
				}
			}
			continue
		}
		if entries = append(entries, e); len(entries) == p.Count {
			break
		}
	}
	if len(entries) < p.Count {
		q.Pages.End(k)
	} else {
		q.Pages.Store(k, q.Q.Tip, entries[len(entries)-1])
	}
	return entries, nil
}

// SlicePage returns a page of a list that is in memory.
func SlicePage[T any](all []T, p Paging) []T {
	if p.Descending {
		reversed := make([]T, len(all))
		for i, e := range all {
			reversed[len(all)-1-i] = e
		}
		all = reversed
	}
	first := min((p.Page-1)*p.Count, len(all))
	return all[first:min(first+p.Count, len(all))]
}

// Batches groups outputs to be read together.
func Batches[T any](q *Request, seq iter.Seq2[T, error]) iter.Seq2[[]T, error] {
	return query.Batches(q.Q, seq, MaxCount, query.OccurrenceBatch)
}
