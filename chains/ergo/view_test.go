package ergo

import (
	"encoding/hex"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/generate/ergogen"
	"birthmark/chains/ergo/sigma"
	"birthmark/internal/testnode/ergotest"
	"birthmark/model"
)

// saying returns a decoder of mainnet for an index of the expression, many-valued if it is a list.
func saying(t testing.TB, expression string) (*decoder, model.Index) {
	t.Helper()
	d := model.Definition{Name: "said", Value: expression}
	c, err := defined(t).Define([]model.Definition{d})
	if err != nil {
		d.Kind = model.ManyValued
		c = defined(t, d)
	}
	made, err := newDecoder(c.(*chain), []string{"said"})
	if err != nil {
		t.Fatal(err)
	}
	indexes := c.Indexes()
	return made, indexes[len(indexes)-1]
}

// said returns the formatted values of a box with one index.
func said(x model.Index, o *model.Output) string {
	var all []string
	for _, k := range o.Keys {
		all = append(all, x.Format(k.Value))
	}
	return strings.Join(all, ", ")
}

func TestFieldsOfExpressions(t *testing.T) {
	tx, mints := aTx(), sigma.Tx{
		Inputs: []sigma.Input{{Box: sigma.ID{30}}},
		Outputs: []sigma.Box{
			{Value: 1, Tree: aTree, Tokens: []sigma.Token{{ID: sigma.ID{30}, Amount: 1<<63 - 1}}, Registers: [][]byte{
				[]byte("\x0e\x04name"), []byte("\x0e\x04what"), []byte("\x0e\x012"), {0x11, 2, 2, 4}, {0x01, 1}, append([]byte{0x08, 0xcd, 2}, make([]byte, 32)...),
			}},
			{Value: 2, Tree: []byte{0x01, 0x02}, Tokens: []sigma.Token{{ID: sigma.ID{30}, Amount: 5}}, Registers: [][]byte{{0x63, 0}}},
		},
	}
	block := handmade(t, 2, tx, mints)
	raw := jsonOf(t, block)
	var e sigma.Encoder
	id, size := e.TxID(&tx), len(e.AppendTx(nil, &tx, true))
	zeros := strings.Repeat("00", 31)
	for _, c := range []struct {
		expression string
		tx, box    int
		want       string
	}{
		{"tx.hash", 0, 0, hexOf(id)},
		{"tx.index", 1, 0, "1"},
		{"tx.size", 0, 1, fmt.Sprint(size)},
		{"tx.input_count", 0, 0, "2"},
		{"tx.output_count", 0, 0, "2"},
		{"tx.inputs", 0, 0, "0a" + zeros + ", 0b" + zeros},
		{"tx.data_inputs", 0, 0, "0c" + zeros},
		{"tx.data_inputs", 1, 0, ""},
		{"map(tx.mints, .id)", 0, 0, ""},
		{"map(tx.mints, .id)", 1, 1, "1e" + zeros},
		{"map(tx.mints, .amount)", 1, 0, "9223372036854775807"},
		{"map(tx.mints, .name)", 1, 0, "name"},
		{"map(tx.mints, .description)", 1, 0, "what"},
		{"map(tx.mints, .decimals)", 1, 0, "2"},
		{"output.index", 0, 1, "1"},
		{"output.value", 0, 1, "9223372036854775807"},
		{"output.size", 0, 0, fmt.Sprint(len(tx.Outputs[0].AppendTo(nil, &id, 0)))},
		{"output.box_id", 0, 1, hexOf(tx.Outputs[1].ID(&id, 1))},
		{"output.ergo_tree", 1, 1, "0102"},
		{"output.ergo_tree_hash", 1, 1, blake2bHex([]byte{1, 2})},
		{"output.ergo_tree_template_hash", 1, 1, ""},
		{"output.ergo_tree_template_hash", 1, 0, sha256Hex(aTree[1:])},
		{"output.creation_height", 0, 0, "70"},
		{"map(output.assets, .id)", 0, 0, "14" + zeros + ", 15" + zeros},
		{"map(output.assets, .amount)", 0, 0, "3, 9223372036854775807, 4"},
		{"output.registers.R4", 0, 1, "0e0141"},
		{"output.registers.R4", 0, 0, ""},
		{"output.registers['R5']", 0, 1, "0402"},
		{"output.registers.R6", 0, 1, ""},
		{"'R9' in output.registers", 1, 0, "true"},
		{"'R9' in output.registers", 1, 1, "false"},
		{"output.register_texts", 0, 1, "R4:0e0141, R5:0402"},
		{"text(output.values.R4)", 1, 0, "name"},
		{"output.values.R4", 1, 0, hex.EncodeToString([]byte("name"))},
		{"output.values.R5", 0, 1, "1"},
		{"output.values.R7[1]", 1, 0, "2"},
		{"output.values.R7", 1, 0, ""}, // a list is not a value
		{"output.values.R8", 1, 0, "true"},
		{"output.values.R9", 1, 0, "02" + strings.Repeat("00", 32)},
		{"output.values.R4", 1, 1, ""},
		{"output.registers.R4", 1, 1, "6300"},
		{"block.height", 0, 0, "77"},
		{"block.time", 0, 0, "1700000000"},
		{"block.size", 0, 0, "1234"},
		{"block.version", 0, 0, "2"},
		{"block.difficulty", 0, 0, fmt.Sprint((&sigma.Header{NBits: 117846489}).Difficulty())},
		{"block.hash", 0, 0, fmt.Sprint(block["header"].(object)["id"])},
		{"block.miner_key", 0, 0, "0209" + zeros},
		{"block.votes", 0, 0, "040300"},
		{"block.tx_count", 1, 1, "2"},
	} {
		d, x := saying(t, c.expression)
		b, err := d.block(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := said(x, &b.Txs[c.tx].Outputs[c.box]); got != c.want {
			t.Errorf("%s of box %d of transaction %d is %q, expected %q", c.expression, c.box, c.tx, got, c.want)
		}
	}
}

// Outputs of the genesis are not in a block, even if the decoder decoded a block before.
func TestTheGenesisHasNoBlockFields(t *testing.T) {
	for expression, want := range map[string]string{
		"block.height": "0", "block.hash": "", "block.time": "0", "block.tx_count": "0", "block.difficulty": "0", "block.votes": "",
		"tx.size": "0", "tx.hash": strings.Repeat("00", 32), "tx.input_count": "0", "output.index": "1", "output.creation_height": "0",
	} {
		d, x := saying(t, expression)
		if _, err := d.block(jsonOf(t, handmade(t, 2, aTx()))); err != nil {
			t.Fatal(err)
		}
		txs, err := d.genesis(networks[0].genesisBoxes())
		if err != nil {
			t.Fatal(err)
		}
		if got := said(x, &txs[0].Outputs[1]); got != want {
			t.Errorf("%s is %q in the genesis, expected %q", expression, got, want)
		}
	}
}

// everyField returns an index for every field, including fields of list elements.
func everyField() (ds []model.Definition) {
	for i, f := range language.Fields() {
		d := model.Definition{Name: fmt.Sprintf("x%d", i), Value: f.Name}
		switch list, field, nested := strings.Cut(f.Name, "[]."); {
		case nested:
			d.Value, d.Kind = "map("+list+", ."+field+")", model.ManyValued
		case f.Type == "list of entries" || strings.HasPrefix(f.Type, "map"):
			d.Value = "len(" + f.Name + ")"
		case strings.HasPrefix(f.Type, "list"):
			d.Kind = model.ManyValued
		}
		ds = append(ds, d)
	}
	return ds
}

// Values of custom indexes do not change when other blocks are decoded, and do not change other values.
func TestDefinedValuesBelongToTheBlock(t *testing.T) {
	c := defined(t, everyField()...)
	d, err := newDecoder(c, c.all())
	if err != nil {
		t.Fatal(err)
	}
	plain := decoderAs(t, c.net, valueNames...)
	other := jsonOf(t, handmade(t, 1, aTx()))
	// Sorted by name, like the chain's indexes and unlike valueNames.
	name := func(k model.Key) string { return c.Indexes()[k.Index].Name + fmt.Sprintf(" %x", k.Value) }
	for _, raw := range modernBlocks(t)[:10] {
		want, err := plain.block(raw)
		if err != nil {
			t.Fatal(err)
		}
		b, err := d.block(raw)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.block(other); err != nil {
			t.Fatal(err)
		}
		again, err := d.clone().block(raw)
		if err != nil || !reflect.DeepEqual(b, again) {
			t.Errorf("block %s changes when the next one is decoded, %v", b.Hash, err)
		}
		for i := range b.Txs {
			for j := range b.Txs[i].Outputs {
				o, w := &b.Txs[i].Outputs[j], &want.Txs[i].Outputs[j]
				var got, expected []string
				for _, k := range o.Keys {
					if !c.Indexes()[k.Index].Custom {
						got = append(got, name(k))
					}
				}
				for _, k := range w.Keys {
					expected = append(expected, valueNames[k.Index]+fmt.Sprintf(" %x", k.Value))
				}
				slices.Sort(got)
				slices.Sort(expected)
				if !slices.Equal(got, expected) {
					t.Fatalf("box %d of %s has %v, without custom indexes %v", j, b.Txs[i].Hash, got, expected)
				}
				o.Keys, w.Keys = nil, nil
			}
		}
		if !reflect.DeepEqual(b, want) {
			t.Errorf("block %s differs in more than its keys", b.Hash)
		}
	}
}

// Every source returns the same values of custom indexes.
func TestDefinedIndexesComeFromEverySource(t *testing.T) {
	n, err := New("testnet")
	if err != nil {
		t.Fatal(err)
	}
	if n, err = n.Define(everyField()); err != nil {
		t.Fatal(err)
	}
	names := n.(*chain).all()
	blocks := ergotest.Made(ergogen.New(ergogen.Options{Seed: 9, TxsPerBlock: 6}), 20)
	var text strings.Builder
	for _, b := range blocks {
		text.Write(b.JSON)
		text.WriteByte('\n')
	}
	var want []*model.Block
	values := 0
	for b, err := range n.Decode(t.Context(), strings.NewReader(text.String()), names, 0) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Txs {
			for _, o := range b.Txs[i].Outputs {
				values += len(o.Keys)
			}
		}
		want = append(want, b)
	}
	if len(want) != len(blocks) || values < 1000 {
		t.Fatalf("%d blocks with %d values", len(want), values)
	}
	path := filepath.Join(t.TempDir(), "blocks.jsonl")
	if err := ergotest.WriteFile(path, blocks); err != nil {
		t.Fatal(err)
	}
	node := ergotest.New(ergotest.Options{Network: "testnet"})
	node.Extend(blocks...)
	var genesis []model.Tx
	for _, uri := range []string{"file://" + path, node.Start(t)} {
		src, err := n.Open(t.Context(), model.SourceOptions{URI: uri, Indexes: names})
		if err != nil {
			t.Fatal(err)
		}
		events, err := allOf(t, src)
		if err != nil || len(events) != len(want) {
			t.Fatalf("%s: %d events, %v", uri, len(events), err)
		}
		for i, e := range events {
			if i == 0 {
				if genesis == nil {
					genesis = e.Block.Genesis
				}
				if len(genesis) == 0 || !reflect.DeepEqual(e.Block.Genesis, genesis) {
					t.Errorf("%s returns a different genesis", uri)
				}
				e.Block.Genesis = nil
			}
			if !reflect.DeepEqual(e.Block, want[i]) {
				t.Errorf("%s: block %d differs", uri, e.Block.Height)
			}
		}
		b, err := src.(model.BlockReader).BlockAt(t.Context(), 5)
		if err != nil || !reflect.DeepEqual(b, want[4]) {
			t.Errorf("%s: block 5 read separately differs, %v", uri, err)
		}
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
}
