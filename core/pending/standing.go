package pending

import (
	"maps"
	"slices"

	"birthmark/model"
)

// Standing is a consistent state: a tip of the database, and the unconfirmed transactions for it. It is immutable.
type Standing struct {
	Tip model.Point
	*Overlay

	moved chan struct{} // closed when the next standing is published
}

// Value is a value of an index; Index is a position in [Overlay.Indexes].
type Value struct {
	Index int
	Value string
}

// Change is the difference between two standings.
type Change struct {
	In  []*Tx  // transactions that arrived
	Out []Left // transactions that left

	// Touched are the values for which the overlay gives another answer: values in In and Out, and values of
	// transactions that no longer have an unconfirmed parent. Values that only confirmed transactions of a new block
	// have are not among them.
	Touched map[Value]struct{}

	All bool // any value may be touched, and In and Out are not complete
}

// Left is a transaction that left, and how.
type Left struct {
	Fate
	Tx *Tx
}

// maxTouched is the maximum number of values and transactions of a change. Above it, All is set.
const maxTouched = 100_000

// merge adds a later change.
func (c *Change) merge(next *Change) {
	if c.empty() {
		*c = *next // shared: a later merge copies it
		return
	}
	if c.All = c.All || next.All || len(c.Touched)+len(next.Touched) > maxTouched; c.All {
		*c = Change{All: true}
		return
	}
	c.In, c.Out = slices.Concat(c.In, next.In), slices.Concat(c.Out, next.Out)
	if len(next.Touched) > 0 {
		c.Touched = maps.Clone(c.Touched)
		if c.Touched == nil {
			c.Touched = map[Value]struct{}{}
		}
		maps.Copy(c.Touched, next.Touched)
	}
}

// empty reports whether nothing changed.
func (c *Change) empty() bool { return !c.All && len(c.In)+len(c.Out)+len(c.Touched) == 0 }

// Update is a standing, and what changed since the previous one that the consumer received.
type Update struct {
	*Standing
	Change Change
}
