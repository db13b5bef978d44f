package ergo

import (
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// keepRaw gives each transaction of a block its bytes, with its proofs, as [model.Tx.Raw]. Whatever JSON they were read
// from, they are the same: the id and what the header commits to prove them, but for the proofs of version 1.
func (d *decoder) keepRaw(txs []model.Tx) {
	first := len(d.arena) // after the memory that the transactions point to
	ends := make([]int, len(txs))
	for i := range txs {
		d.arena = d.e.AppendTx(d.arena, &d.txs[i].Tx, true)
		ends[i] = len(d.arena) - first
	}
	own, start := append(make([]byte, 0, len(d.arena)-first), d.arena[first:]...), 0
	for i, end := range ends {
		txs[i].Raw, start = own[start:end:end], end
	}
}

// HashTx implements [model.TxHasher]: the id of a transaction is the hash of its bytes without proofs.
func (c *chain) HashTx(raw []byte) (model.Hash, error) {
	id, err := sigma.SignedTxID(raw)
	if err != nil {
		return model.Hash{}, model.Errorf(model.NotFound, "not_told", "%w", err)
	}
	return model.Hash(id), nil
}
