package storage

// Metric is the current value of a figure that a store exposes to monitoring.
type Metric struct {
	Name  string // snake case, with its unit: "memtable_bytes"
	Help  string // one sentence
	Value float64
}

// MetricsProvider is a store that exposes metrics.
type MetricsProvider interface {
	// Metrics returns the current values, always of the same metrics in the same order. They do not depend on a View.
	Metrics() ([]Metric, error)
}
