package p2p

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/btcutil/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testnode/bitcointest"
)

// withWitness returns a block of three transactions, one of which has a witness.
func withWitness() *wire.MsgBlock { return spending(2).Blocks()[2] }

func TestBodiesOfBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *wire.MsgBlock)
		segwit bool
		says   string // "": valid
	}{
		"as it is":             {func(*wire.MsgBlock) {}, true, ""},
		"before segwit":        {func(*wire.MsgBlock) {}, false, ""},
		"a coinbase alone":     {func(b *wire.MsgBlock) { *b = *copyOf(spending(2).Blocks()[1]) }, true, ""},
		"a commitment alone":   {func(b *wire.MsgBlock) { strip(b) }, false, ""}, // as miners wrote it before activation
		"stripped of witness":  {func(b *wire.MsgBlock) { strip(b) }, true, "coinbase"},
		"no commitment":        {func(b *wire.MsgBlock) { b.Transactions[0].TxOut = b.Transactions[0].TxOut[:1]; bitcointest.Seal(b) }, true, "no witness commitment"},
		"no commitment before": {func(b *wire.MsgBlock) { b.Transactions[0].TxOut = b.Transactions[0].TxOut[:1]; bitcointest.Seal(b) }, false, "no witness commitment"},
		"another witness":      {func(b *wire.MsgBlock) { b.Transactions[1].TxIn[0].Witness[0] = []byte{9} }, false, "do not match the commitment in its coinbase"},
		"a short nonce":        {func(b *wire.MsgBlock) { b.Transactions[0].TxIn[0].Witness[0] = []byte{9} }, true, "witness nonce"},
		"another order":        {func(b *wire.MsgBlock) { x := b.Transactions; x[1], x[2] = x[2], x[1] }, true, "merkle root"},
		"one left out":         {func(b *wire.MsgBlock) { b.Transactions = b.Transactions[:2] }, true, "merkle root"},
		"one repeated":         {func(b *wire.MsgBlock) { b.Transactions = append(b.Transactions, b.Transactions[2]) }, true, "repeat"},
		"no coinbase":          {func(b *wire.MsgBlock) { b.Transactions = b.Transactions[1:]; bitcointest.Seal(b) }, true, "begin with a coinbase"},
		"nothing":              {func(b *wire.MsgBlock) { b.Transactions = nil }, true, "begin with a coinbase"},
	} {
		b := copyOf(withWitness())
		c.change(b)
		err := block.Bitcoin.CheckBody(bitcointest.Bytes(b), c.segwit, false)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, expected %q", name, err, c.says)
		}
	}
	b := withWitness()
	if err := block.Bitcoin.CheckBody(append(bitcointest.Bytes(b), 0), true, false); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("a byte more: %v", err)
	}
}

func strip(b *wire.MsgBlock) {
	for _, tx := range b.Transactions {
		tx.TxIn[0].Witness = nil
	}
}

// Any block of a peer is checked without a panic, and a block that passes is valid for btcd too.
func FuzzBody(f *testing.F) {
	f.Add(bitcointest.Bytes(withWitness()))
	f.Add(bitcointest.Bytes(bitcointest.NewChain().Tip()))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b wire.MsgBlock
		theirs := b.BtcDecode(bytes.NewBuffer(raw), wire.ProtocolVersion, wire.WitnessEncoding) == nil && len(b.Transactions) > 0
		if theirs {
			made := btcutil.NewBlock(&b)
			theirs = blockchain.IsCoinBase(made.Transactions()[0]) && b.SerializeSize() == len(raw) &&
				blockchain.CalcMerkleRoot(made.Transactions(), false) == b.Header.MerkleRoot &&
				blockchain.ValidateWitnessCommitment(made) == nil
		}
		if err := block.Bitcoin.CheckBody(raw, true, false); err == nil && !theirs {
			t.Error("btcd rejects it")
		}
	})
}
