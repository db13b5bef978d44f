package bitcoin

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/model"
)

func newBuffered(b []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(b)) }

// agreesWithWire compares a decoded block with what btcd makes of the same bytes.
func agreesWithWire(n *network, b *model.Block, m *wire.MsgBlock) error {
	switch {
	case b.Hash != model.Hash(m.BlockHash()):
		return fmt.Errorf("hash %s, wire says %s", formatHash(b.Hash), m.BlockHash())
	case b.Parent != model.Hash(m.Header.PrevBlock) || b.Time != m.Header.Timestamp.Unix() || b.Size != m.SerializeSize():
		return fmt.Errorf("parent %s time %d size %d, wire says %s %d %d",
			formatHash(b.Parent), b.Time, b.Size, m.Header.PrevBlock, m.Header.Timestamp.Unix(), m.SerializeSize())
	case len(b.Txs) != len(m.Transactions):
		return fmt.Errorf("%d transactions, wire says %d", len(b.Txs), len(m.Transactions))
	}
	h, err := parseHeader(b.Header)
	if err != nil {
		return err
	}
	if h.Version != m.Header.Version || h.Nonce != m.Header.Nonce || h.Bits != fmt.Sprintf("%08x", m.Header.Bits) ||
		h.MerkleRoot != m.Header.MerkleRoot.String() {
		return fmt.Errorf("header %+v, wire says %+v", h, m.Header)
	}
	for i := range b.Txs {
		if err := txAgrees(n, &b.Txs[i], m.Transactions[i], i == 0); err != nil {
			return fmt.Errorf("transaction %d: %w", i, err)
		}
	}
	return nil
}

func txAgrees(n *network, tx *model.Tx, m *wire.MsgTx, coinbase bool) error {
	if tx.Hash != model.Hash(m.TxHash()) {
		return fmt.Errorf("id %s, wire says %s", formatHash(tx.Hash), m.TxHash())
	}
	spends := m.TxIn
	if coinbase {
		spends = nil
	}
	if len(tx.Inputs) != len(spends) || len(tx.Outputs) != len(m.TxOut) {
		return fmt.Errorf("%d inputs and %d outputs, wire says %d and %d", len(tx.Inputs), len(tx.Outputs), len(spends), len(m.TxOut))
	}
	for i, in := range spends {
		if o := in.PreviousOutPoint; tx.Inputs[i].Tx != model.Hash(o.Hash) || tx.Inputs[i].Index != o.Index || tx.Inputs[i].Value != nil {
			return fmt.Errorf("input %d names %v, wire says %v", i, tx.Inputs[i], o)
		}
	}
	for i, out := range m.TxOut {
		if tx.Outputs[i].Value != uint64(out.Value) || tx.Outputs[i].Assets != nil {
			return fmt.Errorf("output %d has %d, wire says %d", i, tx.Outputs[i].Value, out.Value)
		}
		got, want := shownKeys(n, &tx.Outputs[i]), expectedKeys(n, out.PkScript)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			return fmt.Errorf("output %d, script %x: keys %v, expected %v", i, out.PkScript, got, want)
		}
	}
	return nil
}

// expectedKeys is what the indexes say of a script, made by other means: btcd's tokenizer, addresses and classes, and
// Core's rules where btcd's are narrower.
func expectedKeys(n *network, script []byte) map[string]string {
	sum := sha256.Sum256(script)
	keys := map[string]string{
		indexScriptHash: formatHash(sum),
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
	blocks, txs := 0, 0
	realFiles(t, func(name, networkName string, input []byte) {
		n, err := networkByName(networkName)
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
				t.Errorf("%s: block %d (%s): %v", name, i, formatHash(decoded[i].Hash), err)
			}
			txs += len(m.Transactions)
		}
		blocks += len(raws)
	})
	t.Logf("%d blocks, %d transactions", blocks, txs)
}
