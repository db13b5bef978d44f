package bitcoin

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// define returns Bitcoin on a network with custom indexes.
func define(t testing.TB, networkName string, ds ...model.Definition) *chain {
	t.Helper()
	c, err := New(networkName)
	if err != nil {
		t.Fatal(err)
	}
	defined, err := c.Define(ds)
	if err != nil {
		t.Fatal(err)
	}
	return defined.(*chain)
}

// decodeWith decodes an input with the given indexes of a chain.
func decodeWith(t testing.TB, c model.Chain, input []byte, indexes ...string) []*model.Block {
	t.Helper()
	var blocks []*model.Block
	for b, err := range c.Decode(t.Context(), bytes.NewReader(input), indexes, 0) {
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, b)
	}
	return blocks
}

// shownValues returns the formatted values of an output by index.
func shownValues(c model.Chain, indexes []string, o *model.Output) map[string][]string {
	offered := map[string]model.Index{}
	for _, x := range c.Indexes() {
		offered[x.Name] = x
	}
	values := map[string][]string{}
	for _, k := range o.Keys {
		x := offered[indexes[k.Index]]
		values[x.Name] = append(values[x.Name], x.Format(k.Value))
	}
	return values
}

// A custom index does not change the values of the others, whatever its position.
func TestCustomIndexesDoNotChangeBuiltinOnes(t *testing.T) {
	input := readData(t, "bitcoin-core", "block413567.raw")
	c := define(t, "mainnet", model.Definition{Name: "height", Value: "block.height"}, model.Definition{Name: "place", Value: "string(tx.index) + '/' + string(output.index)"})
	plain := decodeAll(t, "mainnet", input, allIndexes)
	names := append([]string{"place"}, append(allIndexes[:len(allIndexes):len(allIndexes)], "height")...)
	for n, b := range decodeWith(t, c, input, names...) {
		if b.Height == 0 {
			t.Fatal("the block has height 0")
		}
		for i := range b.Txs {
			for j := range b.Txs[i].Outputs {
				got := shownValues(c, names, &b.Txs[i].Outputs[j])
				want := shownValues(c, allIndexes, &plain[n].Txs[i].Outputs[j])
				want["place"], want["height"] = []string{fmt.Sprintf("%d/%d", i, j)}, []string{fmt.Sprint(b.Height)}
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("output %d/%d: %v, expected %v", i, j, got, want)
				}
			}
		}
	}
}

// exampleBlock returns the block from which the examples of the fields are taken.
func exampleBlock(t testing.TB) []byte {
	return readData(t, "converted", "redbit_huge_000000000000000000017bb9edb21a7a1e3a0ddd7e317c06932e8567ee420357.raw")
}

// BenchmarkOwn measures the cost of custom indexes when decoding a block of 9,890 outputs.
func BenchmarkOwn(b *testing.B) {
	raw := realBlock(b)
	for _, c := range []struct{ name, when, value string }{
		{"none", "", ""},
		{"memo", "output.script_type == 'op_return'", "output.data[0:4]"},
		{"omni", "output.data startsWith 'omni'", "output.data[4:8]"},
		{"address", "", "output.address"},
		{"value", "", "output.value"},
		{"runes", "output.runestone != nil", "output.runestone"},
		{"brc20", "output.index == 0 and json(tx.inscriptions[0].body).p == 'brc-20'", "json(tx.inscriptions[0].body).tick"},
		{"keys", "", "flatten(map(tx.inputs, .keys))"},
	} {
		b.Run(c.name, func(b *testing.B) {
			indexes, chain := []string{indexAddress}, define(b, "mainnet")
			if c.value != "" {
				d := model.Definition{Name: "own", When: c.when, Value: c.value}
				if c.name == "keys" {
					d.Kind = model.ManyValued
				}
				indexes, chain = append(indexes, "own"), define(b, "mainnet", d)
			}
			make, err := chain.decoders(indexes, false, nil)
			if err != nil {
				b.Fatal(err)
			}
			d := make()
			b.ReportAllocs()
			outputs := 0
			for b.Loop() {
				block, err := d.Block(raw, 0)
				if err != nil {
					b.Fatal(err)
				}
				for i := range block.Txs {
					outputs += len(block.Txs[i].Outputs)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(outputs), "ns/output")
		})
	}
}

// Every source, with any number of goroutines, and BlockAt return the same values as decoding.
func TestEverySourceComputesCustomIndexes(t *testing.T) {
	ds := []model.Definition{
		{Name: "at", Value: "string(block.height) + ':' + tx.hash + ':' + string(output.index)"},
		{Name: "paid", When: "output.value > 0", Value: "output.address"},
		{Name: "spends", Kind: model.ManyValued, Value: "map(tx.inputs, .tx)"},
	}
	names := []string{"at", indexAddress, "spends", "paid"}
	c := define(t, "regtest", ds...)
	chain := bitcointest.NewChain()
	for range 40 {
		from := chain.Mine().Transactions[0]
		chain.Mine(bitcointest.Spend(from, 0, wire.NewTxOut(1, chain.PayTo), wire.NewTxOut(0, []byte{block.OpReturn, 1, 7})))
	}
	file := bitcointest.BlockFile(wire.TestNet, chain.Blocks()...)
	want := decodeWith(t, c, file, names...)
	values := shownValues(c, names, &want[2].Txs[1].Outputs[0])
	if tx := want[2].Txs[1]; !reflect.DeepEqual(values["at"], []string{"2:" + block.FormatHash(tx.Hash) + ":0"}) || !reflect.DeepEqual(values["spends"], []string{block.FormatHash(tx.Inputs[0].Tx)}) || !reflect.DeepEqual(values["paid"], values[indexAddress]) {
		t.Fatalf("%v", values)
	}
	files, err := c.Open(t.Context(), model.SourceOptions{URI: "file://" + write(t, map[string][]byte{"blk00000.dat": file}), Indexes: names, Workers: 4})
	if err != nil {
		t.Fatal(err)
	}
	node, err := c.nodeSource("a node", nodeOf{chain}, model.SourceOptions{Indexes: names, Workers: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []model.Source{files, node} {
		got, _, err := collect(t, s)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%T: %d blocks, which differ, %v", s, len(got), err)
		}
		at, err := s.(model.BlockReader).BlockAt(t.Context(), 2)
		if err != nil || !reflect.DeepEqual(at, want[2]) {
			t.Errorf("%T: block 2 read separately: %+v, %v", s, at, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Open(t.Context(), model.SourceOptions{URI: "file://" + t.TempDir(), Indexes: []string{"nobody"}}); err == nil || !strings.Contains(err.Error(), "unknown index") {
		t.Errorf("an index without a definition: %v", err)
	}
}

// The lists of one transaction have a limit of entries, whatever the size of the transaction.
func TestListsOfAHugeTransactionAreLimited(t *testing.T) {
	c := define(t, "regtest",
		model.Definition{Name: "inputs", Value: "string(tx.input_count) + '/' + string(len(tx.inputs))"},
		model.Definition{Name: "last", Value: "string(len(tx.inputs[255].pushes)) + '/' + string(len(tx.inputs[256].pushes)) + '/' + string(len(tx.inputs[257].script))"},
	)
	names := []string{"inputs", "last"}
	decoders, err := c.decoders(names, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := decoders()
	for _, want := range []struct {
		inputs, script int
		values         []string
	}{
		{300, block.MaxEntries, []string{"300/300", "16384/0/16384"}},
		{maxListed + 5, 0, []string{"1048581/1048576", "0/0/0"}},
		{300, 20, []string{"300/300", "20/20/20"}},
	} {
		tx := wire.NewMsgTx(1)
		script := bytes.Repeat([]byte{0}, want.script) // pushes without bytes
		for i := range want.inputs {
			tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Hash: chainhash.Hash{1}, Index: uint32(i)}, script, nil))
		}
		tx.AddTxOut(wire.NewTxOut(1, nil))
		var raw bytes.Buffer
		if err := tx.Serialize(&raw); err != nil {
			t.Fatal(err)
		}
		decoded, err := d.Tx(raw.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		values := shownValues(c, names, &decoded.Outputs[0])
		if got := append(values["inputs"], values["last"]...); !slices.Equal(got, want.values) {
			t.Errorf("%d inputs with scripts of %d bytes: %q, expected %q", want.inputs, want.script, got, want.values)
		}
	}
}
