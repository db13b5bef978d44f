package core

import (
	"birthmark/core/cache"
	"birthmark/storage"
)

// Stats are metrics of a database since this process opened it.
type Stats struct {
	Caches []cache.Stats    // hit counters of the caches
	Store  []storage.Metric // of the store; empty if it has none
}

// Stats returns the current metrics.
func (db *DB) Stats() (m Stats, err error) {
	m.Caches = db.cache.Stats()
	if meter, ok := db.store.(storage.MetricsProvider); ok {
		m.Store, err = meter.Metrics()
	}
	return m, err
}
