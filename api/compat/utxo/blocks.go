package utxo

import (
	"slices"
	"sort"

	"birthmark/chains/cardano/ledger"
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
	if q.points == nil || len(q.points) > maxPoints {
		q.points = map[model.HeightPk]Point{}
	}
	missing := q.heights[:0]
	for _, h := range heights {
		if _, known := q.points[h]; !known && !slices.Contains(missing, h) {
			missing = append(missing, h)
		}
	}
	q.heights = missing
	at := slices.Clone(missing)
	for i, h := range at {
		if h > 0 {
			continue
		}
		first, err := q.Q.FirstBlock() // outputs of the genesis have height 0, where there may be no block
		if err != nil {
			return err
		}
		at[i] = first
	}
	rows, err := q.Q.BlockRows(at)
	if err != nil {
		return err
	}
	for i, h := range missing {
		header, err := q.Q.Chain.Header(rows[i].Header)
		if err != nil {
			return err
		}
		q.points[h] = Point{header.(*ledger.Header).Slot, rows[i].Hash, rows[i].Time}
	}
	return nil
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
