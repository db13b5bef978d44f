package epochs

import (
	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/model"
)

// Blocks answers the hashes of the blocks of an epoch.
func Blocks(q *exchange.Request) error {
	from, to, err := q.EpochOfPath()
	if err != nil {
		return err
	}
	p := q.Page
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

// BlocksOfPool answers the hashes of the blocks of an epoch that a pool made.
func BlocksOfPool(q *exchange.Request) error {
	from, to, err := q.EpochOfPath()
	if err != nil {
		return err
	}
	if _, err := q.PoolIndex(); err != nil { // all headers of the epoch are read
		if err := q.Expensive(); err != nil {
			return err
		}
	}
	return q.AnswerBlocksOfPool(q.Args[1], from, to)
}
