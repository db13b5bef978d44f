package query

import (
	"context"
	"math/big"

	"birthmark/core/schema"
	"birthmark/model"
)

// BlockTotals returns the sums of a block. It reads the block's outputs and the outputs that it spends; for the weight,
// it also reads the raw transactions, if they are stored or in the files of a node.
func (qs Queries) BlockTotals(ctx context.Context, ref string) (*BlockTotalsAnswer, error) {
	return read(ctx, qs, func(q *Query) (*BlockTotalsAnswer, error) {
		h, err := q.height(ref)
		if err != nil {
			return nil, err
		}
		row, err := schema.BlockAt(q.R, h)
		if err != nil {
			return nil, err
		}
		a := &BlockTotalsAnswer{
			Chain: q.Chain.Name(), Height: uint32(h), Hash: q.Chain.FormatHash(row.Hash), TxCount: row.TxCount, Size: row.Size,
		}
		if a.Weight, _, err = q.BlockWeight(h); err != nil {
			return nil, err
		}
		return a, q.sumBlock(a, h)
	})
}

// sumBlock adds the inputs, the outputs and the fees of the block at h.
func (q *Query) sumBlock(a *BlockTotalsAnswer, h model.HeightPk) error {
	txs, err := q.BlockSums(h, q.Pass)
	if err != nil {
		return err
	}
	in, out, fees, known := new(big.Int), new(big.Int), new(big.Int), true
	for i := range txs {
		t := &txs[i]
		a.Inputs, a.Outputs = a.Inputs+t.Inputs, a.Outputs+t.Outputs
		in.Add(in, &t.In)
		out.Add(out, &t.Out)
		if t.Fee != nil {
			fees.Add(fees, t.Fee)
		}
		known = known && !t.FeeUnknown
	}
	a.InputValue, a.OutputValue = in.String(), out.String()
	if known {
		a.Fees = fees.String()
	}
	return nil
}
