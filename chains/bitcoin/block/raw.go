package block

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"birthmark/model"
)

// keepRaw sets [model.Tx.Raw] of the transactions of a block: their serialized bytes, witness included.
func (d *Decoder) keepRaw(txs []model.Tx, raw []byte) {
	_, first := Count(raw, HeaderSize)
	body, start := slices.Clone(raw[first:]), 0
	for i, end := range d.ends {
		txs[i].Raw = body[start : end-first : end-first]
		start = end - first
	}
}

// TxSizes returns the offset of the first transaction in the block that was decoded last, and the sizes of all.
func (d *Decoder) TxSizes() (first int, sizes []int) {
	start := HeaderSize + len(AppendCompactSize(nil, uint64(len(d.ends))))
	sizes = make([]int, len(d.ends))
	for i, end := range d.ends {
		sizes[i] = end - start
		start = end
	}
	return d.ends[0] - sizes[0], sizes
}

// TxAt returns the transaction at a position of a serialized block. The block may be malformed.
func TxAt(raw []byte, index int) ([]byte, error) {
	r := reader{b: raw}
	r.take(HeaderSize, "header")
	if txs := r.count(minTxSize, "transactions"); r.err == nil && index >= txs {
		return nil, fmt.Errorf("the block has %d transactions, and none at position %d", txs, index)
	}
	for i := 0; ; i++ {
		start := r.at
		readTx(&r)
		if r.err != nil {
			return nil, fmt.Errorf("transaction %d: %w", i, r.err)
		}
		if i == index {
			return raw[start:r.at], nil
		}
	}
}

// TxID returns the id of a serialized transaction: the hash of its bytes without marker and witness (BIP 141).
func TxID(raw []byte) (model.Hash, error) {
	body, err := txBody(raw)
	if err != nil {
		return model.Hash{}, err
	}
	if len(body) == len(raw)-8 {
		return DoubleHash(raw), nil
	}
	return DoubleHash(slices.Concat(raw[:4], body, raw[len(raw)-4:])), nil
}

// TxWeight returns the weight and the virtual size of a serialized transaction (BIP 141).
func TxWeight(raw []byte) (weight, vsize int, err error) {
	body, err := txBody(raw)
	if err != nil {
		return 0, 0, err
	}
	stripped := 4 + len(body) + 4 // version and lock time
	weight = 3*stripped + len(raw)
	return weight, (weight + 3) / 4, nil
}

// TxSize returns the size in bytes of the serialized transaction at the beginning of b. The error may be that b ends in
// the transaction.
func TxSize(b []byte) (int, error) {
	r := reader{b: b}
	readTx(&r)
	return r.at, r.err
}

// txBody returns the serialized inputs and outputs of a transaction.
func txBody(raw []byte) ([]byte, error) {
	r := reader{b: raw}
	start, end := readTx(&r)
	switch {
	case r.err != nil:
		return nil, r.err
	case r.left() > 0:
		return nil, errors.New("bytes follow the transaction")
	}
	return raw[start:end], nil
}

// readTx reads a transaction and returns where its inputs begin and its outputs end.
func readTx(r *reader) (start, end int) {
	r.take(4, "version")
	witness := takeMarker(r)
	start = r.at
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
	end = r.at
	if witness {
		takeWitness(r, inputs)
	}
	r.take(4, "lock time")
	return start, end
}

// CoinbaseHeight returns the height at the start of the coinbase script of a serialized block (BIP 34). The block may
// be malformed.
func CoinbaseHeight(raw []byte) (uint64, bool) {
	if Header(raw).Version() < 2 {
		return 0, false
	}
	r := reader{b: raw, at: HeaderSize}
	r.compactSize()
	r.take(4, "version")
	takeMarker(&r)
	r.compactSize()
	r.take(36, "outpoint")
	script := r.take(r.count(1, "bytes of script"), "script")
	op, data, _, ok := NextOp(script)
	switch {
	case !ok:
		return 0, false
	case op >= Op1 && op <= Op16:
		return uint64(op-Op1) + 1, true
	case len(data) == 0 || len(data) > 4 || data[len(data)-1]&0x80 != 0 || int(op) != len(data):
		return 0, false // not a number, or negative
	}
	var number [8]byte
	copy(number[:], data)
	height := binary.LittleEndian.Uint64(number[:])
	return height, height <= model.MaxHeight
}
