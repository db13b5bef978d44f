package exchange

import (
	"birthmark/api/compat/blockfrost/contents"
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
	number, err := ReadNumber(q.Args[0], ErrEpoch)
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
