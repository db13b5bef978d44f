package core

import (
	"birthmark/storage"
)

// Measures are figures of a database for those who watch over it. They are of this process since it opened the database.
type Measures struct {
	Caches []CacheMeasure   // of what memory saves the write path to read
	Store  []storage.Metric // of the store; none where it tells none
}

// CacheMeasure is how often one of the caches knew what it was asked for.
type CacheMeasure struct {
	Name         string // outputs, values, filter, owners
	Asked, Found uint64
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
	if meter, ok := db.store.(storage.MetricsProvider); ok {
		m.Store, err = meter.Metrics()
	}
	return m, err
}
