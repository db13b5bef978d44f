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

// HashTx implements [model.TxHasher]: the id of a serialized transaction is the hash of what is left of it without
// marker and witness (BIP 141), so the witness can be any.
func (c *chain) HashTx(raw []byte) (model.Hash, error) {
	body, err := bodyOf(raw)
	if err != nil {
		return model.Hash{}, err
	}
	if len(body) == len(raw)-8 {
		return doubleHash(raw), nil
	}
	return doubleHash(slices.Concat(raw[:4], body, raw[len(raw)-4:])), nil
}

// WeighTx implements [model.TxWeigher]: what the id is made of counts four times, marker and witness once (BIP 141).
func (c *chain) WeighTx(raw []byte) (weight, vsize int, err error) {
	body, err := bodyOf(raw)
	if err != nil {
		return 0, 0, err
	}
	stripped := 4 + len(body) + 4 // version and lock time
	weight = 3*stripped + len(raw)
	return weight, (weight + 3) / 4, nil
}

// bodyOf is the inputs and outputs of a serialized transaction: what stands between version and lock time (four bytes
// each), without marker and witness.
func bodyOf(raw []byte) ([]byte, error) {
	r := reader{b: raw}
	r.take(4, "version")
	witness := takeMarker(&r)
	start := r.at
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
	r.take(4, "lock time")
	switch {
	case r.err != nil:
		return nil, r.err
	case r.left() > 0:
		return nil, errors.New("bytes follow the transaction")
	}
	return raw[start:end], nil
}
