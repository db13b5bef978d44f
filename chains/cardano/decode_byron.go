package cardano

import (
	"bytes"
	"fmt"
	"math/bits"

	"golang.org/x/crypto/blake2b"

	"birthmark/model"
)

// byronProof is what a Byron header says of its block's transactions.
type byronProof struct {
	count         uint64
	root, witness []byte
}

// boundaryHeader walks over the header of a block between two epochs.
func readBoundaryHeader(w *walker, n *network) fields {
	f := fields{era: eraByronBoundary}
	whole := w.array("boundary header")
	w.field(&whole, "protocol magic")
	w.uint("protocol magic")
	w.field(&whole, "hash of the parent")
	f.parent = w.hash("hash of the parent")
	w.field(&whole, "body hash")
	f.bodyHash = w.sized(32, "body hash")
	w.field(&whole, "consensus data")
	consensus := w.array("consensus data")
	w.field(&consensus, "epoch")
	f.slot = byronSlot(w, n, w.uint("epoch"))
	w.field(&consensus, "difficulty")
	f.number = readDifficulty(w)
	w.end(&consensus, "consensus data")
	w.field(&whole, "extra data")
	w.skip("extra data")
	w.end(&whole, "boundary header")
	return f
}

func readByronHeader(w *walker, n *network) fields {
	f := fields{era: eraByron}
	whole := w.array("header")
	w.field(&whole, "protocol magic")
	w.uint("protocol magic")
	w.field(&whole, "hash of the parent")
	f.parent = w.hash("hash of the parent")
	w.field(&whole, "body proof")
	f.proof = readByronProof(w)

	w.field(&whole, "consensus data")
	consensus := w.array("consensus data")
	w.field(&consensus, "slot")
	slot := w.array("slot")
	w.field(&slot, "epoch")
	f.slot = byronSlot(w, n, w.uint("epoch"))
	w.field(&slot, "slot in its epoch")
	at := w.at
	in := w.uint("slot in its epoch")
	if in >= n.byronEpoch && w.err == nil {
		w.failAt(at, "slot %d of an epoch that has %d", in, n.byronEpoch)
	}
	f.slot += in
	w.end(&slot, "slot")
	w.field(&consensus, "issuer's key")
	f.issuer = w.sized(64, "issuer's key")
	w.field(&consensus, "difficulty")
	f.number = readDifficulty(w)
	w.field(&consensus, "signature")
	w.skip("signature")
	w.end(&consensus, "consensus data")

	w.field(&whole, "extra data")
	extra := w.array("extra data")
	w.field(&extra, "protocol version")
	version := w.array("protocol version")
	w.field(&version, "protocol version")
	f.major = w.uint("protocol version")
	w.field(&version, "minor protocol version")
	f.minor = w.uint("minor protocol version")
	for w.more(&version) {
		w.skip("alternative protocol version")
	}
	for w.more(&extra) {
		w.skip("extra data")
	}
	w.end(&whole, "header")
	return f
}

func readByronProof(w *walker) (p byronProof) {
	proof := w.array("body proof")
	w.field(&proof, "proof of the transactions")
	txs := w.array("proof of the transactions")
	w.field(&txs, "number of transactions")
	p.count = w.uint("number of transactions")
	w.field(&txs, "merkle root")
	p.root = w.sized(32, "merkle root")
	w.field(&txs, "hash of the witnesses")
	p.witness = w.sized(32, "hash of the witnesses")
	w.end(&txs, "proof of the transactions")
	for w.more(&proof) {
		w.skip("body proof")
	}
	return p
}

// byronSlot is the first slot of an epoch of Byron.
func byronSlot(w *walker, n *network, epoch uint64) uint64 {
	if epoch > 1<<32 {
		w.fail("epoch %d, later than can be", epoch)
		return 0
	}
	return epoch * n.byronEpoch
}

func readDifficulty(w *walker) uint64 {
	n := w.array("difficulty")
	w.field(&n, "difficulty")
	number := w.uint("difficulty")
	w.end(&n, "difficulty")
	return number
}

// boundaryBody takes the rest of a block between two epochs.
func (d *decoder) boundaryBody(whole *int, f *fields) {
	w := &d.w
	w.field(whole, "stakeholders")
	body := w.item("stakeholders")
	if sum := blake2b.Sum256(body); w.err == nil && !bytes.Equal(sum[:], f.bodyHash) {
		w.err = fmt.Errorf("its body hashes to %x, its header says %x", sum, f.bodyHash)
	}
	w.field(whole, "extra data")
	w.skip("extra data")
}

// byronBody takes the rest of a Byron block after its header. Of what its header proves, the transactions and their
// witnesses are checked; the payloads of the other subsystems of Byron are passed unseen.
func (d *decoder) byronBody(whole *int, f *fields) {
	w := &d.w
	w.field(whole, "block body")
	body := w.array("block body")
	w.field(&body, "transactions")
	d.leaves = d.leaves[:0]
	d.scratch = append(d.scratch[:0], majorArray<<5|31)
	for n := w.array("transactions"); w.more(&n); {
		whole := w.at
		pair := w.array("transaction")
		w.field(&pair, "transaction")
		start := w.at
		d.byronTx()
		if w.err != nil {
			w.err = fmt.Errorf("transaction %d: %w", len(d.txs), w.err)
			return
		}
		tx := &d.txs[len(d.txs)-1]
		tx.Hash = blake2b.Sum256(w.b[start:w.at])
		d.leaves = append(d.leaves, d.leaf(w.b[start:w.at]))
		w.field(&pair, "witnesses")
		d.scratch = append(d.scratch, w.item("witnesses")...)
		w.end(&pair, "transaction")
		if d.needsParts() && w.err == nil {
			d.parts = append(d.parts, parts{body: w.b[whole:w.at]})
		}
	}
	d.scratch = append(d.scratch, breakByte)
	for w.more(&body) {
		w.skip("block body")
	}
	w.field(whole, "extra data")
	w.skip("extra data")
	if w.err != nil {
		return
	}
	root, witness := merkleRoot(d.leaves), blake2b.Sum256(d.scratch)
	switch {
	case f.proof.count != uint64(len(d.txs)):
		w.err = fmt.Errorf("it has %d transactions, its header says %d", len(d.txs), f.proof.count)
	case !bytes.Equal(root[:], f.proof.root):
		w.err = fmt.Errorf("its transactions have the merkle root %s, its header says %x", root, f.proof.root)
	case !bytes.Equal(witness[:], f.proof.witness):
		w.err = fmt.Errorf("its witnesses hash to %x, its header says %x", witness, f.proof.witness)
	}
}

// byronTx takes [inputs, outputs, attributes].
func (d *decoder) byronTx() {
	w := &d.w
	tx := model.Tx{}
	fieldsLeft := w.array("transaction")
	w.field(&fieldsLeft, "inputs")
	first := len(d.inputs)
	for n := w.array("inputs"); w.more(&n); {
		d.byronInput()
	}
	tx.Inputs = d.inputs[first:len(d.inputs):len(d.inputs)]
	w.field(&fieldsLeft, "outputs")
	firstOutput := len(d.outputs)
	for n := w.array("outputs"); w.more(&n); {
		var o output
		start := w.at
		pair := w.array("output")
		w.field(&pair, "address")
		o.address = w.item("address")
		if len(o.address) > 0 && o.address[0]>>5 != majorArray {
			w.fail("expected the address as an array")
		}
		w.field(&pair, "amount")
		o.value = w.uint("amount")
		w.end(&pair, "output")
		o.size = w.at - start
		d.add(&o)
	}
	tx.Outputs = d.outputs[firstOutput:len(d.outputs):len(d.outputs)]
	w.field(&fieldsLeft, "attributes")
	w.skip("attributes")
	w.end(&fieldsLeft, "transaction")
	d.txs = append(d.txs, tx)
}

// byronInput takes [0, the bytes of [transaction, index]].
func (d *decoder) byronInput() {
	w := &d.w
	pair := w.array("input")
	w.field(&pair, "kind of input")
	at := w.at
	if kind := w.uint("kind of input"); kind != 0 {
		w.failAt(at, "expected an input of kind 0, found %d", kind)
	}
	w.field(&pair, "outpoint")
	at = w.at
	inner := walker{b: w.encoded("outpoint")}
	w.end(&pair, "input")
	if w.err != nil {
		return
	}
	in := readOutpoint(&inner)
	if inner.err == nil && inner.at < len(inner.b) {
		inner.fail("%d bytes follow", len(inner.b)-inner.at)
	}
	if inner.err != nil {
		w.failAt(at, "outpoint: %w", inner.err)
		return
	}
	d.inputs = append(d.inputs, in)
}

// leaf is a transaction's node in Byron's merkle tree.
func (d *decoder) leaf(tx []byte) model.Hash {
	d.leafBytes = append(append(d.leafBytes[:0], 0), tx...)
	return blake2b.Sum256(d.leafBytes)
}

// merkleRoot is that of Byron: the left branch has as many leaves as the greatest power of two that leaves some to
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
