package query

import (
	"context"
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

type blockAt struct {
	height model.HeightPk
	schema.BlockRow
}

// Blocks returns a page of the blocks in the range.
func (qs Queries) Blocks(ctx context.Context, r Range, p Page) (*BlocksAnswer, error) {
	return read(ctx, qs, func(q *Query) (*BlocksAnswer, error) {
		l, err := q.list(p, "blocks", r.String())
		if err != nil {
			return nil, err
		}
		s, err := q.Span(r)
		if err != nil {
			return nil, err
		}
		start, err := l.start(model.PkSize)
		if err != nil {
			return nil, err
		}
		if start != nil {
			pk, err := model.ParseUtxoPk(start)
			if err != nil {
				return nil, err
			}
			if !p.Descending {
				pk = pk.Height().Last()
			}
			s = s.After(pk, p.Descending)
		}
		a := &BlocksAnswer{Chain: q.Chain.Name(), Blocks: []BlockSummaryAnswer{}}
		if s.Empty() {
			return a, nil
		}
		from, to := s.First.Height().AppendTo(nil), append(s.Last.Height().AppendTo(nil), 0)
		rows := schema.Rows(q.R, schema.FamilyBlock, from, to, p.Descending, func(key, value []byte) (b blockAt, err error) {
			if b.height, err = model.ParseHeightPk(key); err == nil {
				b.BlockRow, err = schema.ParseBlockRow(value)
			}
			return b, err
		})
		blocks, next, err := page(l, rows, func(b *blockAt) position { return at(model.UtxoPk(b.height.First())) })
		for _, b := range blocks {
			answer := BlockSummaryAnswer{uint32(b.height), q.Chain.FormatHash(b.Hash), b.Time, b.Size, b.TxCount}
			a.Blocks = append(a.Blocks, answer)
		}
		a.Next = next
		return a, err
	})
}

// PointAt returns the block at height h, or a NotFound error (above_tip).
func (qs Queries) PointAt(ctx context.Context, h model.HeightPk) (model.Point, error) {
	return read(ctx, qs, func(q *Query) (model.Point, error) { return schema.PointAt(q.R, h) })
}

// PointOf returns a block by hash, height or "tip", as [Queries.Block] does.
func (qs Queries) PointOf(ctx context.Context, ref string) (model.Point, error) {
	return read(ctx, qs, func(q *Query) (model.Point, error) {
		h, err := q.height(ref)
		if err != nil {
			return model.Point{}, err
		}
		return schema.PointAt(q.R, h)
	})
}

// PointOfTx returns the block of a transaction. If its hash occurs more than once, that of the newest.
func (qs Queries) PointOfTx(ctx context.Context, hash string) (model.Point, error) {
	return read(ctx, qs, func(q *Query) (model.Point, error) {
		pk, err := q.tx(hash)
		if err != nil || q.IsGenesis(pk) {
			return model.Point{}, err
		}
		return schema.PointAt(q.R, pk.Height())
	})
}

// Ancestors returns points of the chain, newest first: p, then dense consecutive blocks below it, then blocks at
// doubling distances. It takes one round trip.
func (qs Queries) Ancestors(ctx context.Context, p model.Point, dense int) ([]model.Point, error) {
	return read(ctx, qs, func(q *Query) ([]model.Point, error) {
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
	})
}

// confirmations returns the number of blocks from height h up to the tip.
func (q *Query) confirmations(h model.HeightPk) uint32 { return uint32(q.Tip.Height-h) + 1 }
