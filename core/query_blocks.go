package core

import (
	"context"

	"birthmark/model"
)

// Blocks is a page of the blocks of the chain, of those that stand in the range.
func (ask Queries) Blocks(ctx context.Context, r Range, p Page) (a *BlocksAnswer, err error) {
	err = ask.from(ctx, func(q *query) error {
		limit, err := p.limit()
		if err != nil {
			return err
		}
		s, err := q.span(r)
		if err != nil {
			return err
		}
		a = &BlocksAnswer{Chain: q.chain.Name(), Blocks: []BlockSummaryAnswer{}}
		if s.empty() {
			return nil
		}
		list := question("blocks", r.String(), order(p.Descending))
		position, err := q.after(p, list, model.PkSize)
		if err != nil {
			return err
		}
		first, last := s.first.Height(), s.last.Height()
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
		for kv, err := range q.r.Scan(familyBlock, from, to, p.Descending) {
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
			row, err := parseBlockRow(kv.Value)
			if err != nil {
				return err
			}
			a.Blocks = append(a.Blocks, BlockSummaryAnswer{uint32(at), q.chain.FormatHash(row.hash), row.time, row.size, row.txCount})
		}
		return nil
	})
	return a, err
}
