package exchange

import (
	"iter"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/chains/cardano"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/schema"
	"birthmark/model"
)

// Epochs is a chain with epochs.
type Epochs interface {
	// EpochSlots returns the first slot of an epoch, and the number of its slots; ok is false if they are unknown.
	EpochSlots(epoch uint64) (first, slots uint64, ok bool)
	// SlotTime returns when a slot began, in Unix seconds; ok is false if it is unknown.
	SlotTime(slot uint64) (unix int64, ok bool)
}

// Block is a block of the database with its header.
type Block struct {
	Height model.HeightPk
	schema.BlockRow
	Parsed *ledger.Header
}

// Block returns the block at a height, which must exist.
func (q *Request) Block(h model.HeightPk) (*Block, error) {
	row, err := q.Q.BlockRow(h)
	if err != nil {
		return nil, err
	}
	header, err := q.Chain.Model.Header(row.Header)
	if err != nil {
		return nil, err
	}
	return &Block{h, row, header.(*ledger.Header)}, nil
}

// Leader returns the pool that made a block, or the name that stands for a genesis key.
func (q *Request) Leader(row *Block) string {
	return contents.Leader(q.Chain.Model.Network(), row.Parsed)
}

// EpochSlots returns the first slot of an epoch, and the number of its slots.
func (q *Request) EpochSlots(epoch uint64) (first, slots uint64, err error) {
	if chain, ok := q.Chain.Model.(Epochs); ok {
		if first, slots, known := chain.EpochSlots(epoch); known {
			return first, slots, nil
		}
	}
	return 0, 0, NotImplemented("the epochs of a network are known only with its genesis files")
}

// EpochOfPath returns the first block of the epoch of the path and the first one after it. The epoch must have a block.
func (q *Request) EpochOfPath() (from, to model.HeightPk, err error) {
	number, err := ReadNumber(q.Args[0])
	if err != nil {
		return 0, 0, err
	}
	first, slots, err := q.EpochSlots(number)
	if err != nil {
		return 0, 0, err
	}
	if q.Q.Tip.IsOrigin() {
		return 0, 0, ErrNotFound
	}
	if from, err = q.FirstFrom(first); err == nil {
		to, err = q.FirstFrom(first + slots)
	}
	if err == nil && from >= to {
		err = ErrNotFound
	}
	return from, to, err
}

// PoolIndex returns the index of the blocks of pools.
func (q *Request) PoolIndex() (*schema.Index, error) {
	if x := q.Q.PerBlock(cardano.PoolIndex); x != nil {
		return x, nil
	}
	return nil, needsIndex(cardano.PoolIndex)
}

// BlocksOfPool yields the blocks that a pool made, from <= height < to. Without the index of pools it reads the headers of
// all blocks in between.
func (q *Request) BlocksOfPool(pool string, from, to model.HeightPk, descending bool) iter.Seq2[model.HeightPk, error] {
	heights := between(from, to, descending)
	if x, err := q.PoolIndex(); err == nil {
		hash, err := address.ParsePool(pool)
		if err != nil {
			return func(yield func(model.HeightPk, error) bool) { yield(0, ErrPool) }
		}
		heights = x.BlocksWith(q.Q.R, hash, from, to, descending)
	}
	return func(yield func(model.HeightPk, error) bool) {
		for h, err := range heights {
			if err == nil {
				err = q.Ctx.Err()
			}
			var row *Block
			if err == nil {
				row, err = q.Block(h)
			}
			if err == nil && q.Leader(row) != pool {
				continue // also if a genesis delegate has the key of a pool
			}
			if !yield(h, err) || err != nil {
				return
			}
		}
	}
}

// between yields all heights from <= height < to.
func between(from, to model.HeightPk, descending bool) iter.Seq2[model.HeightPk, error] {
	return func(yield func(model.HeightPk, error) bool) {
		for i := range to - min(from, to) {
			h := from + i
			if descending {
				h = to - 1 - i
			}
			if !yield(h, nil) {
				return
			}
		}
	}
}

// AnswerBlocksOfPool answers a page of the hashes of the blocks that a pool made, from <= height < to.
func (q *Request) AnswerBlocksOfPool(pool string, from, to model.HeightPk) error {
	p := q.Page
	found, err := PageOf(q, p, func(after *model.HeightPk) iter.Seq2[model.HeightPk, error] {
		first, end := from, to
		if after != nil && p.Descending {
			end = *after
		} else if after != nil {
			first = *after + 1
		}
		return q.BlocksOfPool(pool, first, end, p.Descending)
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
