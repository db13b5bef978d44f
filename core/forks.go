package core

import (
	"context"
	"time"

	"birthmark/model"
	"birthmark/storage"
)

// maxLost is how many lost blocks are remembered.
const maxLost = 1000

// fork is a rollback on behalf of a source. What it takes off the chain is remembered, in the write that takes it off;
// what a user removes on purpose is not.
//
// Blocks are lost from the tip down, and that is the order of lost_pk: read from the newest on, the forks stand newest
// first and each of them from where it begins up to what was the tip.
type fork struct {
	began time.Time
	from  model.Point // the tip before
	to    model.Point // where the blocks lost so far end
	depth int         // how many they are
}

// remember notes lost blocks, tip first, and forgets those beyond the last maxLost.
func (f *fork) remember(r storage.Reader, b storage.Batch, lost []lostRow) error {
	last, before, err := lastLost(r)
	if err != nil {
		return err
	}
	depth := 0
	if len(lost) > 0 && before.height == lost[0].height+1 {
		// Nothing was written since: this is the same fork, in its next write or in a process after the one that
		// was stopped in the middle.
		depth = before.depth
	}
	newest := last + uint64(len(lost))
	for i := range lost {
		depth++
		n := last + 1 + uint64(i)
		if n+maxLost <= newest {
			continue
		}
		lost[i].depth, lost[i].lost = depth, f.began.Unix()
		b.Put(familyLostBlock, lostKey(n), appendLostRow(nil, &lost[i]))
	}
	oldest := uint64(1)
	if last > maxLost {
		oldest = last - maxLost + 1
	}
	for n := oldest; n <= last && n+maxLost <= newest; n++ {
		b.Delete(familyLostBlock, lostKey(n))
	}
	return nil
}

// lastLost is the newest row and its number, 0 where nothing was lost yet.
func lastLost(r storage.Reader) (n uint64, row lostRow, err error) {
	for kv, err := range r.Scan(familyLostBlock, nil, nil, true) {
		if err != nil {
			return 0, row, err
		}
		return parseLost(kv)
	}
	return 0, row, nil
}

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

func parseLost(kv storage.KV) (n uint64, row lostRow, err error) {
	if n, err = parseLostKey(kv.Key); err == nil {
		row, err = parseLostRow(kv.Value)
	}
	return n, row, err
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
