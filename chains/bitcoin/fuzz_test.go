package bitcoin

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/bitcointest"
	"birthmark/model"
)

// FuzzBlock: the decoder never fails other than by an error, and what it accepts it understands as btcd does.
func FuzzBlock(f *testing.F) {
	f.Add(bitcointest.Bytes(genesis))
	c := bitcointest.NewChain()
	spend := bitcointest.Spend(c.Mine().Transactions[0], 0, wire.NewTxOut(1, scriptSeeds()[3]))
	f.Add(bitcointest.Bytes(c.Mine(spend)))
	spend = bitcointest.Spend(spend, 0, wire.NewTxOut(1, scriptSeeds()[70]), wire.NewTxOut(5, []byte{opReturn, 2, 3, 4}))
	spend.TxIn[0].Witness = wire.TxWitness{{1}, {}}
	f.Add(bitcointest.Bytes(c.Mine(spend)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		d := newTestDecoder(t)
		if _, err := d.measure(raw); err != nil {
			return
		}
		// A merkle root is hard to guess: it is put right, and everything behind it is tried as well.
		var b model.Block
		sizes, _ := d.measure(raw)
		d.fill(&b, raw, sizes)
		root, err := d.merkleRoot(b.Txs)
		if err != nil {
			return
		}
		raw = bytes.Clone(raw)
		copy(raw[36:68], root[:])
		block, err := d.block(raw, 0)
		if err != nil {
			t.Fatal(err)
		}
		var m wire.MsgBlock
		if m.Deserialize(bytes.NewReader(raw)) != nil {
			return // wire has limits of its own
		}
		if err := agreesWithWire(d.net, block, &m); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzBlockFile: a block file of any bytes is an error or a chain that begins with genesis, and never more.
func FuzzBlockFile(f *testing.F) {
	c := bitcointest.NewChain()
	c.MineEmpty(2)
	file := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	f.Add(file, []byte(nil))
	f.Add(append(bytes.Clone(file), make([]byte, 20)...), []byte("\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add(file[:len(file)-3], []byte(nil))
	f.Add(append([]byte{0, 0, 0}, file...), []byte(nil))
	masked := bytes.Clone(file)
	unmask(masked, []byte("12345678"), 0)
	f.Add(masked, []byte("12345678"))
	f.Fuzz(func(t *testing.T, content, key []byte) {
		logged(t)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "blk00000.dat"), content, 0o600); err != nil {
			t.Fatal(err)
		}
		if key != nil {
			if err := os.WriteFile(filepath.Join(dir, "xor.dat"), key, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s, err := open(t, "regtest", dir)
		if err != nil {
			if kind, _ := model.KindOf(err); kind != model.BadSource {
				t.Errorf("kind %d: %v", kind, err)
			}
			return
		}
		blocks, rollbacks, err := collect(t, s)
		if kind, _ := model.KindOf(err); err != nil && kind != model.BadSource {
			t.Errorf("kind %d: %v", kind, err)
		}
		if len(rollbacks) != 0 || len(blocks) > 0 && blocks[0].Hash != s.net.genesis {
			t.Errorf("%d rollbacks, first block %v", len(rollbacks), blocks)
		}
	})
}

// FuzzDecode: an input of any form is blocks or an error.
func FuzzDecode(f *testing.F) {
	raw := bitcointest.Bytes(genesis)
	f.Add(raw)
	f.Add(bitcointest.BlockFile(wire.TestNet, genesis, genesis))
	f.Add([]byte("0100"))
	f.Add([]byte(`["00",{"result":{"version":1,"bits":"207fffff","merkleroot":"00","tx":[{"hex":"00"}]}}]`))
	f.Fuzz(func(t *testing.T, input []byte) {
		blocks, err := tryDecode(t, "regtest", input, allIndexes)
		if err == nil && len(blocks) == 0 {
			t.Errorf("%q: neither blocks nor an error", input)
		}
		if kind, _ := model.KindOf(err); err != nil && kind != model.BadSource {
			t.Errorf("kind %d: %v", kind, err)
		}
	})
}
