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
	first := d.start
	body, start := slices.Clone(raw[first:d.ends[len(d.ends)-1]]), 0
	for i, end := range d.ends {
		txs[i].Raw = body[start : end-first : end-first]
		start = end - first
	}
}

// TxSizes returns the offset of the first transaction in the block that was decoded last, and the sizes of all.
func (d *Decoder) TxSizes() (first int, sizes []int) {
	start := d.start
	sizes = make([]int, len(d.ends))
	for i, end := range d.ends {
		sizes[i] = end - start
		start = end
	}
	return d.ends[0] - sizes[0], sizes
}

// TxAt returns the transaction at a position of a serialized block. The block may be malformed.
func (f *Format) TxAt(raw []byte, index int) ([]byte, error) {
	r := Reader{b: raw}
	f.takeHeader(&r)
	if txs := r.Count(f.minTxSize(), "transactions"); r.err == nil && index >= txs {
		return nil, fmt.Errorf("the block has %d transactions, and none at position %d", txs, index)
	}
	for i := 0; ; i++ {
		start := r.at
		f.readTx(&r, true)
		if r.err != nil {
			return nil, fmt.Errorf("transaction %d: %w", i, r.err)
		}
		if i == index {
			return raw[start:r.at], nil
		}
	}
}

// TxID returns the id of a serialized transaction: the hash of its bytes without marker and witness (BIP 141).
func (f *Format) TxID(raw []byte) (model.Hash, error) {
	s, err := f.span(raw)
	if err != nil {
		return model.Hash{}, err
	}
	id, _ := f.id(raw, s, nil)
	return id, nil
}

// TxWeight returns the weight and the virtual size of a serialized transaction (BIP 141).
func (f *Format) TxWeight(raw []byte) (weight, vsize int, err error) {
	s, err := f.span(raw)
	if err != nil {
		return 0, 0, err
	}
	stripped := len(raw)
	if s.Marker {
		stripped = 4 + SkipOutputs(raw, s.Outputs) - s.Body + 4 // version and lock time
	}
	weight = 3*stripped + len(raw)
	return weight, (weight + 3) / 4, nil
}

// TxSize returns the size in bytes of the serialized transaction at the beginning of b. The error may be that b ends in
// the transaction.
func (f *Format) TxSize(b []byte) (int, error) {
	r := Reader{b: b}
	f.readTx(&r, true)
	return r.at, r.err
}

// TxWeight is [Format.TxWeight] of Bitcoin.
func TxWeight(raw []byte) (weight, vsize int, err error) { return Bitcoin.TxWeight(raw) }

// span returns the parts of a transaction that is in no block.
func (f *Format) span(raw []byte) (Span, error) {
	r := Reader{b: raw}
	s := f.readTx(&r, false)
	switch {
	case r.err != nil:
		return s, r.err
	case r.Left() > 0:
		return s, errors.New("bytes follow the transaction")
	}
	return s, nil
}

// readTx reads a transaction and returns its parts.
func (f *Format) readTx(r *Reader, confirmed bool) (s Span) {
	s.Start = r.at
	version, flag, lock := f.takeFirst(r)
	s.Marker, s.Witness = flag != 0, flag&witnessFlag != 0
	s.Body = r.at
	inputs := r.Count(minInputSize, "inputs")
	if r.err != nil {
		return s
	}
	if inputs == 0 && (f.Inputless == nil || !f.Inputless(version)) {
		r.failEmpty()
	}
	for range inputs {
		r.Take(36, "outpoint")
		r.Take(r.Count(1, "bytes of script"), "script")
		r.Take(4, "sequence")
	}
	s.Outputs = r.at
	for range r.Count(minOutputSize, "outputs") {
		r.Take(8, "value")
		r.Take(r.Count(1, "bytes of script"), "script")
	}
	s.Lock = f.takeRest(r, version, flag, lock, inputs, confirmed)
	s.End = r.at
	return s
}

// CoinbaseHeight returns the height at the start of the coinbase script of a serialized block (BIP 34). The block may
// be malformed.
func (f *Format) CoinbaseHeight(raw []byte) (uint64, bool) {
	if len(raw) < HeaderSize || Header(raw).Version() < 2 {
		return 0, false
	}
	r := Reader{b: raw}
	f.takeHeader(&r)
	r.CompactSize()
	f.takeFirst(&r)
	r.CompactSize()
	r.Take(36, "outpoint")
	script := r.Take(r.Count(1, "bytes of script"), "script")
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
