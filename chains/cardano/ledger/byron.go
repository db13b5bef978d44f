package ledger

import (
	"bytes"
	"fmt"
	"math/bits"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/genesis"
	"birthmark/model"
)

// byronProof is the proof of the transactions in a Byron header.
type byronProof struct {
	count         uint64
	root, witness []byte
}

// readBoundaryHeader reads the header of a boundary block.
func readBoundaryHeader(w *cbor.Walker, n *genesis.Network) HeaderFields {
	f := HeaderFields{Era: EraByronBoundary}
	whole := w.Fields("boundary header")
	whole.Uint("protocol magic")
	f.parent = whole.Hash("hash of the parent")
	f.bodyHash = whole.BytesOf(32, "body hash")
	consensus := whole.Fields("consensus data")
	f.slot = byronSlot(w, n, consensus.Uint("epoch"))
	f.number = readDifficulty(&consensus)
	consensus.End()
	whole.Skip("extra data")
	whole.End()
	return f
}

func readByronHeader(w *cbor.Walker, n *genesis.Network) HeaderFields {
	f := HeaderFields{Era: EraByron}
	whole := w.Fields("header")
	whole.Uint("protocol magic")
	f.parent = whole.Hash("hash of the parent")
	f.proof = readByronProof(&whole)

	consensus := whole.Fields("consensus data")
	slot := consensus.Fields("slot")
	f.slot = byronSlot(w, n, slot.Uint("epoch"))
	at := w.Offset
	in := slot.Uint("slot in its epoch")
	if in >= n.ByronEpoch && w.Err == nil {
		w.FailAt(at, "slot %d of an epoch that has %d", in, n.ByronEpoch)
	}
	f.slot += in
	slot.End()
	f.Issuer = consensus.BytesOf(64, "issuer's key")
	f.number = readDifficulty(&consensus)
	consensus.Skip("signature")
	consensus.End()

	extra := whole.Fields("extra data")
	version := extra.Fields("protocol version")
	readVersion(&version, &f)
	version.SkipRest()
	extra.SkipRest()
	whole.End()
	return f
}

func readByronProof(header *cbor.Fields) (p byronProof) {
	proof := header.Fields("body proof")
	txs := proof.Fields("proof of the transactions")
	p.count = txs.Uint("number of transactions")
	p.root = txs.BytesOf(32, "merkle root")
	p.witness = txs.BytesOf(32, "hash of the witnesses")
	txs.End()
	proof.SkipRest()
	return p
}

// byronSlot returns the first slot of a Byron epoch.
func byronSlot(w *cbor.Walker, n *genesis.Network, epoch uint64) uint64 {
	if epoch > 1<<32 {
		w.Fail("epoch %d, later than can be", epoch)
		return 0
	}
	return epoch * n.ByronEpoch
}

func readDifficulty(consensus *cbor.Fields) uint64 {
	difficulty := consensus.Fields("difficulty")
	number := difficulty.Uint("difficulty")
	difficulty.End()
	return number
}

// boundaryBody reads the rest of a boundary block.
func (d *Decoder) boundaryBody(whole *int, f *HeaderFields) {
	w := &d.w
	w.Field(whole, "stakeholders")
	body := w.Item("stakeholders")
	if sum := blake2b.Sum256(body); w.Err == nil && !bytes.Equal(sum[:], f.bodyHash) {
		w.Err = fmt.Errorf("the body has the hash %x: expected %x, as in the header", sum, f.bodyHash)
	}
	w.Field(whole, "extra data")
	w.Skip("extra data")
}

// byronBody reads the rest of a Byron block after its header. It checks the proofs of transactions and witnesses; the
// payloads of other subsystems are skipped.
func (d *Decoder) byronBody(whole *int, f *HeaderFields) {
	w := &d.w
	w.Field(whole, "block body")
	body := w.Array("block body")
	w.Field(&body, "transactions")
	d.leaves = d.leaves[:0]
	d.scratch = append(d.scratch[:0], cbor.Array<<5|31)
	for n := w.Array("transactions"); w.More(&n); {
		whole := w.Offset
		pair := w.Array("transaction")
		w.Field(&pair, "transaction")
		start := w.Offset
		d.byronTx()
		if w.Err != nil {
			w.Err = fmt.Errorf("transaction %d: %w", len(d.Txs), w.Err)
			return
		}
		tx := &d.Txs[len(d.Txs)-1]
		tx.Hash = blake2b.Sum256(w.Data[start:w.Offset])
		d.leaves = append(d.leaves, d.leaf(w.Data[start:w.Offset]))
		w.Field(&pair, "witnesses")
		d.scratch = append(d.scratch, w.Item("witnesses")...)
		w.End(&pair, "transaction")
		if d.needsParts() && w.Err == nil {
			d.Parts = append(d.Parts, Parts{Body: w.Data[whole:w.Offset]})
		}
	}
	d.scratch = append(d.scratch, cbor.Break)
	for w.More(&body) {
		w.Skip("block body")
	}
	w.Field(whole, "extra data")
	w.Skip("extra data")
	if w.Err != nil {
		return
	}
	root, witness := merkleRoot(d.leaves), blake2b.Sum256(d.scratch)
	switch {
	case f.proof.count != uint64(len(d.Txs)):
		w.Err = fmt.Errorf("it has %d transactions: expected %d, as in the header", len(d.Txs), f.proof.count)
	case !bytes.Equal(root[:], f.proof.root):
		w.Err = fmt.Errorf("the transactions have the merkle root %s: expected %x, as in the header", root, f.proof.root)
	case !bytes.Equal(witness[:], f.proof.witness):
		w.Err = fmt.Errorf("the witnesses have the hash %x: expected %x, as in the header", witness, f.proof.witness)
	}
}

// byronTx reads [inputs, outputs, attributes].
func (d *Decoder) byronTx() {
	w := &d.w
	tx := model.Tx{}
	fieldsLeft := w.Array("transaction")
	w.Field(&fieldsLeft, "inputs")
	first := len(d.inputs)
	for n := w.Array("inputs"); w.More(&n); {
		d.byronInput()
	}
	tx.Inputs = d.inputs[first:len(d.inputs):len(d.inputs)]
	w.Field(&fieldsLeft, "outputs")
	firstOutput := len(d.outputs)
	for n := w.Array("outputs"); w.More(&n); {
		var o Output
		start := w.Offset
		pair := w.Array("output")
		w.Field(&pair, "address")
		o.Address = w.Item("address")
		if len(o.Address) > 0 && o.Address[0]>>5 != cbor.Array {
			w.Fail("expected the address as an array")
		}
		w.Field(&pair, "amount")
		o.Value = w.Uint("amount")
		w.End(&pair, "output")
		o.Size = w.Offset - start
		d.add(&o)
	}
	tx.Outputs = d.outputs[firstOutput:len(d.outputs):len(d.outputs)]
	w.Field(&fieldsLeft, "attributes")
	w.Skip("attributes")
	w.End(&fieldsLeft, "transaction")
	d.Txs = append(d.Txs, tx)
}

// byronInput reads [0, #6.24(bytes of [transaction, index])].
func (d *Decoder) byronInput() {
	w := &d.w
	pair := w.Array("input")
	w.Field(&pair, "kind of input")
	at := w.Offset
	if kind := w.Uint("kind of input"); kind != 0 {
		w.FailAt(at, "expected an input of kind 0, found %d", kind)
	}
	w.Field(&pair, "outpoint")
	at = w.Offset
	inner := cbor.Walker{Data: w.Encoded("outpoint")}
	w.End(&pair, "input")
	if w.Err != nil {
		return
	}
	in := ReadOutpoint(&inner)
	if inner.Err == nil && inner.Offset < len(inner.Data) {
		inner.Fail("%d bytes follow", len(inner.Data)-inner.Offset)
	}
	if inner.Err != nil {
		w.FailAt(at, "outpoint: %w", inner.Err)
		return
	}
	d.inputs = append(d.inputs, in)
}

// leaf returns the leaf of a transaction in Byron's Merkle tree.
func (d *Decoder) leaf(tx []byte) model.Hash {
	d.leafBytes = append(append(d.leafBytes[:0], 0), tx...)
	return blake2b.Sum256(d.leafBytes)
}

// merkleRoot returns Byron's Merkle root: the left branch has the largest power of two of leaves that leaves some to
// the right.
func merkleRoot(leaves []model.Hash) model.Hash {
	switch len(leaves) {
	case 0:
		return blake2b.Sum256(nil)
	case 1:
		return leaves[0]
	}
	left := 1 << (bits.Len(uint(len(leaves)-1)) - 1)
	l, r := merkleRoot(leaves[:left]), merkleRoot(leaves[left:])
	var node [65]byte
	node[0] = 1
	copy(node[1:], l[:])
	copy(node[33:], r[:])
	return blake2b.Sum256(node[:])
}
