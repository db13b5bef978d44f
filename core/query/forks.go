package query

import (
	"context"
	"encoding/binary"

	"birthmark/core/schema"
	"birthmark/model"
)

// Forks returns a page of the last 1,000 orphaned blocks: newest reorganization first, each from its lowest block up
// to the old tip. [Page.Descending] is ignored.
func (ask Queries) Forks(ctx context.Context, p Page) (a *ForksAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		limit, err := p.limit()
		if err != nil {
			return err
		}
		list := cursorScope("forks")
		before := uint64(1<<64 - 1)
		if c, err := q.cursor(p, list, model.PkSize); err != nil {
			return err
		} else if c != nil {
			before = binary.BigEndian.Uint64(c.position)
		}
		a = &ForksAnswer{Chain: q.Chain.Name(), Network: q.Chain.Network(), Forks: []LostBlockAnswer{}}
		later := map[model.HeightPk]model.Hash{} // the block orphaned next at each height
		var heights []model.HeightPk             // of a.Forks
		last := uint64(0)
		for row, err := range schema.Rows(q.R, schema.FamilyOrphanBlock, nil, nil, true, schema.ParseOrphanRow) {
			if err != nil {
				return err
			}
			if row.Number < before {
				if len(a.Forks) == limit {
					c := newCursor(list, [8]byte{}, schema.OrphanKey(last))
					s := c.String()
					a.Next = &s
					break
				}
				lost := LostBlockAnswer{
					Height: uint32(row.Height), Hash: q.Chain.FormatHash(row.Hash), Time: row.Time, Depth: row.Depth, LostAt: row.OrphanedAt,
				}
				if by, ok := later[row.Height]; ok {
					s := q.Chain.FormatHash(by)
					lost.ReplacedBy = &s
				}
				a.Forks, heights, last = append(a.Forks, lost), append(heights, row.Height), row.Number
			}
			later[row.Height] = row.Hash
		}
		return q.replaced(a.Forks, heights)
	})
	return a, err
}

// replaced sets ReplacedBy to the block of the chain for blocks without a later orphan at their height. It stays nil
// above the tip.
func (q *Query) replaced(lost []LostBlockAnswer, heights []model.HeightPk) error {
	blocks, err := q.R.GetMany(schema.FamilyBlock, schema.Keys(heights))
	if err != nil {
		return err
	}
	for i, b := range blocks {
		if b == nil || lost[i].ReplacedBy != nil {
			continue
		}
		row, err := schema.ParseBlockRow(b)
		if err != nil {
			return err
		}
		s := q.Chain.FormatHash(row.Hash)
		lost[i].ReplacedBy = &s
	}
	return nil
}
