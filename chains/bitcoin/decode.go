package bitcoin

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"golang.org/x/crypto/ripemd160" //lint:ignore SA1019 Bitcoin's addresses are made with it

	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// maxBlockSize is the most bytes a block can have serialized: its weight is at most that many and counts each at
// least once (BIP 141).
const maxBlockSize = 4_000_000

// The fewest bytes a thing can have; a count of more than fit into what is left is refused.
const (
	minTxSize     = 4 + 1 + minInputSize + 1 + minOutputSize + 4
	minInputSize  = 36 + 1 + 4
	minOutputSize = 8 + 1
)

// decoder makes model blocks out of serialized ones. It walks over a block twice: the first time to check its form
// and measure it, the second time to fill one array of each kind made to measure. Nothing in a block it made points
// into the serialized bytes, which may be used again.
//
// A decoder belongs to one goroutine at a time: it keeps buffers between blocks.
type decoder struct {
	net    *network
	wanted wanted
	raw    bool // transactions' own bytes are wanted

	defined *indexexpr.Indexes // what users defined, and the names of all that is wanted
	names   []string
	own     *own // of users' indexes, nil where none is wanted

	arena   []byte       // values of the block under way
	ends    []int        // where each of its transactions ends
	scratch []byte       // a transaction without its witness
	nodes   []model.Hash // of the merkle tree
	ripemd  hash.Hash
	sum     [32]byte // where ripemd's sum goes on its way
}

// newDecoder is a decoder for the named indexes; an error of kind [model.Usage] where one is unknown.
func newDecoder(n *network, defined *indexexpr.Indexes, indexes []string) (*decoder, error) {
	w, err := newWanted(indexes, defined)
	if err != nil {
		return nil, err
	}
	return (&decoder{net: n, wanted: w, defined: defined, names: indexes}).clone(), nil
}

// clone is a decoder of the same kind for another goroutine.
func (d *decoder) clone() *decoder {
	c := &decoder{net: d.net, wanted: d.wanted, raw: d.raw, defined: d.defined, names: d.names, ripemd: ripemd160.New()}
	c.own = newOwn(c, d.defined, d.names)
	return c
}

// sizes is what a block needs room for.
type sizes struct {
	txs, inputs, outputs int
	arena                int // bytes: the header, and the values of the indexes at most
}

// block decodes one serialized block and nothing more, and checks its merkle root. It does not check its proof of
// work, which whoever chooses between chains has looked at, nor the witness commitment: no witness reaches the model,
// and hashing them would cost half as much again as all the rest.
func (d *decoder) block(raw []byte, height model.HeightPk) (*model.Block, error) {
	s, err := d.measure(raw)
	if err != nil {
		return nil, err
	}
	h := header(raw)
	d.arena = make([]byte, 0, s.arena)
	b := &model.Block{
		Height: height,
		Hash:   h.hash(),
		Parent: h.parent(),
		Time:   int64(h.time()),
		Size:   len(raw),
		Header: d.keep(raw[:headerSize]),
	}
	d.fill(b, raw, s)
	d.arena = nil // the block's own now
	if d.raw {
		d.keepRaw(b.Txs, raw)
	}
	root, err := d.merkleRoot(b.Txs)
	if err != nil {
		return nil, err
	}
	if root != h.merkle() {
		return nil, fmt.Errorf("its transactions have the merkle root %s, its header says %s", formatHash(root), formatHash(h.merkle()))
	}
	return b, nil
}

// measure checks the form of a whole block.
func (d *decoder) measure(raw []byte) (sizes, error) {
	s := sizes{arena: headerSize}
	r := reader{b: raw}
	r.take(headerSize, "header")
	s.txs = r.count(minTxSize, "transactions")
	if r.err != nil {
		return s, r.err
	}
	if s.txs == 0 {
		return s, fmt.Errorf("offset %d: a block without transactions", r.at)
	}
	d.ends = d.ends[:0]
	for i := range s.txs {
		d.measureTx(&r, &s, i == 0)
		if r.err != nil {
			return s, fmt.Errorf("transaction %d: %w", i, r.err)
		}
		d.ends = append(d.ends, r.at)
	}
	if r.left() > 0 {
		return s, fmt.Errorf("offset %d: %d bytes follow the last of %d transactions", r.at, r.left(), s.txs)
	}
	return s, nil
}

func (d *decoder) measureTx(r *reader, s *sizes, first bool) {
	r.take(4, "version")
	witness := takeMarker(r)
	inputs := r.count(minInputSize, "inputs")
	if inputs == 0 {
		r.fail("no inputs")
	}
	for i := range inputs {
		at := r.at
		outpoint := r.take(36, "outpoint")
		r.take(r.count(1, "bytes of script"), "script")
		r.take(4, "sequence")
		if r.err != nil {
			return
		}
		if null := isNull(outpoint); null != first || null && inputs > 1 {
			r.at = at
			r.fail("input %d: the first transaction of a block has one input that spends nothing, the others have none", i)
			return
		}
	}
	if !first {
		s.inputs += inputs
	}
	outputs := r.count(minOutputSize, "outputs")
	if outputs == 0 {
		r.fail("no outputs")
	}
	for i := range outputs {
		value := r.take(8, "value")
		script := r.take(r.count(1, "bytes of script"), "script")
		if r.err != nil {
			return
		}
		if v := binary.LittleEndian.Uint64(value); v > maxMoney {
			r.fail("output %d has %d satoshis, more than can exist", i, v)
			return
		}
		s.arena += d.wanted.room(script)
	}
	s.outputs += outputs
	if witness {
		takeWitness(r, inputs)
	}
	r.take(4, "lock time")
}

// takeMarker takes the two bytes that say that a transaction is serialized with its witness (BIP 144).
func takeMarker(r *reader) bool {
	if r.peek(0) != 0 || r.peek(1) != 1 {
		return false
	}
	r.take(2, "marker")
	return true
}

// takeWitness takes the witness of every input. As Core, it refuses a witness that is empty throughout: such a
// transaction is serialized without.
func takeWitness(r *reader, inputs int) {
	at, any := r.at, false
	for range inputs {
		for range r.count(1, "witness items") {
			any = true
			r.take(r.count(1, "bytes of witness"), "witness item")
		}
	}
	if !any && r.err == nil {
		r.at = at
		r.fail("a witness is announced, every one is empty")
	}
}

// isNull reports whether an outpoint is the one that stands for nothing.
func isNull(outpoint []byte) bool {
	return binary.LittleEndian.Uint32(outpoint[32:]) == 0xffffffff && model.Hash(outpoint) == model.Hash{}
}

// fill makes the transactions of a block that measure has found well formed. Entries are written in place, field by
// field: memory that is new needs no pointers set to nil, which is what the garbage collector would have to be told of.
func (d *decoder) fill(b *model.Block, raw []byte, s sizes) {
	b.Txs = make([]model.Tx, s.txs)
	inputs := make([]model.Input, s.inputs)
	outputs := make([]model.Output, s.outputs)
	keys := make([]model.Key, 0, s.outputs*len(d.wanted.order))

	if d.own != nil {
		d.own.block(b, raw)
	}

	_, at := knownCount(raw, headerSize)
	for i := range b.Txs {
		tx := &b.Txs[i]
		start, end := at, d.ends[i]
		at += 4
		witness := raw[at] == 0
		if witness {
			at += 2
		}
		body := at

		var count int
		count, at = knownCount(raw, at)
		if i > 0 {
			tx.Inputs, inputs = inputs[:count:count], inputs[count:]
		}
		for n := range count {
			if i > 0 {
				in := &tx.Inputs[n]
				in.Tx = model.Hash(raw[at:])
				in.Index = binary.LittleEndian.Uint32(raw[at+32:])
			}
			var script int
			script, at = knownCount(raw, at+36)
			at += script + 4
		}

		if d.own != nil {
			d.own.transaction(i, txSpan{start, body, at, end, witness})
		}
		count, at = knownCount(raw, at)
		tx.Outputs, outputs = outputs[:count:count], outputs[count:]
		for n := range tx.Outputs {
			out := &tx.Outputs[n]
			out.Value = binary.LittleEndian.Uint64(raw[at:])
			begin, size := at, 0
			size, at = knownCount(raw, at+8)
			first := len(keys)
			keys = d.keys(keys, raw[at:at+size])
			if d.own != nil {
				keys = d.own.keys(keys, n, out.Value, raw[at:at+size:at+size], at+size-begin)
				d.own.run.InOrder(keys[first:])
			}
			out.Keys = keys[first:len(keys):len(keys)]
			at += size
		}

		// The id of a transaction is of its serialization without marker and witness (BIP 141).
		whole := raw[start:end]
		if witness {
			d.scratch = append(append(append(d.scratch[:0], raw[start:start+4]...), raw[body:at]...), raw[end-4:end]...)
			whole = d.scratch
		}
		tx.Hash = doubleHash(whole)
		at = end
	}
}

// appendHash160 appends RIPEMD-160 of SHA-256 of b.
func (d *decoder) appendHash160(to, b []byte) []byte {
	d.sum = sha256.Sum256(b)
	d.ripemd.Reset()
	d.ripemd.Write(d.sum[:])
	return d.ripemd.Sum(to)
}
