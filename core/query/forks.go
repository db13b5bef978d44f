package query

import (
	"context"
	"encoding/binary"

	"birthmark/core/schema"
	"birthmark/model"
)

// orphan is an orphaned block and its number.
type orphan struct {
	LostBlockAnswer
	number uint64
}

// Forks returns a page of the last 1,000 orphaned blocks: newest reorganization first, each from its lowest block up
// to the old tip. [Page.Descending] is ignored.
func (qs Queries) Forks(ctx context.Context, p Page) (*ForksAnswer, error) {
	return read(ctx, qs, func(q *Query) (*ForksAnswer, error) {
		p.Descending = true
		l, err := q.list(p, "forks")
		if err != nil {
			return nil, err
		}
		before := uint64(1<<64 - 1)
		if c, err := l.cursor(model.PkSize); err != nil {
			return nil, err
		} else if c != nil {
			before = binary.BigEndian.Uint64(c.position)
		}
		later := map[model.HeightPk]string{} // the block orphaned next at each height
		rows := func(yield func(orphan, error) bool) {
			for row, err := range schema.Rows(q.R, schema.FamilyOrphanBlock, nil, nil, true, schema.ParseOrphanRow) {
				a := orphan{LostBlockAnswer{
					Height: uint32(row.Height), Hash: q.Chain.FormatHash(row.Hash), Time: row.Time, Depth: row.Depth,
					LostAt: row.OrphanedAt,
				}, row.Number}
				if by, ok := later[row.Height]; ok {
					a.ReplacedBy = &by
				}
				later[row.Height] = a.Hash
				if (err != nil || row.Number < before) && !yield(a, err) {
					return
				}
			}
		}
		a := &ForksAnswer{Chain: q.Chain.Name(), Network: q.Chain.Network(), Forks: []LostBlockAnswer{}}
		found, next, err := page(l, rows, func(o *orphan) position {
			return position{0, schema.OrphanKey(o.number)} // orphaned blocks are never rolled back
		})
		if err != nil {
			return nil, err
		}
		for _, o := range found {
			a.Forks = append(a.Forks, o.LostBlockAnswer)
		}
		a.Next = next
		return a, q.replaced(a.Forks)
	})
}

// replaced sets ReplacedBy to the block of the chain for blocks without a later orphan at their height. It stays nil
// above the tip.
func (q *Query) replaced(orphans []LostBlockAnswer) error {
	heights := make([]model.HeightPk, len(orphans))
	for i := range orphans {
		heights[i] = model.HeightPk(orphans[i].Height)
	}
	blocks, err := q.R.GetMany(schema.FamilyBlock, schema.Keys(heights))
	if err != nil {
		return err
	}
	for i, b := range blocks {
		if b == nil || orphans[i].ReplacedBy != nil {
			continue
		}
		row, err := schema.ParseBlockRow(b)
		if err != nil {
			return err
		}
		s := q.Chain.FormatHash(row.Hash)
		orphans[i].ReplacedBy = &s
	}
	return nil
}
