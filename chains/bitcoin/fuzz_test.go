package bitcoin

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// FuzzBlock: the decoder never fails other than by an error, it accepts what btcd accepts but for what breaks a rule,
// and understands it as btcd does.
func FuzzBlock(f *testing.F) {
	f.Add(bitcointest.Bytes(genesis))
	c := bitcointest.NewChain()
	spend := bitcointest.Spend(c.Mine().Transactions[0], 0, wire.NewTxOut(1, scriptSeeds()[3]))
	f.Add(bitcointest.Bytes(c.Mine(spend)))
	spend = bitcointest.Spend(spend, 0, wire.NewTxOut(1, scriptSeeds()[70]), wire.NewTxOut(5, []byte{opReturn, 2, 3, 4}))
	spend.TxIn[0].Witness = wire.TxWitness{{1}, {}}
	f.Add(bitcointest.Bytes(c.Mine(spend)))
	f.Fuzz(func(t *testing.T, raw []byte) { readsAsWireDoes(t, newTestDecoder(t), raw) })
}

// FuzzBlockFile: in a file of any bytes there is an error, or records one behind the other, with proof of work.
func FuzzBlockFile(f *testing.F) {
	c := bitcointest.NewChain()
	c.MineEmpty(2)
	file := bitcointest.BlockFile(wire.TestNet, c.Blocks()...)
	f.Add(file, []byte(nil))
	f.Add(append(bytes.Clone(file), make([]byte, 20)...), make([]byte, xorKeySize))
	f.Add(append(bytes.Clone(file), "garbage"...), []byte(nil))
	f.Add(append(bytes.Clone(file[:500]), file[510:]...), []byte(nil))
	f.Add(file[:len(file)-3], []byte(nil))
	f.Add(append([]byte{0, 0, 0}, file...), []byte(nil))
	masked := bytes.Clone(file)
	unmask(masked, []byte("12345678"), 0)
	f.Add(masked, []byte("12345678"))
	f.Fuzz(func(t *testing.T, content, key []byte) {
		n := networks[4]
		r := recordReader{net: n, path: "blk00000.dat", key: key, file: bytes.NewReader(content), size: int64(len(content))}
		found, err := r.scan(0)
		if err == nil {
			err = found.cut
		}
		if err != nil {
			if kind, _ := model.KindOf(err); kind != model.BadSource || !contains(err.Error(), "blk00000.dat, offset") {
				t.Errorf("kind %d: %v", kind, err)
			}
		}
		d := newTestDecoder(t)
		end := int64(0)
		for _, rec := range found.records {
			if rec.offset < end+recordHead || rec.offset+int64(rec.size) > int64(len(content)) {
				t.Fatalf("record at %d of %d bytes, the one before ends at %d, the file at %d", rec.offset, rec.size, end, len(content))
			}
			end = rec.offset + int64(rec.size)
			raw := bytes.Clone(content[rec.offset:end])
			unmask(raw, key, rec.offset)
			if h := header(raw); h.hash() != rec.hash || n.checkWork(h, rec.hash) != nil {
				t.Fatalf("record at %d is %s", rec.offset, formatHash(rec.hash))
			}
			if b, err := d.block(raw, 0); err == nil && b.Hash != rec.hash {
				t.Fatalf("record at %d decodes to %s", rec.offset, formatHash(b.Hash))
			}
		}
		if end != found.end {
			t.Errorf("the records end at %d, the scan says %d", end, found.end)
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

// FuzzOwn: whatever stands in scripts and witnesses, the fields of users' indexes are read without a fault, those that
// the chain has as indexes agree with these, and the same bytes have the same values.
func FuzzOwn(f *testing.F) {
	envelope := append(append([]byte{0x20}, make([]byte, 32)...), "\xac\x00\x63\x03ord\x01\x01\x0atext/plain\x01\x02\x01\x05\x00\x02hi\x68"...)
	control := append([]byte{tapscriptLeaf}, make([]byte, 32)...)
	f.Add([]byte{opReturn, opRunestone, 2, 1, 2}, []byte{1, 2}, envelope, control)
	f.Add(envelope, []byte(nil), envelope[33:], append(control, control[1:]...))
	f.Add(envelope[:len(envelope)-2], []byte{0}, []byte{annexTag}, []byte{annexTag})
	for _, s := range scriptSeeds() {
		f.Add(s, s, s, s)
	}
	var ds []model.Definition
	for _, x := range networks[4].indexes() {
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
	d, err := newDecoder(chain.net, chain.defined, names)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, script, input, revealed, control []byte) {
		c := bitcointest.NewChain()
		tx := bitcointest.Spend(c.Mine().Transactions[0], 0, wire.NewTxOut(1, script), wire.NewTxOut(2, revealed))
		tx.TxIn[0].SignatureScript = input
		tx.TxIn[0].Witness = wire.TxWitness{script, revealed, control}
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 7}, input, wire.TxWitness{revealed, control, {annexTag}}))
		raw := bitcointest.Bytes(c.Mine(tx))
		b, err := d.block(raw, 2)
		if err != nil {
			t.Fatal(err)
		}
		before := fmt.Sprint(b.Txs)
		for j := range b.Txs[1].Outputs {
			values := shownValues(chain, names, &b.Txs[1].Outputs[j])
			for _, x := range allIndexes {
				if !slices.Equal(values[x], values["own_"+x]) {
					t.Errorf("script %x: %s is %q, its expression says %q", script, x, values[x], values["own_"+x])
				}
			}
		}
		again, err := d.block(raw, 2)
		if err != nil || fmt.Sprint(again.Txs) != before || fmt.Sprint(b.Txs) != before {
			t.Errorf("script %x: decoded again it is another block: %v", script, err)
		}
	})
}

// FuzzHashTx: bytes have a hash only where btcd reads a transaction that ends with them, and it is that one's.
func FuzzHashTx(f *testing.F) {
	for _, tx := range sample().Transactions {
		var b bytes.Buffer
		if err := tx.Serialize(&b); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := (&chain{}).HashTx(raw)
		if err != nil {
			return
		}
		var tx wire.MsgTx
		r := bytes.NewReader(raw)
		if err := tx.Deserialize(r); err != nil || r.Len() > 0 {
			t.Fatalf("%x has a hash, btcd says %v with %d bytes left", raw, err, r.Len())
		}
		if want := model.Hash(tx.TxHash()); got != want {
			t.Errorf("%x hashes to %s, btcd says %s", raw, formatHash(got), formatHash(want))
		}
	})
}
