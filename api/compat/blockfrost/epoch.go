package blockfrost

import (
	"iter"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// epochOfPath returns the first block of the epoch of the path and the first one after it. The epoch must have a block.
func (q *request) epochOfPath() (from, to model.HeightPk, err error) {
	number, err := readNumber(q.args[0], errEpoch)
	if err != nil {
		return 0, 0, err
	}
	first, slots, err := q.epochSlots(number)
	if err != nil {
		return 0, 0, err
	}
	if q.Q.Tip.IsOrigin() {
		return 0, 0, errNotFound
	}
	if from, err = q.FirstFrom(first); err == nil {
		to, err = q.FirstFrom(first + slots)
	}
	if err == nil && from >= to {
		err = errNotFound
	}
	return from, to, err
}

// epochBlocks answers the hashes of the blocks of an epoch.
func epochBlocks(q *request) error {
	from, to, err := q.epochOfPath()
	if err != nil {
		return err
	}
	p, err := q.paging()
	if err != nil {
		return err
	}
	first, count := int(from), int(to-from)
	skip := (p.page - 1) * p.count
	hashes := []string{}
	for i := skip; i < min(skip+p.count, count); i++ {
		at := first + i
		if p.descending {
			at = first + count - 1 - i
		}
		row, err := q.Q.BlockRow(model.HeightPk(at))
		if err != nil {
			return err
		}
		hashes = append(hashes, row.Hash.String())
	}
	q.answer = hashes
	return nil
}

// epochBlocksOfPool answers the hashes of the blocks of an epoch that a pool made. It reads the headers of the epoch.
func epochBlocksOfPool(q *request) error {
	from, to, err := q.epochOfPath()
	if err != nil {
		return err
	}
	pool := q.args[1]
	if !address.IsPool(pool) {
		return errPool
	}
	p, err := q.paging()
	if err != nil {
		return err
	}
	if err := q.expensive(); err != nil {
		return err
	}
	found, err := pageOf(q, p, func(after *model.HeightPk) iter.Seq2[model.HeightPk, error] {
		return func(yield func(model.HeightPk, error) bool) {
			at, step, end := int64(from), int64(1), int64(to)
			if p.descending {
				at, step, end = int64(to)-1, -1, int64(from)-1
			}
			if after != nil {
				at = int64(*after) + step
			}
			for ; at != end; at += step {
				row, err := q.blockRow(model.HeightPk(at))
				if err == nil && q.leader(row) != pool {
					err = q.ctx.Err()
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
	q.answer = hashes
	return err
}
