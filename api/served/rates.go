package served

import (
	"slices"
	"sync"
	"time"

	"birthmark/core"
)

// Rates remembers how fast the sync of a chain went, from its beginning on, in a bounded number of moments: the longer it takes,
// the further they lie apart. The zero Rates has none. It may be used from any goroutine; a nil one remembers nothing.
type Rates struct {
	mu    sync.Mutex
	every time.Duration // between two moments
	all   []Rate
}

// Rate is how fast a sync was at one moment.
type Rate struct {
	Elapsed         time.Duration // since the sync began
	Height          uint32
	BlocksPerSecond float64
	TxsPerSecond    float64
}

const (
	mostRates  = 240
	firstEvery = time.Second
)

// Note remembers p, if enough time has gone by. A sync that begins anew is remembered anew. The last report of a sync counts
// for nothing: its rates are those of all of it.
func (r *Rates) Note(p core.Progress) {
	if r == nil || p.Done {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.all); n > 0 && p.Elapsed < r.all[n-1].Elapsed {
		r.all, r.every = nil, 0
	}
	r.every = max(r.every, firstEvery)
	if n := len(r.all); n > 0 && p.Elapsed-r.all[n-1].Elapsed < r.every {
		return
	}
	if len(r.all) == mostRates { // every second one goes
		for i := range mostRates / 2 {
			r.all[i] = r.all[2*i]
		}
		r.all, r.every = r.all[:mostRates/2], 2*r.every
	}
	r.all = append(r.all, Rate{p.Elapsed, uint32(p.Height), p.BlocksPerSecond, p.TxsPerSecond})
}

// All is what is remembered, oldest first.
func (r *Rates) All() []Rate {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}
