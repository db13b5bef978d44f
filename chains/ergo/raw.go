package ergo

import (
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// keepRaw sets [model.Tx.Raw] of each transaction of a block to its bytes, with its proofs. The bytes do not depend on
// the form of the JSON: the id and the roots in the header commit to them, except for the proofs of version 1.
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
