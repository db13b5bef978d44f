package bitcoin

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

func newBuffered(b []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(b)) }

// agreesWithWire compares a decoded block with btcd's decoding of the same bytes.
func agreesWithWire(n *params.Network, b *model.Block, m *wire.MsgBlock) error {
	switch {
	case b.Hash != model.Hash(m.BlockHash()):
		return fmt.Errorf("hash %s, wire has %s", block.FormatHash(b.Hash), m.BlockHash())
	case b.Parent != model.Hash(m.Header.PrevBlock) || b.Time != m.Header.Timestamp.Unix() || b.Size != m.SerializeSize():
		return fmt.Errorf("parent %s time %d size %d, wire has %s %d %d",
			block.FormatHash(b.Parent), b.Time, b.Size, m.Header.PrevBlock, m.Header.Timestamp.Unix(), m.SerializeSize())
	case len(b.Txs) != len(m.Transactions):
		return fmt.Errorf("%d transactions, wire has %d", len(b.Txs), len(m.Transactions))
	}
	h, err := newChain(networks[0]).parseHeader(b.Header)
	if err != nil {
		return err
	}
	if h.Version != m.Header.Version || h.Nonce != m.Header.Nonce || h.Bits != fmt.Sprintf("%08x", m.Header.Bits) ||
		h.MerkleRoot != m.Header.MerkleRoot.String() {
		return fmt.Errorf("header %+v, wire has %+v", h, m.Header)
	}
	for i := range b.Txs {
		if err := txAgrees(n, &b.Txs[i], m.Transactions[i], i == 0); err != nil {
			return fmt.Errorf("transaction %d: %w", i, err)
		}
	}
	return nil
}

func txAgrees(n *params.Network, tx *model.Tx, m *wire.MsgTx, coinbase bool) error {
	if tx.Hash != model.Hash(m.TxHash()) {
		return fmt.Errorf("id %s, wire has %s", block.FormatHash(tx.Hash), m.TxHash())
	}
	spends := m.TxIn
	if coinbase {
		spends = nil
	}
	if len(tx.Inputs) != len(spends) || len(tx.Outputs) != len(m.TxOut) {
		return fmt.Errorf("%d inputs and %d outputs, wire has %d and %d", len(tx.Inputs), len(tx.Outputs), len(spends), len(m.TxOut))
	}
	for i, in := range spends {
		if o := in.PreviousOutPoint; tx.Inputs[i].Tx != model.Hash(o.Hash) || tx.Inputs[i].Index != o.Index || tx.Inputs[i].Value != nil {
			return fmt.Errorf("input %d names %v, wire has %v", i, tx.Inputs[i], o)
		}
	}
	for i, out := range m.TxOut {
		if tx.Outputs[i].Value != uint64(out.Value) || tx.Outputs[i].Assets != nil {
			return fmt.Errorf("output %d has %d, wire has %d", i, tx.Outputs[i].Value, out.Value)
		}
		got, want := shownKeys(n, &tx.Outputs[i]), expectedKeys(n, out.PkScript)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("output %d, script %x: keys %v, expected %v", i, out.PkScript, got, want)
		}
	}
	return nil
}

// expectedKeys returns the expected keys of a script by index. It uses btcd's tokenizer, addresses and classes, and
// Core's rules if btcd's are narrower.
func expectedKeys(n *params.Network, script []byte) map[string]string {
	sum := sha256.Sum256(script)
	keys := map[string]string{
		indexScriptHash: block.FormatHash(sum),
		indexScriptType: expectedType(script),
	}
	if a := expectedAddress(n, script); a != "" {
		keys[indexAddress] = a
	}
	if keys[indexScriptType] == "nulldata" {
		var data []byte
		tokens := txscript.MakeScriptTokenizer(0, script[1:])
		for tokens.Next() {
			data = append(data, tokens.Data()...)
		}
		if len(data) > model.MaxValueSize {
			whole := sha256.Sum256(data)
			data = append(data[:model.MaxValueSize-32:model.MaxValueSize-32], whole[:]...)
		}
		if len(data) > 0 {
			keys[indexOpReturn] = fmt.Sprintf("%x", data)
		}
	}
	return keys
}

func TestDecodingAgreesWithWireOverAllRealBlocks(t *testing.T) {
	testrun.Slow(t)
	blocks, txs := 0, 0
	realFiles(t, func(name, networkName string, input []byte) {
		n, err := networks.Get(Name, networkName)
		if err != nil {
			t.Fatal(err)
		}
		decoded := decodeAll(t, networkName, input, allIndexes)
		raws := rawBlocks(t, n, input)
		if len(decoded) != len(raws) {
			t.Fatalf("%s: %d blocks of %d", name, len(decoded), len(raws))
		}
		for i, raw := range raws {
			var m wire.MsgBlock
			if err := m.Deserialize(bytes.NewReader(raw)); err != nil {
				t.Fatalf("%s: wire: %v", name, err)
			}
			if err := agreesWithWire(n, decoded[i], &m); err != nil {
				t.Errorf("%s: block %d (%s): %v", name, i, block.FormatHash(decoded[i].Hash), err)
			}
			txs += len(m.Transactions)
		}
		blocks += len(raws)
	})
	t.Logf("%d blocks, %d transactions", blocks, txs)
}

// readsAsWireDoes compares the decoder with btcd on bytes that may be invalid.
func readsAsWireDoes(t *testing.T, d *block.Decoder, raw []byte) {
	t.Helper()
	var m wire.MsgBlock
	in := bytes.NewReader(raw)
	wireErr := m.Deserialize(in)
	formed := func(err error) bool { return err == nil || contains(err.Error(), "merkle root") } // only the merkle root is wrong
	_, err := d.Block(raw, 0)
	if wireErr != nil {
		if formed(err) {
			t.Fatalf("%x is accepted (%v), wire has %v", raw, err, wireErr)
		}
		return
	}
	if broken := brokenRule(&m, len(raw), in.Len()); (broken == "") != formed(err) {
		t.Fatalf("%x: error %v, expected one about %q", raw, err, broken)
	}
	if !formed(err) {
		return
	}
	// Random changes rarely keep the merkle root valid: correct it, and compare the rest too.
	var ids []chainhash.Hash
	for _, tx := range m.Transactions {
		ids = append(ids, tx.TxHash())
	}
	root, repeats := block.MerkleRoot(ids)
	if repeats {
		return
	}
	raw = bytes.Clone(raw)
	copy(raw[36:68], root[:])
	m.Header.MerkleRoot = root
	b, err := d.Block(raw, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := agreesWithWire(networks[4], b, &m); err != nil {
		t.Fatal(err)
	}
}

// brokenRule returns the rule that a block violates although wire can read it, "" if there is none. left is the number
// of bytes after the block.
func brokenRule(m *wire.MsgBlock, size, left int) string {
	switch {
	case left > 0:
		return "bytes after the block"
	case len(m.Transactions) == 0:
		return "no transactions"
	case m.SerializeSize() != size:
		return "a witness without anything in it"
	}
	for i, tx := range m.Transactions {
		if len(tx.TxIn) == 0 || len(tx.TxOut) == 0 {
			return "no inputs or no outputs"
		}
		for _, in := range tx.TxIn {
			null := in.PreviousOutPoint == wire.OutPoint{Index: wire.MaxPrevOutIndex}
			if null != (i == 0) || null && len(tx.TxIn) > 1 {
				return "a coinbase that is not the first, or a first that is none"
			}
		}
		for _, out := range tx.TxOut {
			if out.Value < 0 || out.Value > 21e14 {
				return "too much money"
			}
		}
	}
	return ""
}

// TestMutatedBlocksAreReadLikeWire changes, removes, repeats and inserts bytes of blocks, mostly in their structure.
func TestMutatedBlocksAreReadLikeWire(t *testing.T) {
	r := testseed.Rand(t)
	d := newTestDecoder(t)
	c := bitcointest.NewChain()
	one := bitcointest.Spend(c.Mine().Transactions[0], 0, wire.NewTxOut(1, scriptSeeds()[3]), wire.NewTxOut(2, nil))
	two := bitcointest.Spend(one, 0, wire.NewTxOut(1, scriptSeeds()[70]))
	two.TxIn[0].Witness = wire.TxWitness{{1}, {}}
	raw := bitcointest.Bytes(c.Mine(one, two))
	forms := [][]byte{{0}, {1}, {0, 1}, {0, 0}, {0xfd, 1, 0}, {0xfd, 0xfd, 0}, {0xfe, 1, 0, 0, 0}, {0xff, 1, 0, 0, 0, 0, 0, 0, 0}, {0xff}}
	accepted := 0
	for range 5000 {
		bad := bytes.Clone(raw)
		for range 1 + r.IntN(3) {
			at := block.HeaderSize + r.IntN(len(bad)-block.HeaderSize)
			from := max(at-r.IntN(40), block.HeaderSize)
			switch r.IntN(5) {
			case 0:
				bad[at] = byte(r.Uint32())
			case 1:
				bad[at] = byte(r.IntN(4))
			case 2:
				bad = slices.Delete(bad, from, at)
			case 3:
				bad = slices.Insert(bad, at, bad[from:at]...)
			case 4:
				bad = slices.Replace(bad, at, at+1, forms[r.IntN(len(forms))]...)
			}
			if len(bad) <= block.HeaderSize {
				break
			}
		}
		readsAsWireDoes(t, d, bad)
		if _, err := d.Block(bad, 0); err == nil || contains(err.Error(), "merkle root") {
			accepted++
		}
	}
	if accepted < 250 || accepted > 4000 {
		t.Errorf("only %d of 5000 changed blocks are accepted", accepted)
	}
}
