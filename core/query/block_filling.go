package query

import (
	"context"

	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
)

// TxFilling is the part of a block that a transaction takes.
type TxFilling struct {
	Size  int64  // virtual bytes, or bytes on chains without weight
	Fee   uint64 // in the chain's smallest unit
	Paid  bool   // the fee is known; not of a coinbase
	Value string // of all outputs
}

// BlockFilling returns the sums of the block at a height, and its transactions in the order of the block. Like
// [OrderBySize], it needs raw transactions: see [Queries.TxOrders]. If they cannot be read from the node, or from its
// files, there are no transactions.
func (qs Queries) BlockFilling(ctx context.Context, height uint32) (a *BlockTotalsAnswer, txs []TxFilling, err error) {
	err = qs.From(ctx, func(q *Query) error {
		h := model.HeightPk(height)
		row, err := schema.BlockAt(q.R, h)
		if err != nil {
			return err
		}
		sizes, overhead, err := q.txSizes(h)
		known := err == nil
		if !known && !pointers.Unavailable(err) {
			return err
		}
		sums, err := q.BlockSums(h, q.Pass)
		if err != nil {
			return err
		}
		a = q.totalsOf(h, &row, sums)
		if _, weighs := q.Chain.(model.TxWeigher); weighs && known {
			a.Weight = 4*row.Size + overhead
		}
		if !known {
			return nil
		}
		txs = make([]TxFilling, min(len(sizes), len(sums)))
		for i := range txs {
			txs[i] = TxFilling{Size: sizes[i], Value: sums[i].Out.String()}
			if fee := sums[i].Fee; fee != nil && fee.IsUint64() {
				txs[i].Fee, txs[i].Paid = fee.Uint64(), true
			}
		}
		return nil
	})
	return a, txs, err
}
