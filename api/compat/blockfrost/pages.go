package blockfrost

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
func (q *request) stillValid(at model.Point) (bool, error) {
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

// longSkip is the number of skipped entries from which a request is expensive.
const longSkip = 5000

// pageOf returns the entries of a page. scan yields the list after an entry, nil for its beginning. The list is
// identified by the path of the request and by its parameters.
func pageOf[P any](q *request, p paging, scan func(after *P) iter.Seq2[P, error]) ([]P, error) {
	k := positions.Page{Number: p.page}
	sum := blake2b.Sum256([]byte(q.r.URL.Path + "?" + strconv.Itoa(p.count) + strconv.FormatBool(p.descending) +
		"&" + q.last("from") + "&" + q.last("to")))
	copy(k.List[:], sum[:])
	after, skip, err := positions.Start[P](q.pages, k, p.count, q.stillValid)
	if err != nil {
		return nil, err
	}
	if skip >= longSkip {
		if err := q.expensive(); err != nil {
			return nil, err
		}
	}
	entries := make([]P, 0, p.count)
	for e, err := range scan(after) {
		if err != nil {
			return nil, err
		}
		if skip > 0 {
			if skip--; skip%longSkip == 0 {
				if err := q.ctx.Err(); err != nil {
					return nil, err
				}
			}
			continue
		}
		if entries = append(entries, e); len(entries) == p.count {
			break
		}
	}
	if len(entries) < p.count {
		q.pages.End(k)
	} else {
		q.pages.Store(k, q.Q.Tip, entries[len(entries)-1])
	}
	return entries, nil
}

// slicePage returns a page of a list that is in memory.
func slicePage[T any](all []T, p paging) []T {
	if p.descending {
		reversed := make([]T, len(all))
		for i, e := range all {
			reversed[len(all)-1-i] = e
		}
		all = reversed
	}
	first := min((p.page-1)*p.count, len(all))
	return all[first:min(first+p.count, len(all))]
}

// batches groups outputs to be read together.
func batches[T any](q *request, seq iter.Seq2[T, error]) iter.Seq2[[]T, error] {
	return query.Batches(q.Q, seq, maxCount, query.OccurrenceBatch)
}
