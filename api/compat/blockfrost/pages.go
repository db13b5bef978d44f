package blockfrost

import (
	"iter"
	"strconv"

	"golang.org/x/crypto/blake2b"

	"birthmark/core/query"
	"birthmark/model"
)

// maxSkip is the maximum number of pages between a stored one and the requested one.
const maxSkip = 64

// pageKey identifies a page: the hash of the list and of the number of entries per page, and the number of the page.
type pageKey struct {
	list   [16]byte
	number int
}

// pageEnd is the last entry of a page. A page continues after the entry that the page before it ended with, also if
// entries were added or removed in the meantime: a client that reads page after page sees no entry twice and misses none.
type pageEnd struct {
	at  model.Point // the tip when the page was read
	pos any
}

// startOf returns where to begin to read a page of count entries, and the number of entries to skip from there. after
// is nil at the beginning of the list. Positions count only if their tip is valid.
func startOf[P any](v *view, k pageKey, count int) (after *P, skip int, err error) {
	for n := k.number - 1; n >= 1 && n > k.number-maxSkip; n-- {
		r, ok := v.positions.Get(pageKey{k.list, n})
		if !ok {
			continue
		}
		ok, err := v.stillValid(r.at)
		if err != nil {
			return nil, 0, err
		}
		if pos, same := r.pos.(P); ok && same {
			return &pos, (k.number - 1 - n) * count, nil
		}
	}
	return nil, (k.number - 1) * count, nil
}

// A position is valid for lastsFor blocks, unless its block was rolled back. Later the list is read from its beginning.
const lastsFor = 30

// stillValid reports whether positions of a tip are valid.
func (v *view) stillValid(at model.Point) (bool, error) {
	tip := v.Q.Tip
	if at == tip {
		return true, nil
	}
	if at.IsOrigin() || at.Height > tip.Height || tip.Height-at.Height > lastsFor {
		return false, nil
	}
	p, err := v.Point(at.Height)
	return err == nil && p.Hash == at.Hash, err
}

// longSkip is the number of skipped entries between two checks of the context.
const longSkip = 5000

// pageOf returns the entries of the page of the request. scan yields the list after an entry, nil for its beginning.
// The list is identified by the path of the request and by its parameters. If entries have parts that scan does not need
// to continue, their method position returns them without these parts.
func pageOf[P any](v *view, scan func(after *P) iter.Seq2[P, error]) ([]P, error) {
	p := v.page
	k := pageKey{number: p.number}
	sum := blake2b.Sum256([]byte(v.r.URL.Path + "?" + strconv.Itoa(p.count) + strconv.FormatBool(p.descending) +
		"&" + v.last("from") + "&" + v.last("to")))
	copy(k.list[:], sum[:])
	after, skip, err := startOf[P](v, k, p.count)
	if err != nil {
		return nil, err
	}
	entries := make([]P, 0, p.count)
	for e, err := range scan(after) {
		if err != nil {
			return nil, err
		}
		if skip > 0 {
			if skip--; skip%longSkip == 0 {
				if err := v.ctx().Err(); err != nil {
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
		for v.positions.Remove(k) { // the list ends before
			k.number++
		}
	} else {
		last := entries[len(entries)-1]
		if e, ok := any(last).(interface{ position() P }); ok {
			last = e.position()
		}
		v.positions.Put(k, pageEnd{v.Q.Tip, last})
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
	first := min((p.number-1)*p.count, len(all))
	return all[first:min(first+p.count, len(all))]
}

// batches groups outputs to be read together.
func batches[T any](v *view, seq iter.Seq2[T, error]) iter.Seq2[[]T, error] {
	return query.Batches(v.Q, seq, maxCount, query.OccurrenceBatch)
}
