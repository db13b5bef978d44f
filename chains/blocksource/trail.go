package blocksource

import (
	"slices"

	"birthmark/model"
)

// The last dense points of a trail are all there, of older ones every sparse-th block.
const (
	dense  = 20_000
	sparse = 1_000
)

// Trail is points of one chain, oldest first: enough of it to find where another chain parts from it. If that is
// between two of its points, the way back is to the lower one: the blocks between them are yielded again, and the
// reader skips them.
type Trail struct {
	points []model.Point
	thin   int // how many of the first points are thinned out already
}

// NewTrail begins with points that are newest first.
func NewTrail(known []model.Point) *Trail {
	t := &Trail{points: slices.Clone(known)}
	slices.Reverse(t.points)
	t.thin = len(t.points)
	return t
}

// Newest is the end of the trail, the origin where it is empty.
func (t *Trail) Newest() model.Point {
	if len(t.points) == 0 {
		return model.Point{}
	}
	return t.points[len(t.points)-1]
}

// Points are those of the trail, oldest first; they are the trail's own.
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

// parting is how many points, from the oldest on, shared holds of: it has to hold of a prefix of them. It asks as often
// as the logarithm of the points it does not hold of.
func (t *Trail) parting(shared func(model.Point) (bool, error)) (int, error) {
	low, high := 0, len(t.points) // shared of points[:low], not of points[high:]
	for step := 1; high > 0; step *= 2 {
		at := max(high-step, 0)
		ok, err := shared(t.points[at])
		if err != nil {
			return 0, err
		}
		if ok {
			low = at + 1
			break
		}
		high = at
	}
	for low < high {
		at := (low + high) / 2
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
