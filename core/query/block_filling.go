package query

import (
	"context"

	"birthmark/model"
)

// TxFilling is the part of a block that a transaction takes.
type TxFilling struct {
	Size  int64  // virtual bytes, or bytes on chains without weight
	Fee   uint64 // in the chain's smallest unit
	Paid  bool   // the fee is known; not of a coinbase
	Value string // of all outputs
}

// BlockFilling returns the transactions of the block at a height, in the order of the block. Like [OrderBySize], it needs
// raw transactions: see [Queries.TxOrders]. It reads what [Queries.BlockTotals] reads.
func (qs Queries) BlockFilling(ctx context.Context, height uint32) ([]TxFilling, error) {
	return read(ctx, qs, func(q *Query) ([]TxFilling, error) {
		sizes, err := q.txSizes(model.HeightPk(height))
		if err != nil {
			return nil, err
		}
		sums, err := q.BlockSums(model.HeightPk(height), q.Pass)
		if err != nil {
			return nil, err
		}
		txs := make([]TxFilling, min(len(sizes), len(sums)))
		for i := range txs {
			txs[i] = TxFilling{Size: sizes[i], Value: sums[i].Out.String()}
			if fee := sums[i].Fee; fee != nil && fee.IsUint64() {
				txs[i].Fee, txs[i].Paid = fee.Uint64(), true
			}
		}
		return txs, nil
	})
}
