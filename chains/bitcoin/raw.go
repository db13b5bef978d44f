package bitcoin

import (
	"errors"
	"slices"

	"birthmark/model"
)

// keepRaw gives each transaction of a block its bytes, witness included, as [model.Tx.Raw].
func (d *decoder) keepRaw(txs []model.Tx, raw []byte) {
	_, first := knownCount(raw, headerSize)
	own, start := slices.Clone(raw[first:]), 0
	for i, end := range d.ends {
		txs[i].Raw = own[start : end-first : end-first]
		start = end - first
	}
}

// HashTx implements [model.TxHasher]: the id of a serialized transaction is of what is left of it without marker and
// witness (BIP 141), so the witness can be any.
func (c *chain) HashTx(raw []byte) (model.Hash, error) {
	r := reader{b: raw}
	r.take(4, "version")
	witness := takeMarker(&r)
	body := r.at
	inputs := r.count(minInputSize, "inputs")
	if inputs == 0 {
		r.fail("no inputs")
	}
	for range inputs {
		r.take(36, "outpoint")
		r.take(r.count(1, "bytes of script"), "script")
		r.take(4, "sequence")
	}
	for range r.count(minOutputSize, "outputs") {
		r.take(8, "value")
		r.take(r.count(1, "bytes of script"), "script")
	}
	end := r.at
	if witness {
		takeWitness(&r, inputs)
	}
	lock := r.take(4, "lock time")
	switch {
	case r.err != nil:
		return model.Hash{}, r.err
	case r.left() > 0:
		return model.Hash{}, errors.New("bytes follow the transaction")
	case !witness:
		return doubleHash(raw), nil
	}
	return doubleHash(slices.Concat(raw[:4], raw[body:end], lock)), nil
}
