package query

import (
	"context"
	"math/big"

	"birthmark/core/query/pointers"
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
		weight, _, err := q.BlockWeight(h)
		if err != nil {
			return nil, err
		}
		sums, err := q.BlockSums(h, q.Pass)
		if err != nil {
			return nil, err
		}
		a := q.totalsOf(h, &row, sums)
		a.Weight = weight
		return a, nil
	})
}

// totalsOf returns the sums of the block at h, without its weight.
func (q *Query) totalsOf(h model.HeightPk, row *schema.BlockRow, txs []pointers.TxSums) *BlockTotalsAnswer {
	a := &BlockTotalsAnswer{
		Chain: q.Chain.Name(), Height: uint32(h), Hash: q.Chain.FormatHash(row.Hash), TxCount: row.TxCount, Size: row.Size,
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
	return a
}
