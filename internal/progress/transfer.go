package progress

import (
	"sync/atomic"
	"time"
)

// megabyte is the unit in which transfers are shown.
const megabyte = 1_000_000

// Transfer is the progress of a transfer of bytes.
type Transfer struct {
	pace        Pace
	done, total atomic.Uint64
}

// NewTransfer returns the progress of a transfer that starts now.
func NewTransfer(now func() time.Time) *Transfer { return &Transfer{pace: NewPace("MB", now)} }

// Advance records how many bytes are done, and their total.
func (t *Transfer) Advance(done, total uint64) {
	t.done.Store(done)
	t.total.Store(total)
}

// Reading returns the progress in megabytes.
func (t *Transfer) Reading() Reading {
	r := t.pace.Reading(t.done.Load(), t.total.Load())
	r.Done, r.Total = r.Done/megabyte, r.Total/megabyte
	for i := range r.Rates {
		r.Rates[i].PerSecond /= megabyte
	}
	if total := t.total.Load(); total == 0 {
		r.Phase = "reading the snapshot"
	} else {
		r.Fraction = float64(t.done.Load()) / float64(total)
	}
	return r
}
