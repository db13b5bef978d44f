package core

import (
	"birthmark/core/cache"
	"birthmark/storage"
)

// Measures are figures of a database for those who watch over it. They are of this process since it opened the database.
type Measures struct {
	Caches []cache.Stats    // of what memory saves the write path to read
	Store  []storage.Metric // of the store; none where it tells none
}

// Measures are the figures of now.
func (db *DB) Measures() (m Measures, err error) {
	m.Caches = db.cache.Stats()
	if meter, ok := db.store.(storage.MetricsProvider); ok {
		m.Store, err = meter.Metrics()
	}
	return m, err
}
