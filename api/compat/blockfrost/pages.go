package blockfrost

import (
	"iter"
	"strconv"
	"sync"

	"golang.org/x/crypto/blake2b"

	"birthmark/core/query"
	"birthmark/model"
)

// positions stores the last entry of pages. A page continues after the entry that the page before it ended with, also
// if entries were added or removed in the meantime: a client that reads page after page sees no entry twice and misses
// none.
//
// A position is valid for lastsFor blocks, unless its block was rolled back. Later the list is read from its beginning.
// The oldest positions are dropped when there are too many.
type positions struct {
	mu            sync.Mutex
	recent, older map[pageKey]pageEnd
}

const (
	lastsFor     = 30
	maxPositions = 1 << 15 // in each of the two generations
	maxSkip      = 64      // pages between a stored one and the requested one
)

// pageKey identifies a page: the hash of the list and of the number of entries per page, and the number of the page.
type pageKey struct {
	list [16]byte
	page int
}

// pageEnd is the last entry of a page.
type pageEnd struct {
	at  model.Point // the tip when the page was read
	pos any
}

func newPositions() *positions {
	return &positions{recent: map[pageKey]pageEnd{}, older: map[pageKey]pageEnd{}}
}

func (p *positions) find(k pageKey) (pageEnd, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r, ok := p.recent[k]; ok {
		return r, true
	}
	r, ok := p.older[k]
	return r, ok
}

func (p *positions) store(k pageKey, r pageEnd) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.recent) >= maxPositions {
		p.older, p.recent = p.recent, map[pageKey]pageEnd{}
	}
	p.recent[k] = r
}

// end drops the positions of a page and of the pages after it: the list ends before.
func (p *positions) end(k pageKey) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for found := true; found; k.page++ {
		_, recent := p.recent[k]
		_, older := p.older[k]
		found = recent || older
		delete(p.recent, k)
		delete(p.older, k)
	}
}

// start returns where to begin to read a page, and the number of entries to skip from there. after is nil at the
// beginning of the list.
func start[P any](q *request, k pageKey, count int) (after *P, skip int, err error) {
	for n := k.page - 1; n >= 1 && n > k.page-maxSkip; n-- {
		r, ok := q.pages.find(pageKey{k.list, n})
		if !ok {
			continue
		}
		valid, err := q.stillValid(r.at)
		if err != nil {
			return nil, 0, err
		}
		if pos, same := r.pos.(P); valid && same {
			return &pos, (k.page - 1 - n) * count, nil
		}
	}
	return nil, (k.page - 1) * count, nil
}

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
	k := pageKey{page: p.page}
	sum := blake2b.Sum256([]byte(q.r.URL.Path + "?" + strconv.Itoa(p.count) + strconv.FormatBool(p.descending) +
		"&" + q.last("from") + "&" + q.last("to")))
	copy(k.list[:], sum[:])
	after, skip, err := start[P](q, k, p.count)
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
		q.pages.end(k)
	} else {
		q.pages.store(k, pageEnd{q.Q.Tip, entries[len(entries)-1]})
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
