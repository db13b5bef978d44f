package core

import (
	"sync/atomic"

	"birthmark/storage"
)

// Measures are figures of a database for those who watch over it. They are of this process since it opened the database.
type Measures struct {
	Caches []CacheMeasure    // of what memory saves the write path to read
	Store  []storage.Measure // of the store; none where it tells none
}

// CacheMeasure is how often one of the caches knew what it was asked for.
type CacheMeasure struct {
	Name         string // outputs, values, filter, owners
	Asked, Found uint64
}

// hits counts what a cache was asked. Windows add to it, not each question.
type hits struct{ asked, found atomic.Uint64 }

func (h *hits) add(asked, found int) {
	h.asked.Add(uint64(asked))
	h.found.Add(uint64(found))
}

// cacheHits are those of all caches.
type cacheHits struct {
	outputs hits // what an input spends
	values  hits // where a value or an asset was born
	filter  hits // of those that are not among values: found is that it is new
	owners  hits // whose a spent output was, where indexes keep accounts
}

// count adds what the window asked.
func (v *resolver) count() {
	hits := &v.cache.hits
	hits.outputs.add(len(v.w.spends), len(v.w.spends)-len(v.unread))
	hits.values.add(v.asksBirths, v.knew)
	perhapsNew := len(v.w.births) + len(v.w.assetBirths) - v.knew
	hits.filter.add(perhapsNew, perhapsNew-len(v.doubts))
}

// Measures are the figures of now.
func (db *DB) Measures() (m Measures, err error) {
	h := &db.cache.hits
	for _, c := range []struct {
		name string
		*hits
	}{{"outputs", &h.outputs}, {"values", &h.values}, {"filter", &h.filter}, {"owners", &h.owners}} {
		found := c.found.Load() // before asked, which is never less
		m.Caches = append(m.Caches, CacheMeasure{c.name, c.asked.Load(), found})
	}
	if meter, ok := db.store.(storage.Meter); ok {
		m.Store, err = meter.Measures()
	}
	return m, err
}
