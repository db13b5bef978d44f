package core

import (
	"birthmark/core/cache"
	"birthmark/storage"
)

// Measures are metrics of a database since this process opened it.
type Measures struct {
	Caches []cache.Stats    // hit counters of the caches
	Store  []storage.Metric // of the store; empty if it has none
}

// Measures returns the current metrics.
func (db *DB) Measures() (m Measures, err error) {
	m.Caches = db.cache.Stats()
	if meter, ok := db.store.(storage.MetricsProvider); ok {
		m.Store, err = meter.Metrics()
	}
	return m, err
}
