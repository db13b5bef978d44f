package bench

import (
	"encoding/binary"
	"errors"
	"math/big"

	"birthmark/model"
)

// A recorded block begins with the number of its elements, so that they are decoded into a few slices:
//
//	height (4) | hash (32) | parent (32) | time | slot | size | header | counts (6) | genesis and other transactions
//
// Fields without a size in parentheses are varints, or bytes after their size as a varint. Values and ids are not
// copied.

// appendBlock encodes a block for [parseBlock].
func appendBlock(to []byte, b *model.Block) []byte {
	to = binary.LittleEndian.AppendUint32(to, uint32(b.Height))
	to = append(append(to, b.Hash[:]...), b.Parent[:]...)
	to = binary.AppendVarint(to, b.Time)
	to = binary.AppendUvarint(to, b.Slot)
	to = binary.AppendUvarint(to, uint64(b.Size))
	to = appendBytes(to, b.Header)
	n := countBlock(b)
	for _, n := range []int{len(b.Genesis), len(b.Txs), n.inputs, n.outputs, n.keys, n.assets} {
		to = binary.AppendUvarint(to, uint64(n))
	}
	for _, txs := range [][]model.Tx{b.Genesis, b.Txs} {
		for i := range txs {
			to = appendTx(to, &txs[i])
		}
	}
	return to
}

// blockCounts is the number of elements in the transactions of a block.
type blockCounts struct{ inputs, outputs, keys, assets int }

func countBlock(b *model.Block) (n blockCounts) {
	for _, txs := range [][]model.Tx{b.Genesis, b.Txs} {
		for i := range txs {
			n.inputs += len(txs[i].Inputs)
			n.outputs += len(txs[i].Outputs)
			for j := range txs[i].Outputs {
				n.keys += len(txs[i].Outputs[j].Keys)
				n.assets += len(txs[i].Outputs[j].Assets)
			}
		}
	}
	return n
}

func appendTx(to []byte, t *model.Tx) []byte {
	to = append(to, t.Hash[:]...)
	if t.Fee.Stated {
		to = binary.AppendUvarint(append(to, 1), t.Fee.Amount)
	} else {
		to = append(to, 0)
	}
	for _, n := range []int{int(t.FirstOutput), len(t.Inputs), len(t.Outputs), len(t.Mints)} {
		to = binary.AppendUvarint(to, uint64(n))
	}
	for i := range t.Inputs {
		in := &t.Inputs[i]
		to = appendBytes(to, in.Value)
		if len(in.Value) == 0 { // else there is no outpoint
			to = binary.AppendUvarint(append(to, in.Tx[:]...), uint64(in.Index))
		}
	}
	for i := range t.Outputs {
		o := &t.Outputs[i]
		to = binary.AppendUvarint(to, o.Value)
		to = binary.AppendUvarint(to, uint64(len(o.Keys)))
		to = binary.AppendUvarint(to, uint64(len(o.Assets)))
		for _, k := range o.Keys {
			to = appendBytes(binary.AppendUvarint(to, uint64(k.Index)), k.Value)
		}
		for _, a := range o.Assets {
			to = binary.AppendUvarint(appendBytes(to, a.ID), a.Amount)
		}
	}
	for _, m := range t.Mints {
		sign := byte(0)
		if m.Amount.Sign() < 0 {
			sign = 1
		}
		to = appendBytes(append(appendBytes(to, m.Asset), sign), m.Amount.Bytes())
		to = appendBytes(to, m.Info)
	}
	return appendBytes(to, t.Raw)
}

var errRecording = errors.New("damaged recording of blocks")

// parseBlock decodes the result of [appendBlock]. The block refers to raw.
func parseBlock(raw []byte) (b *model.Block, err error) {
	p := &blockParser{rest: raw}
	b = &model.Block{}
	b.Height = model.HeightPk(binary.LittleEndian.Uint32(p.take(4)))
	copy(b.Hash[:], p.take(32))
	copy(b.Parent[:], p.take(32))
	b.Time = p.signed()
	b.Slot = p.number()
	b.Size = int(p.number())
	b.Header = p.bytes()
	// Each element has at least one byte, which bounds the memory that damaged data can allocate.
	counts := [6]int{}
	for i := range counts {
		counts[i] = p.count()
	}
	b.Genesis, b.Txs = txsOf(counts[0]), txsOf(counts[1])
	p.arena = arena{inputs: make([]model.Input, counts[2]), outputs: make([]model.Output, counts[3]), keys: make([]model.Key, counts[4])}
	p.assets = make([]model.Asset, counts[5])
	for _, txs := range [][]model.Tx{b.Genesis, b.Txs} {
		for i := range txs {
			p.tx(&txs[i])
		}
	}
	if p.failed || len(p.rest) > 0 {
		return nil, errRecording
	}
	return b, nil
}

func txsOf(n int) []model.Tx {
	if n == 0 {
		return nil
	}
	return make([]model.Tx, n)
}

// blockParser decodes from the front of rest. After a failure it returns zeros.
type blockParser struct {
	rest   []byte
	failed bool
	arena
	assets []model.Asset
}

var zeros [32]byte

// take returns the next n bytes, or at most 32 zeros if there are fewer.
func (p *blockParser) take(n int) []byte {
	if n > len(p.rest) {
		p.failed, p.rest = true, nil
		return zeros[:min(n, len(zeros))]
	}
	b := p.rest[:n:n]
	p.rest = p.rest[n:]
	return b
}

func (p *blockParser) number() uint64 {
	if len(p.rest) > 0 && p.rest[0] < 0x80 { // the common case
		v := p.rest[0]
		p.rest = p.rest[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(p.rest)
	if n <= 0 {
		p.failed, p.rest = true, nil
		return 0
	}
	p.rest = p.rest[n:]
	return v
}

func (p *blockParser) signed() int64 {
	v, n := binary.Varint(p.rest)
	p.take(max(n, 0))
	p.failed = p.failed || n <= 0
	return v
}

// count returns a number of elements.
func (p *blockParser) count() int {
	n := p.number()
	if n > uint64(len(p.rest)) {
		p.failed, p.rest = true, nil
		return 0
	}
	return int(n)
}

func (p *blockParser) bytes() []byte {
	if n := p.count(); n > 0 {
		return p.take(n)
	}
	return nil
}

// of returns the next n elements of a slice.
func of[T any](p *blockParser, from *[]T, n int) []T {
	if n == 0 {
		return nil
	}
	if n > len(*from) {
		p.failed, p.rest = true, nil
		return nil
	}
	return take(from, n)
}

func (p *blockParser) tx(t *model.Tx) {
	copy(t.Hash[:], p.take(32))
	if p.take(1)[0] == 1 {
		t.Fee = model.Fee{Stated: true, Amount: p.number()}
	}
	t.FirstOutput = uint32(p.number())
	ins, outs, mints := p.count(), p.count(), p.count()
	t.Inputs = of(p, &p.inputs, ins)
	t.Outputs = of(p, &p.outputs, outs)
	for i := range t.Inputs {
		in := &t.Inputs[i]
		if in.Value = p.bytes(); in.Value == nil {
			copy(in.Tx[:], p.take(32))
			in.Index = uint32(p.number())
		}
	}
	for i := range t.Outputs {
		o := &t.Outputs[i]
		o.Value = p.number()
		keys, assets := p.count(), p.count()
		o.Keys, o.Assets = of(p, &p.keys, keys), of(p, &p.assets, assets)
		for j := range o.Keys {
			o.Keys[j].Index = int(p.number())
			o.Keys[j].Value = p.bytes()
		}
		for j := range o.Assets {
			o.Assets[j].ID = p.bytes()
			o.Assets[j].Amount = p.number()
		}
	}
	if mints > 0 {
		t.Mints = make([]model.Mint, mints)
	}
	for i := range t.Mints {
		m := &t.Mints[i]
		m.Asset = p.bytes()
		negative := p.take(1)[0] == 1
		if m.Amount = new(big.Int).SetBytes(p.bytes()); negative {
			m.Amount.Neg(m.Amount)
		}
		m.Info = p.bytes()
	}
	t.Raw = p.bytes()
}
