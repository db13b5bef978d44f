package epochs

import (
	"iter"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// Blocks answers the hashes of the blocks of an epoch.
func Blocks(q *exchange.Request) error {
	from, to, err := q.EpochOfPath()
	if err != nil {
		return err
	}
	p, err := q.Paging()
	if err != nil {
		return err
	}
	first, count := int(from), int(to-from)
	skip := (p.Page - 1) * p.Count
	hashes := []string{}
	for i := skip; i < min(skip+p.Count, count); i++ {
		at := first + i
		if p.Descending {
			at = first + count - 1 - i
		}
		row, err := q.Q.BlockRow(model.HeightPk(at))
		if err != nil {
			return err
		}
		hashes = append(hashes, row.Hash.String())
	}
	q.Answer = hashes
	return nil
}

// BlocksOfPool answers the hashes of the blocks of an epoch that a pool made. It reads the headers of the epoch.
func BlocksOfPool(q *exchange.Request) error {
	from, to, err := q.EpochOfPath()
	if err != nil {
		return err
	}
	pool := q.Args[1]
	if !address.IsPool(pool) {
		return exchange.ErrPool
	}
	p, err := q.Paging()
	if err != nil {
		return err
	}
	if err := q.Expensive(); err != nil {
		return err
	}
	found, err := exchange.PageOf(q, p, func(after *model.HeightPk) iter.Seq2[model.HeightPk, error] {
		return func(yield func(model.HeightPk, error) bool) {
			at, step, end := int64(from), int64(1), int64(to)
			if p.Descending {
				at, step, end = int64(to)-1, -1, int64(from)-1
			}
			if after != nil {
				at = int64(*after) + step
			}
			for ; at != end; at += step {
				row, err := q.Block(model.HeightPk(at))
				if err == nil && q.Leader(row) != pool {
					err = q.Ctx.Err()
					if err == nil {
						continue
					}
				}
				if !yield(model.HeightPk(at), err) {
					return
				}
			}
		}
	})
	if err != nil {
		return err
	}
	rows, err := q.Q.BlockRows(found)
	hashes := make([]string, len(rows))
	for i := range rows {
		hashes[i] = rows[i].Hash.String()
	}
	q.Answer = hashes
	return err
}
