package query

import (
	"context"

	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
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
		s, err := l.blockSpan(r)
		if err != nil {
			return nil, err
		}
		a := &BlocksAnswer{Chain: q.Chain.Name(), Blocks: []BlockSummaryAnswer{}}
		if s.Empty() {
			return a, nil
		}
		blocks, next, err := l.blocks(s)
		for _, b := range blocks {
			answer := BlockSummaryAnswer{uint32(b.height), q.Chain.FormatHash(b.Hash), b.Time, b.Size, b.TxCount}
			a.Blocks = append(a.Blocks, answer)
		}
		a.Next = next
		return a, err
	})
}

// blockSpan is span for a list whose cursors are the first pointers of blocks.
func (l *list) blockSpan(r Range) (setops.Span, error) {
	s, err := l.q.Span(r)
	if err != nil {
		return s, err
	}
	start, err := l.start(model.PkSize)
	if err != nil {
		return s, err
	}
	if start != nil {
		pk, err := model.ParseUtxoPk(start)
		if err != nil {
			return s, err
		}
		if !l.Descending {
			pk = l.q.LastPk(pk.Height())
		}
		s = s.After(pk, l.Descending)
	}
	s.First = max(s.First, model.UtxoPk(l.q.FirstPk(0)))
	return s, nil
}

// blocks returns the page of the blocks in a span.
func (l *list) blocks(s setops.Span) ([]blockAt, *string, error) {
	from, to := s.First.Height().AppendTo(nil), append(s.Last.Height().AppendTo(nil), 0)
	rows := schema.Rows(l.q.R, schema.FamilyBlock, from, to, l.Descending, func(key, value []byte) (b blockAt, err error) {
		if b.height, err = model.ParseHeightPk(key); err == nil {
			b.BlockRow, err = schema.ParseBlockRow(value)
		}
		return b, err
	})
	return page(l, rows, func(b *blockAt) position { return at(model.UtxoPk(l.q.FirstPk(b.height))) })
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
	return read(ctx, qs, func(q *Query) ([]model.Point, error) { return q.Reader.Ancestors(p, dense) })
}

// confirmations returns the number of blocks from height h up to the tip.
func (q *Query) confirmations(h model.HeightPk) uint32 { return uint32(q.Tip.Height-h) + 1 }
