package storage

// Measure is a figure of a store at one moment, for those who watch over it.
type Metric struct {
	Name  string // snake case, with its unit: "memtable_bytes"
	Help  string // one sentence
	Value float64
}

// Meter is a store that tells how it is.
type MetricsProvider interface {
	// Measures are always the same ones, in the same order. They are those of now, whatever a View shows.
	Metrics() ([]Metric, error)
}
