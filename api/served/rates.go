package served

import (
	"slices"
	"sync"
	"time"

	"birthmark/core"
)

// Rates samples the speed of a sync since its start. The number of samples is bounded: their interval grows with the
// duration of the sync. It is safe for concurrent use; a nil Rates has no samples.
type Rates struct {
	mu       sync.Mutex
	interval time.Duration // between two samples
	all      []Rate
}

// Rate is a sample of the speed of a sync.
type Rate struct {
	Elapsed         time.Duration // since the start of the sync
	Height          uint32
	BlocksPerSecond float64
	TxsPerSecond    float64
}

const (
	maxRates      = 240
	firstInterval = time.Second
)

// Add adds a sample if the interval has passed. A sync that starts again drops the samples before. The final report of a
// sync is ignored, since it has average rates.
func (r *Rates) Add(p core.Progress) {
	if r == nil || p.Done {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.all); n > 0 && p.Elapsed < r.all[n-1].Elapsed {
		r.all, r.interval = nil, 0
	}
	r.interval = max(r.interval, firstInterval)
	if n := len(r.all); n > 0 && p.Elapsed-r.all[n-1].Elapsed < r.interval {
		return
	}
	if len(r.all) == maxRates { // drop every second one
		for i := range maxRates / 2 {
			r.all[i] = r.all[2*i]
		}
		r.all, r.interval = r.all[:maxRates/2], 2*r.interval
	}
	r.all = append(r.all, Rate{p.Elapsed, uint32(p.Height), p.BlocksPerSecond, p.TxsPerSecond})
}

// All returns the samples, oldest first.
func (r *Rates) All() []Rate {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}
