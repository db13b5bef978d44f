package query

import (
	"context"

	"birthmark/core/schema"
	"birthmark/model"
)

// Blocks returns a page of the blocks in the range.
func (ask Queries) Blocks(ctx context.Context, r Range, p Page) (a *BlocksAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		limit, err := p.limit()
		if err != nil {
			return err
		}
		s, err := q.Span(r)
		if err != nil {
			return err
		}
		a = &BlocksAnswer{Chain: q.Chain.Name(), Blocks: []BlockSummaryAnswer{}}
		if s.Empty() {
			return nil
		}
		list := cursorScope("blocks", r.String(), order(p.Descending))
		position, err := q.after(p, list, model.PkSize)
		if err != nil {
			return err
		}
		first, last := s.First.Height(), s.Last.Height()
		if position != nil {
			pk, err := model.ParseUtxoPk(position)
			if err != nil {
				return err
			}
			switch h := pk.Height(); {
			case !p.Descending:
				first = h + 1
			case h == 0:
				return nil
			default:
				last = h - 1
			}
		}
		from, to := first.AppendTo(nil), append(last.AppendTo(nil), 0)
		at := first
		for kv, err := range q.R.Scan(schema.FamilyBlock, from, to, p.Descending) {
			if err != nil {
				return err
			}
			if len(a.Blocks) == limit {
				a.Next, err = q.next(list, at, at.First().AppendTo(nil))
				return err
			}
			if at, err = model.ParseHeightPk(kv.Key); err != nil {
				return err
			}
			row, err := schema.ParseBlockRow(kv.Value)
			if err != nil {
				return err
			}
			a.Blocks = append(a.Blocks, BlockSummaryAnswer{uint32(at), q.Chain.FormatHash(row.Hash), row.Time, row.Size, row.TxCount})
		}
		return nil
	})
	return a, err
}

// PointAt returns the block at height h, or a NotFound error (above_tip).
func (ask Queries) PointAt(ctx context.Context, h model.HeightPk) (p model.Point, err error) {
	err = ask.From(ctx, func(q *Query) error {
		p, err = schema.PointAt(q.R, h)
		return err
	})
	return p, err
}

// PointOf returns a block by hash, height or "tip", as [Queries.Block] does.
func (ask Queries) PointOf(ctx context.Context, ref string) (p model.Point, err error) {
	err = ask.From(ctx, func(q *Query) error {
		h, err := q.height(ref)
		if err != nil {
			return err
		}
		p, err = schema.PointAt(q.R, h)
		return err
	})
	return p, err
}

// Ancestors returns points of the chain, newest first: p, then dense consecutive blocks below it, then blocks at
// doubling distances.
func (ask Queries) Ancestors(ctx context.Context, p model.Point, dense int) ([]model.Point, error) {
	points := []model.Point{p}
	step := model.HeightPk(1)
	for h := p.Height; h >= step; {
		h -= step
		p, err := ask.PointAt(ctx, h)
		if kind, _ := model.KindOf(err); kind == model.NotFound {
			break // h is below the first block
		}
		if err != nil {
			return nil, err
		}
		if points = append(points, p); len(points) > dense {
			step *= 2
		}
	}
	return points, nil
}
