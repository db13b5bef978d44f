package block

import (
	"encoding/binary"
	"errors"
	"fmt"

	"birthmark/model"
)

// MaxSize is the largest serialized block in bytes: each byte counts at least one unit of weight (BIP 141).
const MaxSize = 4_000_000

// maxMoney is the largest value of an output in satoshis.
const maxMoney = 21_000_000 * 100_000_000

// Smallest serialized sizes in bytes: a count whose items do not fit into the rest of the block is an error.
const (
	minTxSize     = 4 + 1 + minInputSize + 1 + minOutputSize + 4
	minInputSize  = 36 + 1 + 4
	minOutputSize = 8 + 1
	minEmptySize  = 4 + 1 + 1 + 4 // of a transaction without inputs and outputs
)

// Decoder makes model blocks from serialized blocks. It walks over a block twice: first to check its form and to count,
// then to fill arrays of the exact sizes. A block does not reference the serialized bytes, which can be reused.
//
// A Decoder keeps buffers between blocks; it must not be used by several goroutines at the same time.
type Decoder struct {
	// KeepRaw fills [model.Tx.Raw].
	KeepRaw bool
	// Tokens fills [model.Tx.Message] and [model.Tx.TokenOutput]; nil: the chain derives no assets.
	Tokens TokenReader
	// Room is [model.SourceOptions.Room].
	Room func(bytes int64) error

	format  *Format
	emitter Emitter

	start   int          // of the first transaction of the current block
	ends    []int        // where each transaction of the current block ends
	scratch []byte       // a transaction without its witness
	nodes   []model.Hash // of the merkle tree
}

// Emitter makes the index values of a block's outputs. Its methods are called in the order of the block: Begin, then
// for each transaction Transaction and Keys for each output.
type Emitter interface {
	// MaxKeys is the most keys that one output can have without user-defined indexes.
	MaxKeys() int
	// MaxBytes is the most bytes that the values of an output with this script take from the arena.
	MaxBytes(script []byte) int
	// Begin starts a block. arena is empty and has room for the values of all outputs; it becomes part of the block.
	Begin(b *model.Block, raw, arena []byte)
	// BeginUnconfirmed starts a transaction that is in no block, instead of Begin. Values that need the block or the
	// position in it are left out. raw is the serialized transaction.
	BeginUnconfirmed(raw, arena []byte)
	// Transaction starts the transaction with this index in the block; -1: it is in no block.
	Transaction(index int, s Span)
	// Keys appends the keys of an output; size is the length of the serialized output in bytes.
	Keys(to []model.Key, index int, value uint64, script []byte, size int) []model.Key
}

// Span has the offsets of a transaction's parts in the serialized block.
type Span struct {
	Start, Body, Outputs, Lock, End int  // Body: its inputs, Lock: its lock time
	Marker, Witness                 bool // serialized with marker and flag, and with witnesses
}

// TokenReader reads what rules that derive assets need from a transaction.
type TokenReader interface {
	// ReadTx returns [model.Tx.Message] and [model.Tx.TokenOutput] of the transaction at s of well-formed bytes. They do
	// not reference raw.
	ReadTx(raw []byte, s Span) (message any, output uint32)
}

// NewDecoder returns a decoder of a format that calls e for each output.
func NewDecoder(f *Format, e Emitter) *Decoder { return &Decoder{format: f, emitter: e} }

// sizes counts the items of a block.
type sizes struct {
	header, tail         int // bytes
	txs, inputs, outputs int
	values               int // bytes of index values, at most
}

// Block decodes one serialized block and checks its merkle root. It does not check the proof of work, which is the task
// of the source, unless the format has another one than Bitcoin. It does not check the witness commitment either: no
// witness reaches the model, and hashing the witnesses would add half the time of the rest.
func (d *Decoder) Block(raw []byte, height model.HeightPk) (*model.Block, error) {
	s, err := d.measure(raw)
	if err != nil {
		return nil, err
	}
	if err := d.checkRoom(len(raw), s.txs+s.inputs+s.outputs); err != nil {
		return nil, err
	}
	h := Header(raw)
	arena := append(make([]byte, 0, s.header+s.values), raw[:s.header]...)
	b := &model.Block{
		Height: height,
		Hash:   d.format.hash(raw[:s.header]),
		Parent: h.Parent(),
		Time:   int64(d.format.Time(h)),
		Size:   len(raw),
		Header: arena[:s.header:s.header],
	}
	d.fill(b, raw, s, arena[s.header:s.header])
	if d.KeepRaw {
		d.keepRaw(b.Txs, raw)
	}
	if err := d.checkRoots(b.Txs, raw); err != nil {
		return nil, err
	}
	if d.format.Work != nil {
		return b, d.format.Work(raw[:s.header], raw[s.header:s.header+s.tail])
	}
	return b, nil
}

// entryMemory is the memory in bytes that a transaction, input or output needs until it is written: decoded, in lookups
// and as rows. It was measured with a block of 2 million transactions.
const entryMemory = 150

// CheckRoom returns an error if a block of that many bytes cannot be read: see [model.SourceOptions.Room].
func (d *Decoder) CheckRoom(bytes int) error { return d.checkRoom(bytes, 0) }

func (d *Decoder) checkRoom(bytes, entries int) error {
	if d.Room == nil {
		return nil
	}
	if err := d.Room(int64(bytes) + int64(entries)*entryMemory); err != nil {
		return fmt.Errorf("%d bytes: %w", bytes, err)
	}
	return nil
}

// measure checks the form of a block and counts its items.
func (d *Decoder) measure(raw []byte) (sizes, error) {
	var s sizes
	f := d.format
	r := Reader{b: raw}
	s.header, s.tail = f.takeHeader(&r)
	s.txs = r.Count(f.minTxSize(), "transactions")
	if r.err != nil {
		return s, r.err
	}
	if s.txs == 0 {
		return s, fmt.Errorf("offset %d: the block has no transactions", r.at)
	}
	d.ends, d.start = d.ends[:0], r.at
	flag := byte(0)
	for i := range s.txs {
		flag = d.measureTx(&r, &s, i)
		if r.err != nil {
			return s, fmt.Errorf("transaction %d: %w", i, r.err)
		}
		d.ends = append(d.ends, r.at)
	}
	if r.Left() > 0 && flag&f.Flag == 0 {
		return s, fmt.Errorf("offset %d: %d bytes follow the last of %d transactions", r.at, r.Left(), s.txs)
	}
	return s, nil
}

// measureTx checks the form of a transaction and returns its flag. index is its position in the block, -1 if it is not
// in a block.
func (d *Decoder) measureTx(r *Reader, s *sizes, index int) (flag byte) {
	f, first := d.format, index == 0
	version, flag, lock := f.takeFirst(r)
	inputs := r.Count(minInputSize, "inputs")
	if r.err != nil {
		return
	}
	empty := f.Inputless != nil && !first && f.Inputless(version)
	switch {
	case inputs > 0 || empty:
	case index < 0 && flag&f.Flag != 0:
		r.Fail("%w", ErrHidden)
	default:
		r.failEmpty()
	}
	for i := range inputs {
		at := r.at
		outpoint := r.Take(36, "outpoint")
		r.Take(r.Count(1, "bytes of script"), "script")
		r.Take(4, "sequence")
		if r.err != nil {
			return
		}
		if null := f.isCoinbase(outpoint); null != first || null && inputs > 1 {
			r.at = at
			r.Fail("input %d: expected a null outpoint in the only input of the first transaction, and in no other input", i)
			return
		}
	}
	if !first {
		s.inputs += inputs
	}
	outputs := r.Count(minOutputSize, "outputs")
	if outputs == 0 && !empty {
		r.Fail("no outputs")
	}
	for i := range outputs {
		value := r.Take(8, "value")
		script := r.Take(r.Count(1, "bytes of script"), "script")
		if r.err != nil {
			return
		}
		v := binary.LittleEndian.Uint64(value)
		if f.Output != nil {
			v, script, _ = f.Output(v, script)
		}
		if v > f.MaxMoney {
			r.Fail("output %d has %d satoshis, more than the maximum supply", i, v)
			return
		}
		s.values += d.emitter.MaxBytes(script)
	}
	s.outputs += outputs
	f.takeRest(r, version, flag, lock, inputs, index >= 0)
	return flag
}

// failEmpty sets the error of a transaction without inputs, whose count was read last. A count of zero can be the marker
// of a flag (BIP 144) that is not known.
func (r *Reader) failEmpty() {
	if flag := r.peek(0); flag > 1 {
		r.Newer("a transaction without inputs, or with the flag %d,", flag)
	}
	r.Fail("no inputs")
}

// ErrHidden is the error of a transaction without public inputs, which is in no block in this form.
var ErrHidden = errors.New("the transaction has no public inputs")

// takeWitness reads the witness of every input. As in Core, a witness that is empty for all inputs is an error.
func takeWitness(r *Reader, inputs int) {
	at, any := r.at, false
	for range inputs {
		for range r.Count(1, "witness items") {
			any = true
			r.Take(r.Count(1, "bytes of witness"), "witness item")
		}
	}
	if !any && r.err == nil {
		r.at = at
		r.Fail("all witnesses are empty, although the marker announces them")
	}
}

// isNull reports whether an outpoint is null, as in a coinbase.
func isNull(outpoint []byte) bool {
	return binary.LittleEndian.Uint32(outpoint[32:]) == 0xffffffff && model.Hash(outpoint) == model.Hash{}
}

// Tx decodes one serialized transaction that is in no block and is not a coinbase. Its values do not depend on a block:
// see [Emitter]. It does not reference raw unless KeepRaw is set: then [model.Tx.Raw] is raw.
func (d *Decoder) Tx(raw []byte) (*model.Tx, error) {
	var s sizes
	r := Reader{b: raw}
	d.measureTx(&r, &s, -1)
	if r.err == nil && r.Left() > 0 {
		r.Fail("%d bytes follow the transaction", r.Left())
	}
	if r.err != nil {
		return nil, r.err
	}
	tx := new(model.Tx)
	f := d.filler(raw, s)
	d.emitter.BeginUnconfirmed(raw, make([]byte, 0, s.values))
	f.tx(tx, -1, 0, len(raw))
	if d.KeepRaw {
		tx.Raw = raw
	}
	return tx, nil
}

// fill makes the transactions of a well-formed block.
func (d *Decoder) fill(b *model.Block, raw []byte, s sizes, arena []byte) {
	b.Txs = make([]model.Tx, s.txs)
	f := d.filler(raw, s)
	d.emitter.Begin(b, raw, arena)
	at := d.start
	for i := range b.Txs {
		f.tx(&b.Txs[i], i, at, d.ends[i])
		at = d.ends[i]
	}
}

// filler makes transactions from well-formed bytes. Entries are written field by field: assigning whole structs to new
// memory would run write barriers for nil pointers.
type filler struct {
	*Decoder
	raw     []byte
	inputs  []model.Input // not yet used, as the next
	outputs []model.Output
	keys    []model.Key
}

func (d *Decoder) filler(raw []byte, s sizes) filler {
	return filler{
		d, raw, make([]model.Input, s.inputs), make([]model.Output, s.outputs),
		make([]model.Key, 0, s.outputs*d.emitter.MaxKeys()),
	}
}

// tx fills tx from the bytes from at to end. index is its position in the block, -1 if it is not in a block.
func (f *filler) tx(tx *model.Tx, index, at, end int) {
	raw, start, coinbase := f.raw, at, index == 0
	at += 4
	flag, lock := byte(0), 0
	if raw[at] == 0 && f.format.Witness {
		flag = raw[at+1]
		at += 2
	}
	if f.format.Prefix != nil {
		size, offset := f.format.Prefix(binary.LittleEndian.Uint32(raw[start:]))
		at, lock = at+size, offset
	}
	body := at

	var count int
	count, at = Count(raw, at)
	if !coinbase {
		tx.Inputs, f.inputs = f.inputs[:count:count], f.inputs[count:]
	}
	for n := range count {
		if !coinbase {
			in := &tx.Inputs[n]
			in.Tx = model.Hash(raw[at:])
			in.Index = binary.LittleEndian.Uint32(raw[at+32:])
		}
		var script int
		script, at = Count(raw, at+36)
		at += script + 4
	}

	s := Span{start, body, at, end - 4, end, flag != 0, flag&witnessFlag != 0}
	if f.format.Payload != nil {
		s.Lock = SkipOutputs(raw, at)
	}
	if lock > 0 {
		s.Lock = start + lock
	}
	f.emitter.Transaction(index, s)
	count, at = Count(raw, at)
	tx.Outputs, f.outputs = f.outputs[:count:count], f.outputs[count:]
	for n := range tx.Outputs {
		out := &tx.Outputs[n]
		out.Value = binary.LittleEndian.Uint64(raw[at:])
		begin, size := at, 0
		size, at = Count(raw, at+8)
		first, script := len(f.keys), raw[at:at+size:at+size]
		if f.format.Output != nil {
			out.Value, script, out.Assets = f.format.Output(out.Value, script)
		}
		f.keys = f.emitter.Keys(f.keys, n, out.Value, script, at+size-begin)
		out.Keys = f.keys[first:len(f.keys):len(f.keys)]
		at += size
	}

	if f.Tokens != nil {
		tx.Message, tx.TokenOutput = f.Tokens.ReadTx(raw, s)
	}

	// The id hashes the serialization without marker and witness (BIP 141).
	whole := raw[start:end]
	if f.format.TxHash != nil {
		tx.Hash = f.format.TxHash(raw, s)
		return
	}
	if f.format.AppendHashed != nil {
		f.scratch = f.format.AppendHashed(f.scratch[:0], raw, s)
		whole = f.scratch
	} else if s.Marker {
		f.scratch = append(append(append(f.scratch[:0], raw[start:start+4]...), raw[body:at]...), raw[end-4:end]...)
		whole = f.scratch
	}
	tx.Hash = DoubleHash(whole)
}
