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

// txSums are the values of the inputs and outputs of a transaction.
type txSums struct {
	stated  model.Fee
	in, out big.Int
	spends  bool
}

// sumBlock adds the inputs, the outputs and the fees of the block at h.
func (q *Query) sumBlock(a *BlockTotalsAnswer, h model.HeightPk) (err error) {
	from, to := h.First(), (h + 1).First()
	if h == 0 {
		if from, err = model.NewTxPk(0, int(q.Totals.GenesisTxs)); err != nil {
			return err
		}
	}
	txs := map[model.TxPk]*txSums{}
	for kv, err := range q.R.Scan(schema.FamilyTxHash, from.AppendTo(nil), to.AppendTo(nil), false) {
		if err != nil {
			return err
		}
		pk, err := model.ParseTxPk(kv.Key)
		if err != nil {
			return err
		}
		_, fee, err := schema.ParseTxHashRow(kv.Value)
		if err != nil {
			return err
		}
		txs[pk] = &txSums{stated: fee}
	}
	if err := q.addOutputs(a, txs, from, to); err != nil {
		return err
	}
	if err := q.addInputs(a, txs, from, to); err != nil {
		return err
	}
	in, out, fees, known := new(big.Int), new(big.Int), new(big.Int), true
	for _, t := range txs {
		in.Add(in, &t.in)
		out.Add(out, &t.out)
		switch left := new(big.Int).Sub(&t.in, &t.out); {
		case t.stated.Stated:
			fees.Add(fees, left.SetUint64(t.stated.Amount))
		case !t.spends:
		case q.Traits.FeeOutputs || left.Sign() < 0:
			known = false
		default:
			fees.Add(fees, left)
		}
	}
	a.InputValue, a.OutputValue = in.String(), out.String()
	if known {
		a.Fees = fees.String()
	}
	return nil
}

// addOutputs adds the outputs of the transactions with from <= pointer < to.
func (q *Query) addOutputs(a *BlockTotalsAnswer, txs map[model.TxPk]*txSums, from, to model.TxPk) error {
	v := new(big.Int)
	for kv, err := range q.R.Scan(schema.FamilyUtxo, from.AppendTo(nil), to.AppendTo(nil), false) {
		if err != nil {
			return err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return err
		}
		amount, err := schema.ParseUtxoValue(kv.Value)
		if err != nil {
			return err
		}
		t := txs[pk.Tx()]
		t.out.Add(&t.out, v.SetUint64(amount))
		a.Outputs++
	}
	return q.Pass(a.Outputs)
}

// addInputs adds the inputs of the transactions with from <= pointer < to.
func (q *Query) addInputs(a *BlockTotalsAnswer, txs map[model.TxPk]*txSums, from, to model.TxPk) error {
	var spent []model.UtxoPk
	var by []*txSums
	rows := schema.Rows(q.R, schema.FamilySpentUtxo, from.AppendTo(nil), to.AppendTo(nil), false, schema.ParseSpendRow)
	for row, err := range rows {
		if err != nil {
			return err
		}
		spent, by = append(spent, row.Output), append(by, txs[row.Input.Tx()])
	}
	a.Inputs = len(spent)
	if err := q.Pass(a.Inputs); err != nil {
		return err
	}
	amounts, err := q.Amounts(spent)
	v := new(big.Int)
	for i, amount := range amounts {
		by[i].in.Add(&by[i].in, v.SetUint64(amount))
		by[i].spends = true
	}
	return err
}
