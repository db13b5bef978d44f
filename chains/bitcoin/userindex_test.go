package bitcoin

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/indexexpr"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// define is Bitcoin on a network with indexes of a user's.
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

// decodeWith decodes an input with a chain's indexes.
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

// shownValues are the values that an output has of each index, as people see them.
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

// The expression of a chain's own index, defined by a user, has the values that the index has.
func TestOwnExpressionsAreTheNativeIndexes(t *testing.T) {
	c, err := New("mainnet")
	if err != nil {
		t.Fatal(err)
	}
	var ds []model.Definition
	var names []string
	for _, x := range c.Indexes() {
		ds = append(ds, model.Definition{Name: "own_" + x.Name, Kind: x.Kind, When: x.When, Value: x.Value})
		names = append(names, x.Name, "own_"+x.Name)
	}
	compared := map[string]int{}
	realFiles(t, func(file, network string, input []byte) {
		c := define(t, network, ds...)
		for _, b := range decodeWith(t, c, input, names...) {
			for i := range b.Txs {
				for j := range b.Txs[i].Outputs {
					values := shownValues(c, names, &b.Txs[i].Outputs[j])
					for _, d := range ds {
						native := strings.TrimPrefix(d.Name, "own_")
						if !reflect.DeepEqual(values[d.Name], values[native]) {
							t.Fatalf("%s: output %d/%d of block %d: %s is %q, %s is %q", file, i, j, b.Height, native, values[native], d.Name, values[d.Name])
						}
						compared[native] += len(values[native])
					}
				}
			}
		}
	})
	for _, d := range ds {
		if n := compared[strings.TrimPrefix(d.Name, "own_")]; n < 100 {
			t.Errorf("%s: only %d values were compared", d.Name, n)
		}
	}
}

// An index of a user's changes nothing in the others, wherever it stands among them.
func TestOwnIndexesLeaveTheOthersAlone(t *testing.T) {
	input := readData(t, "bitcoin-core", "block413567.raw")
	c := define(t, "mainnet", model.Definition{Name: "height", Value: "block.height"}, model.Definition{Name: "place", Value: "string(tx.index) + '/' + string(output.index)"})
	plain := decodeAll(t, "mainnet", input, allIndexes)
	names := append([]string{"place"}, append(allIndexes[:len(allIndexes):len(allIndexes)], "height")...)
	for n, b := range decodeWith(t, c, input, names...) {
		if b.Height == 0 {
			t.Fatal("a block of height 0")
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

// exampleBlock is the block that the examples of the fields are taken from, and its network.
func exampleBlock(t testing.TB) []byte {
	return readData(t, "converted", "redbit_huge_000000000000000000017bb9edb21a7a1e3a0ddd7e317c06932e8567ee420357.raw")
}

// Every field computes; its example is its value somewhere in a real block.
func TestExamplesOfFieldsAreReal(t *testing.T) {
	input := exampleBlock(t)
	var ds []model.Definition
	var names []string
	var fields []indexexpr.Field
	for _, f := range language.Fields() {
		if strings.HasPrefix(f.Type, "list of entries") {
			continue
		}
		value, kind := f.Name, model.OneToMany
		if list, entry, found := strings.Cut(f.Name, "[]."); found {
			value, kind = "map("+list+", ."+entry+")", model.ManyValued
			if strings.HasPrefix(f.Type, "list") {
				value = "flatten(" + value + ")"
			}
		} else if strings.HasPrefix(f.Type, "list") {
			kind = model.ManyValued
		}
		d := model.Definition{Name: fmt.Sprintf("field_%d", len(ds)), Kind: kind, Value: value}
		ds, names, fields = append(ds, d), append(names, d.Name), append(fields, f)
	}
	c := define(t, "mainnet", ds...)
	found := map[string]map[string]bool{}
	offered := c.Indexes()[len(allIndexes):]
	for _, b := range decodeWith(t, c, input, names...) {
		for i := range b.Txs {
			for j := range b.Txs[i].Outputs {
				for _, k := range b.Txs[i].Outputs[j].Keys {
					// The inscriptions of scripts are of the same make, and another chain's.
					name := strings.Replace(fields[k.Index].Name, "tx.inscriptions", "output.inscriptions", 1)
					if found[name] == nil {
						found[name] = map[string]bool{}
					}
					found[name][offered[k.Index].Format(k.Value)] = true
				}
			}
		}
	}
	for _, f := range fields {
		name := strings.Replace(f.Name, "tx.inscriptions", "output.inscriptions", 1)
		if f.Example != "" && !found[name][f.Example] {
			t.Errorf("%s is never %q in block 908244, but %d other values", f.Name, f.Example, len(found[name]))
		}
		if f.Example == "" && len(found[name]) > 0 {
			t.Errorf("%s has no example", f.Name)
		}
	}
}

// BenchmarkOwn is what indexes of a user's add to decoding a block of 9,890 outputs.
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
			make, err := chain.decoders(indexes, false)
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

// Every source, on any number of goroutines, and a single block of it give what decoding gives.
func TestEverySourceKnowsOwnIndexes(t *testing.T) {
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
			t.Errorf("%T: %d blocks are others, %v", s, len(got), err)
		}
		at, err := s.(model.BlockReader).BlockAt(t.Context(), 2)
		if err != nil || !reflect.DeepEqual(at, want[2]) {
			t.Errorf("%T: block 2 by itself: %+v, %v", s, at, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := c.Open(t.Context(), model.SourceOptions{URI: "file://" + t.TempDir(), Indexes: []string{"nobody"}}); err == nil || !strings.Contains(err.Error(), "unknown index") {
		t.Errorf("an index that was not defined: %v", err)
	}
}
