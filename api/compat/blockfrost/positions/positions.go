// Package positions stores where the pages of lists end, so that a page continues after the page before it.
package positions

import (
	"sync"

	"birthmark/model"
)

// Memory stores the last entry of pages. A page continues after the entry that the page before it ended with, also if
// entries were added or removed in the meantime: a client that reads page after page sees no entry twice and misses
// none.
//
// The oldest positions are dropped when there are too many.
type Memory struct {
	mu            sync.Mutex
	recent, older map[Page]end
}

const (
	maxPositions = 1 << 15 // in each of the two generations
	MaxSkip      = 64      // pages between a stored one and the requested one
)

// Page identifies a page: the hash of the list and of the number of entries per page, and the number of the page.
type Page struct {
	List   [16]byte
	Number int
}

// end is the last entry of a page.
type end struct {
	at  model.Point // the tip when the page was read
	pos any
}

func New() *Memory { return &Memory{recent: map[Page]end{}, older: map[Page]end{}} }

func (m *Memory) find(p Page) (end, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.recent[p]; ok {
		return r, true
	}
	r, ok := m.older[p]
	return r, ok
}

// Store stores the last entry of a page that was read when the chain had a tip.
func (m *Memory) Store(p Page, tip model.Point, pos any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.recent) >= maxPositions {
		m.older, m.recent = m.recent, map[Page]end{}
	}
	m.recent[p] = end{tip, pos}
}

// End drops the positions of a page and of the pages after it: the list ends before.
func (m *Memory) End(p Page) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for found := true; found; p.Number++ {
		_, recent := m.recent[p]
		_, older := m.older[p]
		found = recent || older
		delete(m.recent, p)
		delete(m.older, p)
	}
}

// Start returns where to begin to read a page of count entries, and the number of entries to skip from there. after is
// nil at the beginning of the list. Positions count only if their tip is valid.
func Start[P any](
	m *Memory, p Page, count int, valid func(tip model.Point) (bool, error),
) (after *P, skip int, err error) {
	for n := p.Number - 1; n >= 1 && n > p.Number-MaxSkip; n-- {
		r, ok := m.find(Page{p.List, n})
		if !ok {
			continue
		}
		ok, err := valid(r.at)
		if err != nil {
			return nil, 0, err
		}
		if pos, same := r.pos.(P); ok && same {
			return &pos, (p.Number - 1 - n) * count, nil
		}
	}
	return nil, (p.Number - 1) * count, nil
}
