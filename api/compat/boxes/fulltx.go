package boxes

import (
	"iter"

	"birthmark/model"
)

// FullTx is a transaction of the chain with all boxes that it names.
type FullTx struct {
	*Tx
	Pk     model.TxPk
	Block  *Block
	Number uint64 // see [View.TxNumber]

	Inputs, Outputs []Box
	Data            []*Box // nil for an unknown box
}

// FullTxs returns transactions of the chain, with a constant number of batched reads.
func (v *View) FullTxs(pks []model.TxPk) ([]FullTx, error) {
	txs, err := v.Txs(pks)
	if err != nil {
		return nil, err
	}
	full := make([]FullTx, len(pks))
	spends, err := v.Q.SpendsOfEach(pks)
	if err != nil {
		return nil, err
	}
	var spent, created []model.UtxoPk
	ends := make([][2]int, len(pks))
	for i, pk := range pks {
		full[i] = FullTx{Tx: txs[i], Pk: pk}
		if full[i].Block, err = v.Block(pk.Height()); err != nil {
			return nil, err
		}
		if full[i].Number, err = v.TxNumber(pk); err != nil {
			return nil, err
		}
		spent = append(spent, spends[i]...)
		for n := range txs[i].Outputs {
			out, err := pk.Utxo(n)
			if err != nil {
				return nil, err
			}
			created = append(created, out)
		}
		ends[i] = [2]int{len(spent), len(created)}
		if len(txs[i].DataInputs) > 0 {
			if full[i].Data, err = v.Inputs(txs[i].DataInputs); err != nil {
				return nil, err
			}
		}
	}
	inputs, err := v.UnspentBoxes(spent)
	if err != nil {
		return nil, err
	}
	outputs, err := v.AllBoxes(created)
	if err != nil {
		return nil, err
	}
	from := [2]int{}
	for i, end := range ends {
		full[i].Inputs, full[i].Outputs = inputs[from[0]:end[0]], outputs[from[1]:end[1]]
		from = end
	}
	return full, nil
}

// txRows is the number of transactions that are read together.
const txRows = 20

// FullTxBatches yields transactions of the chain.
func (v *View) FullTxBatches(pks []model.TxPk) iter.Seq2[[]FullTx, error] {
	return batches(pks, txRows, v.FullTxs)
}
