package bench

import (
	"encoding/binary"
	"slices"

	"birthmark/bench/generate/distribution"
	"birthmark/model"
)

// outline is a block of a [Generator] as numbers, a fifteenth of its size: hashes and values are functions of
// the seed and a number.
type outline struct {
	height    int
	header    uint64 // number of the header
	first     uint32 // number of the first transaction
	addresses uint64 // generated before the block
	txs       []outlineTx
	inputs    []spent
	outputs   []paid // those of the coinbase, which claims the fees, are last
}

// outlineTx is the number of inputs and outputs of a transaction.
type outlineTx struct{ inputs, outputs int }

// spent is an input: an output of a transaction.
type spent struct{ tx, index uint32 }

// paid is an output: the value and the number of the address.
type paid struct{ value, address uint64 }

// reset removes the transactions and keeps the memory.
func (o *outline) reset() {
	o.txs, o.inputs, o.outputs = o.txs[:0], o.inputs[:0], o.outputs[:0]
}

// appendOutline encodes an outline as varints for [outline.parse]. Numbers of earlier transactions and addresses are
// distances from the newest one, which are mostly small.
func appendOutline(to []byte, o *outline) []byte {
	for _, n := range []uint64{uint64(o.height), o.header, uint64(o.first), o.addresses, uint64(len(o.txs)), uint64(len(o.inputs)), uint64(len(o.outputs))} {
		to = binary.AppendUvarint(to, n)
	}
	inputs := o.inputs
	for i, t := range o.txs {
		to = binary.AppendUvarint(binary.AppendUvarint(to, uint64(t.inputs)), uint64(t.outputs))
		for _, in := range inputs[:t.inputs] {
			to = binary.AppendUvarint(binary.AppendUvarint(to, uint64(o.first)+uint64(i)-uint64(in.tx)), uint64(in.index))
		}
		inputs = inputs[t.inputs:]
	}
	next := o.addresses
	for _, out := range o.outputs {
		to = binary.AppendUvarint(binary.AppendUvarint(to, out.value), next-out.address)
		if out.address == next {
			next++
		}
	}
	return to
}

// parse decodes the result of [appendOutline] into o.
func (o *outline) parse(raw []byte) error {
	o.reset()
	p := &blockParser{rest: raw}
	o.height, o.header, o.first, o.addresses = int(p.number()), p.number(), uint32(p.number()), p.number()
	// Each element has at least one byte, which bounds the memory that damaged data can allocate.
	txs, inputs, outputs := p.count(), p.count(), p.count()
	o.txs, o.inputs, o.outputs = slices.Grow(o.txs, txs), slices.Grow(o.inputs, inputs), slices.Grow(o.outputs, outputs)
	unpaid := outputs
	for i := range txs {
		t := outlineTx{p.count(), int(p.number())}
		if t.inputs > inputs || t.outputs > unpaid || t.outputs < 0 {
			return errRecording
		}
		inputs, unpaid = inputs-t.inputs, unpaid-t.outputs
		o.txs = append(o.txs, t)
		for range t.inputs {
			o.inputs = append(o.inputs, spent{o.first + uint32(i) - uint32(p.number()), uint32(p.number())})
		}
	}
	next := o.addresses
	for range outputs {
		value, address := p.number(), next-p.number()
		o.outputs = append(o.outputs, paid{value, address})
		if address == next {
			next++
		}
	}
	if p.failed || len(p.rest) > 0 || inputs > 0 || unpaid > 0 {
		return errRecording
	}
	return nil
}

// expander makes blocks of outlines.
type expander struct {
	seed        uint64
	indexes     []string
	sizes       []int // of values in bytes, by index
	outputBytes int   // of all values of one output
	runes       bool
}

func newExpander(c *Chain) *expander {
	x := &expander{seed: c.Seed, indexes: c.Indexes, runes: c.Runes}
	for _, name := range c.Indexes {
		x.sizes = append(x.sizes, valueSizes[name])
		x.outputBytes += valueSizes[name]
	}
	return x
}

// block makes a block, which the caller owns.
func (x *expander) block(o *outline) *model.Block {
	n := len(o.txs)
	b := &model.Block{
		Height: model.HeightPk(o.height), Hash: blockHash(x.seed, o.height), Time: 1231006505 + 600*int64(o.height),
		Size: n * bytesPerTx, Header: make([]byte, 80), Txs: make([]model.Tx, n),
	}
	fill(b.Header, x.seed, o.header)
	if o.height > 0 {
		b.Parent = blockHash(x.seed, o.height-1)
	}
	// A few allocations per block instead of thousands.
	a := arena{
		inputs: make([]model.Input, len(o.inputs)), outputs: make([]model.Output, len(o.outputs)),
		keys: make([]model.Key, len(o.outputs)*len(x.sizes)), bytes: make([]byte, len(o.outputs)*x.outputBytes),
	}
	inputs, outputs := o.inputs, o.outputs
	for i := range n {
		tx := &b.Txs[i]
		tx.Hash = txHash(x.seed, o.first+uint32(i))
		if n := o.txs[i].inputs; n > 0 {
			tx.Inputs = take(&a.inputs, n)
		}
		for j := range tx.Inputs {
			tx.Inputs[j] = model.Input{Tx: txHash(x.seed, inputs[j].tx), Index: inputs[j].index}
		}
		inputs = inputs[o.txs[i].inputs:]
		if i > 0 {
			outputs = x.pay(tx, outputs, o.txs[i].outputs, &a)
		}
		if x.runes {
			x.tell(tx, o, i)
		}
	}
	if n > 0 {
		x.pay(&b.Txs[0], outputs, o.txs[0].outputs, &a)
	}
	return b
}

// pay adds the first n of some outputs to a transaction and returns the others.
func (x *expander) pay(tx *model.Tx, from []paid, n int, a *arena) []paid {
	tx.Outputs = take(&a.outputs, n)
	for j := range tx.Outputs {
		tx.Outputs[j] = model.Output{Value: from[j].value, Keys: x.keys(from[j].address, a)}
	}
	return from[n:]
}

// keys returns the values of an address in all indexes.
func (x *expander) keys(address uint64, a *arena) []model.Key {
	keys := take(&a.keys, len(x.sizes))
	for i, size := range x.sizes {
		value := take(&a.bytes, size)
		fill(value, x.seed, uint64(i+1)*valueNumbers+address)
		if x.indexes[i] == "address" {
			value[0] = 0 // type of the address
		}
		keys[i] = model.Key{Index: i, Value: value}
	}
	return keys
}

// arena is unused memory of a block.
type arena struct {
	inputs  []model.Input
	outputs []model.Output
	keys    []model.Key
	bytes   []byte
}

func take[T any](from *[]T, n int) []T {
	s := (*from)[:n:n]
	*from = (*from)[n:]
	return s
}

// Offsets of the numbers of transactions, blocks and the addresses of each index, so that no two have the same bytes.
const (
	txNumbers    = 1 << 40
	blockNumbers = 1 << 41
	valueNumbers = 1 << 42
)

func txHash(seed uint64, number uint32) (h model.Hash) {
	fill(h[:], seed, txNumbers+uint64(number))
	return h
}

func blockHash(seed uint64, height int) (h model.Hash) {
	fill(h[:], seed, blockNumbers+uint64(height))
	return h
}

// fill writes pseudorandom bytes that depend only on seed and number.
func fill(b []byte, seed, number uint64) {
	distribution.Fill(b, distribution.Mix(seed)^distribution.Mix(number))
}
