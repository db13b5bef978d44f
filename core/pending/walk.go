package pending

import (
	"iter"

	"birthmark/core/meter"
)

// counting returns the overlay for a request, whose walks are reported to its meter.
func (o *Overlay) counting(m *meter.Meter) *Overlay {
	if m == nil {
		return o
	}
	c := *o
	c.meter, c.shared = m, o
	return &c
}

// Shared returns the overlay that all requests have at a standing. Its walks are not counted: a request that walks it
// for others, too, reports the transactions itself.
func (o *Overlay) Shared() *Overlay {
	if o.shared != nil {
		return o.shared
	}
	return o
}

// walkRows is the number of transactions of a walk between two reports to the meter.
const walkRows = 64

// counted reports the transactions of a walk. The walk ends at an error of the meter, which [Follower.View] returns: an
// answer that was made of a part is not sent.
func (t *tables) counted(walk iter.Seq[*Tx]) iter.Seq[*Tx] {
	if t.meter == nil {
		return walk
	}
	return func(yield func(*Tx) bool) {
		n := 0
		defer func() { _ = t.meter.Rows(n) }() // the meter keeps the error
		walk(func(tx *Tx) bool {
			if n++; n == walkRows {
				n = 0
				if t.meter.Rows(walkRows) != nil {
					return false
				}
			}
			return yield(tx)
		})
	}
}
