package blocksource

import (
	"slices"

	"birthmark/model"
)

// A trail keeps all of its last dense points, and every sparse-th of the older ones.
const (
	dense  = 20_000
	sparse = 1_000
)

// Trail has points of one chain, oldest first, to find the fork point with another chain. If that is between two of its
// points, the rollback goes to the lower one: the blocks between them are yielded again, and the reader skips them.
type Trail struct {
	points []model.Point
	thin   int // number of the first points that are thinned out
}

// NewTrail returns a trail of points that are newest first.
func NewTrail(known []model.Point) *Trail {
	t := &Trail{points: slices.Clone(known)}
	slices.Reverse(t.points)
	t.thin = len(t.points)
	return t
}

// Newest returns the end of the trail, or the origin.
func (t *Trail) Newest() model.Point {
	if len(t.points) == 0 {
		return model.Point{}
	}
	return t.points[len(t.points)-1]
}

// Points returns the trail's points, oldest first, without a copy.
func (t *Trail) Points() []model.Point { return t.points }

// Add adds a point after the newest.
func (t *Trail) Add(p model.Point) {
	t.points = append(t.points, p)
	if len(t.points)-t.thin < 2*dense {
		return
	}
	kept := t.points[:t.thin]
	old, last := t.points[t.thin:len(t.points)-dense], t.points[len(t.points)-dense:]
	for _, p := range old {
		if p.Height%sparse == 0 {
			kept = append(kept, p)
		}
	}
	t.thin = len(kept)
	t.points = append(kept, last...)
}

// Cut keeps the first n points.
func (t *Trail) Cut(n int) {
	t.points = t.points[:n]
	t.thin = min(t.thin, n)
}

// parting returns the number of points, from the oldest on, for which shared is true; shared must be true for a prefix
// of them. It calls shared logarithmically often in the number of points for which it is false.
func (t *Trail) parting(shared func(model.Point) (bool, error)) (int, error) {
	low, high := 0, len(t.points) // shared is true for points[:low] and false for points[high:]
	for step := 1; low < high; step *= 2 {
		at := (low + high) / 2
		if low == 0 { // in growing steps from the newest until shared is true
			at = max(high-step, 0)
		}
		ok, err := shared(t.points[at])
		if err != nil {
			return 0, err
		}
		if ok {
			low = at + 1
		} else {
			high = at
		}
	}
	return low, nil
}
