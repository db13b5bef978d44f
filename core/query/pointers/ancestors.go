package pointers

import (
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Ancestors returns points of the chain, newest first: p, then dense consecutive blocks below it, then blocks at
// doubling distances. It takes one round trip.
func (q *Reader) Ancestors(p model.Point, dense int) ([]model.Point, error) {
	points := []model.Point{p}
	first := p.Height - min(p.Height, model.HeightPk(dense)) // of the consecutive blocks
	var sparse []model.HeightPk
	for h, step := first, model.HeightPk(2); h >= step; step *= 2 {
		h -= step
		sparse = append(sparse, h)
	}
	l := q.NewLoad()
	add := func(h model.HeightPk, b []byte) error {
		row, err := schema.ParseBlockRow(b)
		if err != nil {
			return fmt.Errorf("block at height %d: %w", h, err)
		}
		points = append(points, row.Point(h))
		return nil
	}
	consecutive := storage.Range{From: first.AppendTo(nil), To: p.Height.AppendTo(nil)}
	l.Ranges(schema.FamilyBlock, []storage.Range{consecutive}, func(rows [][]storage.KV) error {
		for _, kv := range slices.Backward(rows[0]) {
			h, err := model.ParseHeightPk(kv.Key)
			if err != nil {
				return err
			}
			if err := add(h, kv.Value); err != nil {
				return err
			}
		}
		return nil
	})
	l.Found(schema.FamilyBlock, schema.Keys(sparse), func(rows [][]byte) error {
		for i, h := range sparse {
			if rows[i] == nil {
				return nil // h is below the first block
			}
			if err := add(h, rows[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return points, l.Read()
}
