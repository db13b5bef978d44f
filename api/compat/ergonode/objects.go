package ergonode

import (
	"birthmark/api/compat/boxes"
	"birthmark/model"
)

// addBoxes writes boxes of the chain with their place and spender: as a list, or the only one.
func (q *request) addBoxes(pks []model.UtxoPk, list, unspent bool) error {
	if list {
		q.Add("[")
	}
	if err := q.addBoxItems(pks, unspent); err != nil {
		return err
	}
	if list {
		q.Add("]")
	}
	return nil
}

// addBoxItems writes boxes of the chain in batches.
func (q *request) addBoxItems(pks []model.UtxoPk, unspent bool) error {
	for i := 0; i < len(pks); i += rows {
		batch := pks[i:min(i+rows, len(pks))]
		read := q.v.AllBoxes
		if unspent {
			read = q.v.UnspentBoxes
		}
		all, err := read(batch)
		if err != nil {
			return err
		}
		for n := range all {
			q.Comma(i + n)
			if err := q.addIndexed(&all[n]); err != nil {
				return err
			}
		}
		if err := q.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// addIndexed writes a box as the extra index has it.
func (q *request) addIndexed(b *boxes.Box) error {
	var number uint64
	if !b.Unconfirmed {
		n, err := q.v.BoxNumber(b.Pk)
		if err != nil {
			return err
		}
		number = n - q.v.GenesisBoxes()
	}
	q.Add(`{"globalIndex":`)
	q.Uint(number)
	q.Add(`,"inclusionHeight":`)
	q.Int(b.Height())
	q.Add(`,"address":"`, q.v.Address(b.Tx, b.Pos), `","spentTransactionId":`)
	if b.Spend == nil {
		q.Add(`null,"spendingProof":null,`)
	} else {
		q.Hex(b.Spend.Tx.ID[:])
		q.Add(`,"spendingProof":`)
		q.AddProof(b.Spend.Input())
		q.Add(",")
	}
	q.AddBox(b)
	q.Add("}")
	return nil
}

// txRows is the number of transactions that are read together.
const txRows = 20

// addTxs writes a list of transactions of the chain.
func (q *request) addTxs(pks []model.TxPk) error {
	q.Add("[")
	for i := 0; i < len(pks); i += txRows {
		txs, err := q.v.FullTxs(pks[i:min(i+txRows, len(pks))])
		if err != nil {
			return err
		}
		for n := range txs {
			q.Comma(i + n)
			if err := q.addFull(&txs[n]); err != nil {
				return err
			}
		}
		if err := q.Flush(); err != nil {
			return err
		}
	}
	q.Add("]")
	return nil
}

// addTx writes a transaction of the chain.
func (q *request) addTx(pk model.TxPk) error {
	txs, err := q.v.FullTxs([]model.TxPk{pk})
	if err != nil {
		return err
	}
	return q.addFull(&txs[0])
}

// addFull writes a transaction as the extra index has it.
func (q *request) addFull(t *boxes.FullTx) error {
	q.Add(`{"id":`)
	q.Hex(t.ID[:])
	q.Add(`,"blockId":`)
	q.Hex(t.Block.ID[:])
	q.Add(`,"inclusionHeight":`)
	q.Int(int(t.Block.Height))
	q.Add(`,"timestamp":`)
	q.Uint(t.Block.Header.Timestamp)
	q.Add(`,"index":`)
	q.Int(q.v.Q.TxIndex(t.Pk))
	q.Add(`,"globalIndex":`)
	q.Uint(t.Number)
	q.Add(`,"numConfirmations":`)
	q.Int(q.v.Height() - int(t.Block.Height))
	q.Add(`,"inputs":[`)
	n := 0
	for i := range t.Inputs {
		in := &t.Inputs[i]
		if in.Genesis {
			continue
		}
		q.Comma(n)
		n++
		in.Spend = &boxes.Spend{Tx: t.Tx, Index: i}
		if err := q.addIndexed(in); err != nil {
			return err
		}
	}
	q.Add("],")
	q.AddDataInputs(t.Tx)
	q.Add(`,"outputs":[`)
	for i := range t.Outputs {
		q.Comma(i)
		if err := q.addIndexed(&t.Outputs[i]); err != nil {
			return err
		}
	}
	q.Add(`],"size":`)
	q.Int(t.Size)
	q.Add("}")
	return nil
}
