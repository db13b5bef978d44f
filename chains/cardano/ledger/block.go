package ledger

import (
	"bytes"
	"fmt"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/genesis"
	"birthmark/model"
)

// Decoder decodes serialized blocks of every era into model blocks. It walks once over a block and collects values,
// which point into the serialized bytes, in slices that it reuses; detach then copies them. A model block does not
// refer to the serialized bytes, which may be overwritten.
//
// A Decoder is for one goroutine at a time.
type Decoder struct {
	Network *genesis.Network
	index   Indexer
	Raw     bool // [model.Tx.Raw] is filled in
	w       cbor.Walker

	// Of the current block. Entries that no transaction refers to are left from a walk that was repeated.
	Transactions
	inputs  []model.Input
	outputs []model.Output
	keys    []model.Key
	assets  []model.Asset
	mints   []model.Mint
	arena   []byte // asset ids

	leaves    []model.Hash // of Byron's merkle tree
	leafBytes []byte
	scratch   []byte
}

// Indexer makes the index values of outputs, for one decoder.
type Indexer interface {
	// clone returns an indexer of the same kind for another goroutine.
	Clone() Indexer
	// needsParts reports whether block reads [transactions.parts].
	NeedsParts() bool
	// reset discards what output kept. The decoder calls it before each block, and before it walks over the
	// transactions of a block again.
	Reset()
	// output appends the keys of an output. Their values may point into o and into memory of the indexer.
	Output(keys []model.Key, o *Output) ([]model.Key, error)
	// block may change the keys of the outputs in txs. The decoder calls it after the last output of a block.
	Block(txs *Transactions)
}

// noIndexes is the indexer of blocks without keys.
type noIndexes struct{}

func (noIndexes) Clone() Indexer                                          { return noIndexes{} }
func (noIndexes) NeedsParts() bool                                        { return false }
func (noIndexes) Reset()                                                  {}
func (noIndexes) Output(keys []model.Key, _ *Output) ([]model.Key, error) { return keys, nil }
func (noIndexes) Block(*Transactions)                                     {}

// Transactions are the transactions of the block that is being decoded. Values point into the serialized block.
type Transactions struct {
	Of     *model.Block // without transactions; nil in the genesis and of an unconfirmed transaction
	Header HeaderFields // empty in the genesis; of an unconfirmed transaction only an era of its format

	Unconfirmed bool // one transaction that is in no block

	Txs    []model.Tx
	Failed []bool  // transactions whose scripts failed; empty before Alonzo
	Parts  []Parts // of each transaction, if they are needed; empty in the genesis
}

// NewDecoder returns a decoder. index may be nil: outputs then have no keys. raw: it fills in [model.Tx.Raw]. For the
// errors see [genesis.Network.RequireFiles].
func NewDecoder(n *genesis.Network, index Indexer, raw bool) (*Decoder, error) {
	if err := n.RequireFiles(); err != nil {
		return nil, err
	}
	if index == nil {
		index = noIndexes{}
	}
	return &Decoder{Network: n, index: index, Raw: raw}, nil
}

// Clone returns a decoder of the same kind for another goroutine.
func (d *Decoder) Clone() *Decoder {
	return &Decoder{Network: d.Network, index: d.index.Clone(), Raw: d.Raw}
}

// Block decodes one block as chunk files and chain-sync carry it: an array of the era's tag and the block. It checks
// that the body has the hash in the header, not that the issuer was entitled to the block. boundary: it is a Byron
// boundary block, which has no transactions and no height.
//
// An error states the offset in raw. The error for the tag of an unknown era has the code unknown_era.
func (d *Decoder) Block(raw []byte) (b *model.Block, boundary bool, err error) {
	return d.decode(raw, true)
}

// Next is Block for the first of several blocks in raw; size is its size.
func (d *Decoder) Next(raw []byte) (b *model.Block, size int, err error) {
	b, _, err = d.decode(raw, false)
	return b, d.w.Offset, err
}

func (d *Decoder) decode(raw []byte, alone bool) (b *model.Block, boundary bool, err error) {
	d.reset(raw)
	w := &d.w
	wrapper := w.Array("era and block")
	w.Field(&wrapper, "era")
	era := w.Uint("era")
	if w.Err == nil {
		w.Err = checkEra(era)
	}
	w.Field(&wrapper, "block")
	if w.Err != nil {
		return nil, false, w.Err
	}
	start := w.Offset
	whole := w.Array("block")
	w.Field(&whole, "header")
	at := w.Offset
	f := readHeader(w, d.Network, byte(era))
	header := w.Data[at:max(w.Offset, at)]
	if w.Err != nil {
		return nil, false, fmt.Errorf("%s header: %w", EraNames[era], w.Err)
	}
	b = &model.Block{Parent: f.parent, Slot: f.slot, Time: d.Network.Time(f.slot)}
	b.Header = append(append(make([]byte, 0, 1+len(header)), byte(era)), header...)
	if b.Hash, err = HashHeader(b.Header); err != nil {
		return nil, false, err
	}
	if b.Height, err = model.NewHeightPk(f.number); err == nil {
		d.body(&whole, &f)
		b.Size = w.Offset - start
		w.End(&wrapper, "era and block")
		if w.Err == nil && alone && w.Offset < len(raw) {
			w.Fail("%d bytes follow the block", len(raw)-w.Offset)
		}
		err = w.Err
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s block %d at slot %d (%s): %w", EraNames[era], f.number, f.slot, b.Hash, err)
	}
	d.Of, d.Header = b, f
	d.index.Block(&d.Transactions)
	d.detach(b)
	if d.Raw {
		d.keepRaw(b.Txs, byte(era))
	}
	return b, era == EraByronBoundary, nil
}

// reset starts a block.
func (d *Decoder) reset(raw []byte) {
	d.w.Reset(raw)
	d.Failed, d.Parts = d.Failed[:0], d.Parts[:0]
	d.forget()
}

// forget discards the transactions found so far.
func (d *Decoder) forget() {
	d.Txs, d.inputs, d.outputs = d.Txs[:0], d.inputs[:0], d.outputs[:0]
	d.keys, d.assets, d.mints, d.arena = d.keys[:0], d.assets[:0], d.mints[:0], d.arena[:0]
	d.index.Reset()
}

// needsParts reports whether the parts of transactions are collected.
func (d *Decoder) needsParts() bool { return d.Raw || d.index.NeedsParts() }

// add adds an output with its keys.
func (d *Decoder) add(o *Output) {
	o.Address = address.Canonical(o.Address)
	if len(o.Address) > model.MaxValueSize {
		d.w.Fail("address of %d bytes: expected at most %d", len(o.Address), model.MaxValueSize)
		return
	}
	first := len(d.keys)
	var err error
	if d.keys, err = d.index.Output(d.keys, o); err != nil {
		d.w.Fail("%w", err)
	}
	d.outputs = append(d.outputs, model.Output{Value: o.Value, Keys: d.keys[first:len(d.keys):len(d.keys)], Assets: o.Assets})
}

// body reads the rest of a block after its header.
func (d *Decoder) body(whole *int, f *HeaderFields) {
	switch f.Era {
	case EraByronBoundary:
		d.boundaryBody(whole, f)
	case EraByron:
		d.byronBody(whole, f)
	case EraDijkstra:
		d.dijkstraBody(whole, f)
	default:
		d.segments(whole, f)
	}
	d.w.End(whole, "block")
}

// segments reads the block after the header since Shelley: transaction bodies, witnesses, auxiliary data and, since
// Alonzo, the indices of failed transactions. The header has the hash of the hashes of the segments.
func (d *Decoder) segments(whole *int, f *HeaderFields) {
	w := &d.w
	var hashes [4 * blake2b.Size256]byte
	segments := 0
	segment := func(start int) {
		sum := blake2b.Sum256(w.Data[start:w.Offset])
		copy(hashes[segments*len(sum):], sum[:])
		segments++
	}
	w.Field(whole, "transaction bodies")
	bodies := w.Offset
	if d.bodies(); w.Err != nil {
		return
	}
	segment(bodies)

	w.Field(whole, "witness sets")
	start := w.Offset
	sets := 0
	for n := w.Array("witness sets"); w.More(&n); sets++ {
		set := w.Item("witness set")
		if d.needsParts() && sets < len(d.Parts) {
			d.Parts[sets].Witnesses = set
		}
	}
	if w.Err != nil {
		return
	}
	segment(start)
	if sets != len(d.Txs) {
		w.Err = fmt.Errorf("%d transaction bodies and %d witness sets: expected equal numbers", len(d.Txs), sets)
		return
	}

	w.Field(whole, "auxiliary data")
	start = w.Offset
	w.Map("auxiliary data")
	w.Offset = min(w.Offset, start)
	w.Skip("auxiliary data")
	if d.needsParts() {
		d.auxiliary(start)
	}
	if w.Err != nil {
		return
	}
	segment(start)

	if f.Era >= EraAlonzo {
		w.Field(whole, "failed transactions")
		start = w.Offset
		any := d.failures()
		if w.Err != nil {
			return
		}
		segment(start)
		if any {
			end := w.Offset
			d.forget()
			w.Offset = bodies
			d.bodies()
			w.Offset = max(w.Offset, end)
		}
	}
	sum := blake2b.Sum256(hashes[:segments*blake2b.Size256])
	if w.Err == nil && !bytes.Equal(sum[:], f.bodyHash) {
		w.Err = fmt.Errorf("the body has the hash %x: expected %x, as in the header", sum, f.bodyHash)
	}
}

// failures reads the indices of the transactions whose scripts failed.
func (d *Decoder) failures() (any bool) {
	w := &d.w
	d.Failed = append(d.Failed[:0], make([]bool, len(d.Txs))...)
	for n := w.Set("failed transactions"); w.More(&n); {
		at := w.Offset
		i := w.Uint("position of a failed transaction")
		if w.Err != nil {
			break
		}
		if i >= uint64(len(d.Failed)) {
			w.FailAt(at, "transaction %d failed: there are %d", i, len(d.Failed))
			break
		}
		d.Failed[i], any = true, true
	}
	return any
}

// detach copies the collected values to a block, into one slice per type.
func (d *Decoder) detach(b *model.Block) {
	var inputs, outputs, keys, assets, mints, room int
	for i := range d.Txs {
		tx := &d.Txs[i]
		inputs += len(tx.Inputs)
		outputs += len(tx.Outputs)
		mints += len(tx.Mints)
		for j := range tx.Mints {
			room += len(tx.Mints[j].Asset)
		}
		for j := range tx.Outputs {
			o := &tx.Outputs[j]
			keys += len(o.Keys)
			assets += len(o.Assets)
			for k := range o.Keys {
				room += len(o.Keys[k].Value)
			}
			for k := range o.Assets {
				room += len(o.Assets[k].ID)
			}
		}
	}
	s := detached{
		inputs: make([]model.Input, 0, inputs), outputs: make([]model.Output, 0, outputs),
		keys: make([]model.Key, 0, keys), assets: make([]model.Asset, 0, assets),
		mints: make([]model.Mint, 0, mints), arena: make([]byte, 0, room),
	}
	b.Txs = append(make([]model.Tx, 0, len(d.Txs)), d.Txs...)
	for i := range b.Txs {
		s.tx(&b.Txs[i])
	}
}

// detached is the memory of a block.
type detached struct {
	inputs  []model.Input
	outputs []model.Output
	keys    []model.Key
	assets  []model.Asset
	mints   []model.Mint
	arena   []byte
}

func (s *detached) tx(tx *model.Tx) {
	s.inputs, tx.Inputs = moved(s.inputs, tx.Inputs)
	s.outputs, tx.Outputs = moved(s.outputs, tx.Outputs)
	s.mints, tx.Mints = moved(s.mints, tx.Mints)
	for i := range tx.Mints {
		tx.Mints[i].Asset = s.keep(tx.Mints[i].Asset)
	}
	for i := range tx.Outputs {
		o := &tx.Outputs[i]
		s.keys, o.Keys = moved(s.keys, o.Keys)
		s.assets, o.Assets = moved(s.assets, o.Assets)
		for j := range o.Keys {
			o.Keys[j].Value = s.keep(o.Keys[j].Value)
		}
		for j := range o.Assets {
			o.Assets[j].ID = s.keep(o.Assets[j].ID)
		}
	}
}

// moved appends part to whole, which has room for it, and returns the part there; nil if it is empty.
func moved[T any](whole, part []T) (now, there []T) {
	if len(part) == 0 {
		return whole, nil
	}
	start := len(whole)
	whole = append(whole, part...)
	return whole, whole[start:len(whole):len(whole)]
}

func (s *detached) keep(b []byte) []byte {
	_, there := moved(s.arena, b)
	s.arena = s.arena[:len(s.arena)+len(b)]
	return there
}
