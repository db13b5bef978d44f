package utxo

import (
	"slices"
	"sort"

	"birthmark/core/query/pointers"
	"birthmark/model"
)

// Point is a block as clients identify it.
type Point struct {
	Slot uint64
	Hash model.Hash
	Time int64 // unix seconds
}

// maxPoints is the number of points that are kept during a long answer.
const maxPoints = 1 << 14

// Point returns the point of the block at h, which must exist.
func (q *Reader) Point(h model.HeightPk) (Point, error) {
	err := q.ReadPoints(h)
	return q.points[h], err
}

// ReadPoints reads the points of blocks, which must exist, for [Reader.PointAt].
func (q *Reader) ReadPoints(heights ...model.HeightPk) error {
	l := q.Q.NewLoad()
	finish, err := q.loadPoints(l, heights)
	if err == nil {
		err = l.Read()
	}
	if err == nil {
		finish()
	}
	return err
}

// loadPoints adds the points of blocks to a load. finish must be called after it was read.
func (q *Reader) loadPoints(l *pointers.Load, heights []model.HeightPk) (finish func(), err error) {
	if q.points == nil || len(q.points) > maxPoints {
		q.points = map[model.HeightPk]Point{}
	}
	missing := append(q.heights[:0], heights...)
	slices.Sort(missing)
	missing = slices.DeleteFunc(slices.Compact(missing), func(h model.HeightPk) bool {
		_, known := q.points[h]
		return known
	})
	q.heights = missing
	at := missing
	if len(missing) > 0 && missing[0] == 0 { // outputs of the genesis have height 0, where there may be no block
		at = slices.Clone(missing)
		if at[0], err = q.Q.FirstBlock(); err != nil {
			return nil, err
		}
	}
	found := l.Points(at)
	return func() {
		for i, h := range missing {
			q.points[h] = Point{found[i].Slot, found[i].Hash, found[i].Time}
		}
	}, nil
}

// PointAt returns a point that [Reader.ReadPoints] read last.
func (q *Reader) PointAt(h model.HeightPk) Point { return q.points[h] }

// LastUntil returns the newest block whose slot is at most slot; ok is false if the chain has none.
func (q *Reader) LastUntil(slot uint64) (h model.HeightPk, ok bool, err error) {
	if q.Q.Tip.IsOrigin() {
		return 0, false, nil
	}
	first, err := q.Q.FirstBlock()
	if err != nil {
		return 0, false, err
	}
	// Slots increase with the height.
	n := sort.Search(int(q.Q.Tip.Height-first)+1, func(i int) bool {
		p, failed := q.Point(first + model.HeightPk(i))
		if failed != nil {
			err = failed
		}
		return p.Slot > slot
	})
	if err != nil || n == 0 {
		return 0, false, err
	}
	return first + model.HeightPk(n-1), true, nil
}

// FirstFrom returns the first block whose slot is at least slot. The chain must have a block; the result is above its
// tip if it has none of these slots.
func (q *Reader) FirstFrom(slot uint64) (model.HeightPk, error) {
	if slot > 0 {
		if before, ok, err := q.LastUntil(slot - 1); ok || err != nil {
			return before + 1, err
		}
	}
	return q.Q.FirstBlock()
}
