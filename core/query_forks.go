package core

import (
	"birthmark/model"
	"context"
)

// Forks is a page of the blocks that forks took off the chain, of the last 1,000: newest fork first, each from its
// lowest block up to what was the tip. [Page.Descending] means nothing here.
func (ask Queries) Forks(ctx context.Context, p Page) (a *ForksAnswer, err error) {
	err = ask.from(ctx, func(q *query) error {
		limit, err := p.limit()
		if err != nil {
			return err
		}
		list := question("forks")
		before := uint64(1<<64 - 1)
		if c, err := q.cursor(p, list, model.PkSize); err != nil {
			return err
		} else if c != nil {
			if before, err = parseLostKey(c.position); err != nil {
				return err
			}
		}
		a = &ForksAnswer{Chain: q.chain.Name(), Network: q.chain.Network(), Forks: []LostBlockAnswer{}}
		later := map[model.HeightPk]model.Hash{} // the block that was lost next at a height
		var heights []model.HeightPk             // of a.Forks
		last := uint64(0)
		for kv, err := range q.r.Scan(familyLostBlock, nil, nil, true) {
			if err != nil {
				return err
			}
			n, row, err := parseLost(kv)
			if err != nil {
				return err
			}
			if n < before {
				if len(a.Forks) == limit {
					c := newCursor(list, [8]byte{}, lostKey(last))
					s := c.String()
					a.Next = &s
					break
				}
				lost := LostBlockAnswer{
					Height: uint32(row.height), Hash: q.chain.FormatHash(row.hash), Time: row.time, Depth: row.depth, LostAt: row.lost,
				}
				if by, ok := later[row.height]; ok {
					s := q.chain.FormatHash(by)
					lost.ReplacedBy = &s
				}
				a.Forks, heights, last = append(a.Forks, lost), append(heights, row.height), n
			}
			later[row.height] = row.hash
		}
		return q.replaced(a.Forks, heights)
	})
	return a, err
}

// replaced fills in the block of the chain where no later one was lost at a height. Where the chain ends below it
// there is none yet.
func (q *query) replaced(lost []LostBlockAnswer, heights []model.HeightPk) error {
	blocks, err := q.r.GetMany(familyBlock, keysOf(heights))
	if err != nil {
		return err
	}
	for i, b := range blocks {
		if b == nil || lost[i].ReplacedBy != nil {
			continue
		}
		row, err := parseBlockRow(b)
		if err != nil {
			return err
		}
		s := q.chain.FormatHash(row.hash)
		lost[i].ReplacedBy = &s
	}
	return nil
}
