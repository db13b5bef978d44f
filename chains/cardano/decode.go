package cardano

import (
	"bytes"
	"fmt"

	"golang.org/x/crypto/blake2b"

	"birthmark/model"
)

// decoder makes model blocks out of serialized ones of every era. It walks over a block once, keeping what it finds
// in lists that it reuses, whose values point into the serialized bytes; detach then makes one array of each kind to
// measure. Nothing in a block it made points into the serialized bytes, which may be used again.
//
// A decoder belongs to one goroutine at a time.
type decoder struct {
	net   *network
	index indexer
	raw   bool // [model.Tx.Raw] is wanted
	w     walker

	// Of the current block. Entries that no transaction refers to are left from a walk that was repeated.
	transactions
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

// indexer makes the index values of outputs, for one decoder.
type indexer interface {
	// clone returns an indexer of the same kind for another goroutine.
	clone() indexer
	// needsParts reports whether block reads [transactions.parts].
	needsParts() bool
	// reset discards what output kept. The decoder calls it before each block, and before it walks over the
	// transactions of a block again.
	reset()
	// output appends the keys of an output. Their values may point into o and into memory of the indexer.
	output(keys []model.Key, o *output) ([]model.Key, error)
	// block may change the keys of the outputs in txs. The decoder calls it after the last output of a block.
	block(txs *transactions)
}

// transactions are those of the block that is being decoded. Values point into the serialized block.
type transactions struct {
	of     *model.Block // without transactions; nil in the genesis
	header fields       // empty in the genesis
	txs    []model.Tx
	failed []bool  // transactions whose scripts failed; empty before Alonzo
	parts  []parts // of each transaction, if they are needed; empty in the genesis
}

// newDecoder returns a decoder of blocks. raw: it fills in [model.Tx.Raw]. The error is [network.needFiles] of an
// unnamed network.
func newDecoder(n *network, index indexer, raw bool) (*decoder, error) {
	if n.isNameless() {
		return nil, n.needFiles()
	}
	return &decoder{net: n, index: index, raw: raw}, nil
}

// clone returns a decoder of the same kind for another goroutine.
func (d *decoder) clone() *decoder {
	return &decoder{net: d.net, index: d.index.clone(), raw: d.raw}
}

// block decodes one block as chunk files and chain-sync carry it, an array of the era's tag and the block, and
// nothing more. It checks that the body is the one the header names, not that the header was made by who may.
// boundary: the block stands between two epochs of Byron, has no transactions and no height of its own.
//
// An error gives the offset in raw. That of a tag of a later era has the code unknown_era.
func (d *decoder) block(raw []byte) (b *model.Block, boundary bool, err error) {
	return d.decode(raw, true)
}

// next is block for the first of several blocks in raw, whose bytes are the first size ones.
func (d *decoder) next(raw []byte) (b *model.Block, size int, err error) {
	b, _, err = d.decode(raw, false)
	return b, d.w.at, err
}

func (d *decoder) decode(raw []byte, alone bool) (b *model.Block, boundary bool, err error) {
	d.reset(raw)
	w := &d.w
	wrapper := w.array("era and block")
	w.field(&wrapper, "era")
	era := w.uint("era")
	if w.err == nil {
		w.err = checkEra(era)
	}
	w.field(&wrapper, "block")
	if w.err != nil {
		return nil, false, w.err
	}
	start := w.at
	whole := w.array("block")
	w.field(&whole, "header")
	at := w.at
	f := readHeader(w, d.net, byte(era))
	header := w.b[at:max(w.at, at)]
	if w.err != nil {
		return nil, false, fmt.Errorf("%s header: %w", eraNames[era], w.err)
	}
	b = &model.Block{Parent: f.parent, Slot: f.slot, Time: d.net.time(f.slot)}
	b.Header = append(append(make([]byte, 0, 1+len(header)), byte(era)), header...)
	if b.Hash, err = hashHeader(b.Header); err != nil {
		return nil, false, err
	}
	if b.Height, err = model.NewHeightPk(f.number); err == nil {
		d.body(&whole, &f)
		b.Size = w.at - start
		w.end(&wrapper, "era and block")
		if w.err == nil && alone && w.at < len(raw) {
			w.fail("%d bytes follow the block", len(raw)-w.at)
		}
		err = w.err
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s block %d at slot %d (%s): %w", eraNames[era], f.number, f.slot, b.Hash, err)
	}
	d.of, d.header = b, f
	d.index.block(&d.transactions)
	d.detach(b)
	if d.raw {
		d.keepRaw(b.Txs, byte(era))
	}
	return b, era == eraByronBoundary, nil
}

// reset begins with a block.
func (d *decoder) reset(raw []byte) {
	d.w.reset(raw)
	d.failed, d.parts = d.failed[:0], d.parts[:0]
	d.forget()
}

// forget gives up the transactions found so far.
func (d *decoder) forget() {
	d.txs, d.inputs, d.outputs = d.txs[:0], d.inputs[:0], d.outputs[:0]
	d.keys, d.assets, d.mints, d.arena = d.keys[:0], d.assets[:0], d.mints[:0], d.arena[:0]
	d.index.reset()
}

// needsParts reports whether the parts of transactions are kept.
func (d *decoder) needsParts() bool { return d.raw || d.index.needsParts() }

// add puts an output among those of the block, with its keys.
func (d *decoder) add(o *output) {
	if len(o.address) > model.MaxValueSize {
		d.w.fail("address of %d bytes: expected at most %d", len(o.address), model.MaxValueSize)
		return
	}
	first := len(d.keys)
	var err error
	if d.keys, err = d.index.output(d.keys, o); err != nil {
		d.w.fail("%w", err)
	}
	d.outputs = append(d.outputs, model.Output{Value: o.value, Keys: d.keys[first:len(d.keys):len(d.keys)], Assets: o.assets})
}

// body takes the rest of a block after its header.
func (d *decoder) body(whole *int, f *fields) {
	switch f.era {
	case eraByronBoundary:
		d.boundaryBody(whole, f)
	case eraByron:
		d.byronBody(whole, f)
	default:
		d.segments(whole, f)
	}
	d.w.end(whole, "block")
}

// segments takes what follows the header since Shelley: transaction bodies, witnesses, auxiliary data and, since
// Alonzo, which transactions failed. The header names the hash of the hashes of the four.
func (d *decoder) segments(whole *int, f *fields) {
	w := &d.w
	var hashes [4 * blake2b.Size256]byte
	segments := 0
	segment := func(start int) {
		sum := blake2b.Sum256(w.b[start:w.at])
		copy(hashes[segments*len(sum):], sum[:])
		segments++
	}
	w.field(whole, "transaction bodies")
	bodies := w.at
	if d.bodies(); w.err != nil {
		return
	}
	segment(bodies)

	w.field(whole, "witness sets")
	start := w.at
	sets := 0
	for n := w.array("witness sets"); w.more(&n); sets++ {
		set := w.item("witness set")
		if d.needsParts() && sets < len(d.parts) {
			d.parts[sets].witnesses = set
		}
	}
	if w.err != nil {
		return
	}
	segment(start)
	if sets != len(d.txs) {
		w.err = fmt.Errorf("%d transaction bodies and %d witness sets: expected as many", len(d.txs), sets)
		return
	}

	w.field(whole, "auxiliary data")
	start = w.at
	w.pairs("auxiliary data")
	w.at = min(w.at, start)
	w.skip("auxiliary data")
	if d.needsParts() {
		d.auxiliary(start)
	}
	if w.err != nil {
		return
	}
	segment(start)

	if f.era >= eraAlonzo {
		w.field(whole, "failed transactions")
		start = w.at
		any := d.failures()
		if w.err != nil {
			return
		}
		segment(start)
		if any {
			end := w.at
			d.forget()
			w.at = bodies
			d.bodies()
			w.at = max(w.at, end)
		}
	}
	sum := blake2b.Sum256(hashes[:segments*blake2b.Size256])
	if w.err == nil && !bytes.Equal(sum[:], f.bodyHash) {
		w.err = fmt.Errorf("its body hashes to %x, its header says %x", sum, f.bodyHash)
	}
}

// failures takes the positions of the transactions whose scripts failed.
func (d *decoder) failures() (any bool) {
	w := &d.w
	d.failed = append(d.failed[:0], make([]bool, len(d.txs))...)
	for n := w.set("failed transactions"); w.more(&n); {
		at := w.at
		i := w.uint("position of a failed transaction")
		if w.err != nil {
			break
		}
		if i >= uint64(len(d.failed)) {
			w.failAt(at, "transaction %d failed: there are %d", i, len(d.failed))
			break
		}
		d.failed[i], any = true, true
	}
	return any
}

// detach gives a block what was found, in memory of its own.
func (d *decoder) detach(b *model.Block) {
	var inputs, outputs, keys, assets, mints, room int
	for i := range d.txs {
		tx := &d.txs[i]
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
	b.Txs = append(make([]model.Tx, 0, len(d.txs)), d.txs...)
	for i := range b.Txs {
		s.tx(&b.Txs[i])
	}
}

// detached is the memory of a block, made to measure.
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

// moved appends a part to a whole that has room for it, and is the part there; nil where it is empty.
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
