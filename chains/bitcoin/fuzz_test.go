package bitcoin

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// FuzzBlock checks that the decoder does not panic, accepts what btcd accepts except for violated rules, and decodes it
// as btcd does.
func FuzzBlock(f *testing.F) {
	f.Add(bitcointest.Bytes(genesis))
	c := bitcointest.NewChain()
	spend := bitcointest.Spend(c.Mine().Transactions[0], 0, wire.NewTxOut(1, scriptSeeds()[3]))
	f.Add(bitcointest.Bytes(c.Mine(spend)))
	spend = bitcointest.Spend(spend, 0, wire.NewTxOut(1, scriptSeeds()[70]), wire.NewTxOut(5, []byte{block.OpReturn, 2, 3, 4}))
	spend.TxIn[0].Witness = wire.TxWitness{{1}, {}}
	f.Add(bitcointest.Bytes(c.Mine(spend)))
	f.Fuzz(func(t *testing.T, raw []byte) { readsAsWireDoes(t, newTestDecoder(t), raw) })
}

// FuzzDecode checks that an input in any format yields blocks or an error.
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

// FuzzOwn checks the fields of custom indexes with arbitrary scripts and witnesses: they evaluate without a panic,
// agree with the built-in indexes, and are deterministic.
func FuzzOwn(f *testing.F) {
	envelope := append(append([]byte{0x20}, bytes.Repeat([]byte{0}, 32)...), "\xac\x00\x63\x03ord\x01\x01\x0atext/plain\x01\x02\x01\x05\x00\x02hi\x68"...)
	control := append([]byte{0xc0}, bytes.Repeat([]byte{0}, 32)...)
	f.Add([]byte{block.OpReturn, 0x5d, 2, 1, 2}, []byte{1, 2}, envelope, control)
	f.Add(envelope, []byte(nil), envelope[33:], append(control, control[1:]...))
	f.Add(envelope[:len(envelope)-2], []byte{0}, []byte{0x50}, []byte{0x50})
	for _, s := range scriptSeeds() {
		f.Add(s, s, s, s)
	}
	var ds []model.Definition
	for _, x := range indexes(networks[4]) {
		ds = append(ds, model.Definition{Name: "own_" + x.Name, Value: x.Value})
	}
	for _, name := range []string{"inscriptions", "inputs", "outputs"} {
		for _, field := range map[string][]string{
			"inscriptions": {"content_type", "body", "parent", "delegate", "metadata", "metaprotocol", "content_encoding", "pointer", "number", "input"},
			"inputs":       {"tx", "index", "script", "pushes", "sequence", "witness", "revealed", "revealed_pushes", "keys"},
			"outputs":      {"value", "script", "data"},
		}[name] {
			ds = append(ds, model.Definition{Name: name + "_" + field, Kind: model.ManyValued, Value: "flatten(map(tx." + name + ", [." + field + "]))"})
		}
	}
	ds = append(ds, model.Definition{Name: "carried", Kind: model.ManyValued, Value: "map(output.inscriptions, .body)"},
		model.Definition{Name: "pushes", Kind: model.ManyValued, Value: "output.pushes"}, model.Definition{Name: "runestone", Value: "output.runestone"},
		model.Definition{Name: "rest", Value: "tx.hash + string(tx.weight) + block.hash + string(output.size)"})
	chain := define(f, "regtest", ds...)
	names := slices.Clone(allIndexes)
	for _, d := range ds {
		names = append(names, d.Name)
	}
	make, err := chain.decoders(names, false, nil)
	if err != nil {
		f.Fatal(err)
	}
	d := make()
	f.Fuzz(func(t *testing.T, script, input, revealed, control []byte) {
		c := bitcointest.NewChain()
		tx := bitcointest.Spend(c.Mine().Transactions[0], 0, wire.NewTxOut(1, script), wire.NewTxOut(2, revealed))
		tx.TxIn[0].SignatureScript = input
		tx.TxIn[0].Witness = wire.TxWitness{script, revealed, control}
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 7}, input, wire.TxWitness{revealed, control, {0x50}}))
		raw := bitcointest.Bytes(c.Mine(tx))
		b, err := d.Block(raw, 2)
		if err != nil {
			t.Fatal(err)
		}
		before := fmt.Sprint(b.Txs)
		for j := range b.Txs[1].Outputs {
			values := shownValues(chain, names, &b.Txs[1].Outputs[j])
			for _, x := range allIndexes {
				if !slices.Equal(values[x], values["own_"+x]) {
					t.Errorf("script %x: %s is %q, its expression has the value %q", script, x, values[x], values["own_"+x])
				}
			}
		}
		again, err := d.Block(raw, 2)
		if err != nil || fmt.Sprint(again.Txs) != before || fmt.Sprint(b.Txs) != before {
			t.Errorf("script %x: decoded again, the block differs: %v", script, err)
		}
	})
}

// FuzzHashTx checks that bytes have a transaction id only if btcd reads exactly one transaction from them, and that the
// ids agree.
func FuzzHashTx(f *testing.F) {
	for _, tx := range sample().Transactions {
		var b bytes.Buffer
		if err := tx.Serialize(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := mainnet.HashTx(raw)
		if err != nil {
			return
		}
		var tx wire.MsgTx
		r := bytes.NewReader(raw)
		if err := tx.Deserialize(r); err != nil || r.Len() > 0 {
			t.Fatalf("%x has a hash, btcd returns %v with %d bytes left", raw, err, r.Len())
		}
		if want := model.Hash(tx.TxHash()); got != want {
			t.Errorf("%x hashes to %s, expected %s", raw, block.FormatHash(got), block.FormatHash(want))
		}
	})
}
