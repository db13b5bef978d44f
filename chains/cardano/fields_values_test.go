package cardano

import (
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

// saying returns mainnet with an index of the expression, many-valued if its value is a list.
func saying(t testing.TB, expression string) *chain {
	t.Helper()
	c := defined(t, "mainnet")
	d := model.Definition{Name: "said", Value: expression}
	own, err := c.Define([]model.Definition{d})
	if err != nil {
		d.Kind = model.ManyValued
		own = defined(t, "mainnet", d)
	}
	return own.(*chain)
}

// said returns the formatted values of the last index of an output.
func (c *chain) said(o *model.Output) string {
	var all []string
	for _, k := range o.Keys {
		all = append(all, c.Indexes()[len(c.Indexes())-1].Format(k.Value))
	}
	return strings.Join(all, ", ")
}

func TestTxFields(t *testing.T) {
	in := list{list{filled(32, 0xaa), 3}, list{filled(32, 0xab), 4}}
	first := txBody(dict{
		0: in, 3: 900, 8: 100, 14: tagged(258, list{filled(28, 1), filled(28, 2)}), 18: list{list{filled(32, 0xac), 5}},
		9: dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): -7}, cbor.ByteString(policyB): dict{cbor.ByteString(""): uint64(1<<63 - 1)}},
		1: list{list{someAddress, 5}, dict{0: someAddress, 1: list{uint64(1<<64 - 1), dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1, cbor.ByteString("y"): uint64(1<<64 - 1)}}}}},
	})
	failing := txBody(dict{13: list{list{filled(32, 0xbb), 2}}, 16: dict{0: someAddress, 1: 1_000_000}, 17: 300_000, 9: dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1}}})
	metadata := dict{721: dict{"a": list{1}, "version": 2}, 674: dict{"msg": list{"hello", "world"}}, uint64(1 << 63): 0}
	block := handmade(t, ledger.EraConway, list{first, failing, txBody(nil)}, list{dict{}, dict{0: list{}}, dict{}}, dict{
		0: metadata, 1: list{dict{1: "in an array"}, list{}}, 2: tagged(259, dict{1: list{}, 0: dict{2: "in a tagged map"}}),
	}, list{1})
	hash := blake2b.Sum256(raw(t, first))
	a, b := hex.EncodeToString(policyA), hex.EncodeToString(policyB)
	for _, c := range []struct {
		expression string
		tx, output int
		want       string
	}{
		{"tx.hash", 0, 0, hex.EncodeToString(hash[:])},
		{"tx.index", 0, 0, "0"},
		{"tx.index", 1, 0, "1"},
		{"tx.fee", 0, 0, "170000"},
		{"tx.fee", 1, 0, "300000"},
		{"tx.valid", 0, 0, "true"},
		{"tx.valid", 1, 0, "false"},
		{"tx.input_count", 0, 0, "2"},
		{"tx.output_count", 0, 0, "2"},
		{"tx.output_count", 1, 0, "1"},
		{"map(tx.inputs, .tx)", 0, 0, strings.Repeat("aa", 32) + ", " + strings.Repeat("ab", 32)},
		{"map(tx.inputs, .index)", 0, 1, "3, 4"},
		{"map(tx.inputs, .index)", 1, 0, "2"},
		{"map(tx.reference_inputs, .tx)", 0, 0, strings.Repeat("ac", 32)},
		{"map(tx.reference_inputs, .index)", 0, 0, "5"},
		{"map(tx.reference_inputs, .index)", 2, 0, ""},
		{"map(tx.mints, .id)", 0, 0, a + "78, " + b},
		{"map(tx.mints, .policy)", 0, 0, a + ", " + b},
		{"map(tx.mints, .name)", 0, 0, "78"},
		{"map(tx.mints, .amount)", 0, 0, "-7, 9223372036854775807"},
		{"map(tx.mints, .amount)", 1, 0, ""},
		{"tx.required_signers", 0, 0, strings.Repeat("01", 28) + ", " + strings.Repeat("02", 28)},
		{"tx.required_signers", 1, 0, ""},
		{"tx.valid_from", 0, 0, "100"},
		{"tx.valid_to", 0, 0, "900"},
		{"tx.valid_to", 2, 0, "0"},
		{"tx.metadata_labels", 0, 0, "674, 721"},
		{"tx.metadata_labels", 1, 0, "1"},
		{"tx.metadata_labels", 2, 0, "2"},
		{"tx.metadata[1]", 1, 0, "in an array"},
		{"tx.metadata[2]", 2, 0, "in a tagged map"},
		{"tx.metadata[674].msg[1]", 0, 1, "world"},
		{"tx.metadata[674].msg", 1, 0, ""},
		{"tx.metadata[721].version", 0, 0, "2"},
		{"tx.metadata[721].nothing.there", 0, 0, ""},
		{"tx.metadata_raw[2]", 2, 0, hex.EncodeToString(raw(t, "in a tagged map"))},
		{"674 in tx.metadata", 0, 0, "true"},
		{"674 in tx.metadata_labels", 1, 0, "false"},
		{"output.index", 0, 1, "1"},
		{"output.index", 1, 0, "1"},
		{"output.value", 0, 0, "5"},
		{"output.value", 0, 1, "9223372036854775807"},
		{"output.size", 0, 0, fmt.Sprint(len(raw(t, list{someAddress, 5})))},
		{"output.address_bytes", 0, 0, hex.EncodeToString(someAddress)},
		{"map(output.assets, .amount)", 0, 1, "1, 9223372036854775807"},
		{"map(output.assets, .name)", 0, 1, "78, 79"},
		{"map(output.assets, .id)", 0, 0, ""},
		{"block.height", 0, 0, "100"},
		{"block.slot", 0, 0, "7000"},
		{"block.epoch", 0, 0, "0"},
		{"block.time", 0, 0, fmt.Sprint(networkNamed(t, "mainnet").Time(7000))},
		{"block.era", 0, 0, "conway"},
		{"block.issuer", 0, 0, strings.Repeat("02", 32)},
		{"block.tx_count", 0, 0, "3"},
		{"block.size", 0, 0, fmt.Sprint(len(block) - 2)},
	} {
		chain := saying(t, c.expression)
		made, _, err := chain.decoderOf(t, "said").Block(block)
		if err != nil {
			t.Fatal(err)
		}
		if got := chain.said(&made.Txs[c.tx].Outputs[c.output]); got != c.want {
			t.Errorf("%s of output %d of transaction %d is %q, expected %q", c.expression, c.output, c.tx, got, c.want)
		}
	}
}

func TestOutputFields(t *testing.T) {
	native := raw(t, list{0, filled(28, 0x0e)})
	script := func(language int, code any) dict {
		return dict{0: someAddress, 1: 1, 3: tagged(24, []byte(raw(t, list{language, code})))}
	}
	datum := raw(t, tagged(121, list{42, []byte("x"), tagged(1280, list{})}))
	for _, c := range []struct {
		expression string
		output     any
		want       string
	}{
		{"output.script_language", script(0, native), "native"},
		{"output.script_language", script(3, []byte("code")), "plutus_v3"},
		{"output.script_language", script(4, []byte("code")), "plutus_v4"},
		{"output.script_language", list{someAddress, 1}, ""},
		{"output.script", script(0, native), hex.EncodeToString(native)},
		{"output.script", script(1, []byte("code")), hex.EncodeToString([]byte("code"))},
		{"output.script", dict{0: someAddress, 1: 1, 3: tagged(24, []byte{0x80})}, ""}, // an invalid script
		{"output.script_hash", dict{0: someAddress, 1: 1, 3: tagged(24, []byte{0x80})}, ""},
		{"output.script_hash", script(1, []byte("code")), hex.EncodeToString(address.Hash224([]byte("\x01code")))},
		{"output.datum", dict{0: someAddress, 1: 1, 2: list{1, tagged(24, []byte(datum))}}, hex.EncodeToString(datum)},
		{"output.datum", list{someAddress, 1, filled(32, 7)}, ""},
		{"output.datum_hash", list{someAddress, 1, filled(32, 7)}, strings.Repeat("07", 32)},
		{"output.datum_value.constructor", dict{0: someAddress, 1: 1, 2: list{1, tagged(24, []byte(datum))}}, "0"},
		{"output.datum_value.fields[0]", dict{0: someAddress, 1: 1, 2: list{1, tagged(24, []byte(datum))}}, "42"},
		{"text(output.datum_value.fields[1])", dict{0: someAddress, 1: 1, 2: list{1, tagged(24, []byte(datum))}}, "x"},
		{"output.datum_value.fields[2].constructor", dict{0: someAddress, 1: 1, 2: list{1, tagged(24, []byte(datum))}}, "7"},
		{"output.stake_credential", list{append([]byte{0x61}, filled(28, 1)...), 1}, ""},
		{"output.payment_credential", list{filled(40, 0x82), 1}, ""},
	} {
		chain := saying(t, c.expression)
		made, _, err := chain.decoderOf(t, "said").Block(oneOutput(t, c.output))
		if err != nil {
			t.Fatal(err)
		}
		if got := chain.said(&made.Txs[0].Outputs[0]); got != c.want {
			t.Errorf("%s is %q, expected %q", c.expression, got, c.want)
		}
	}
}

// A transaction's size is the length of its raw bytes, in every era.
func TestTxSizeIsTheLengthOfItsBytes(t *testing.T) {
	d := saying(t, "tx.size").decoderOf(t, "said")
	d.Raw = true
	for _, s := range singles(t) {
		b, _, err := d.Block(realFile(t, s.File))
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range b.Txs {
			if got := string(tx.Outputs[0].Keys[0].Value); got != fmt.Sprint(len(tx.Raw)) {
				t.Errorf("%s: transaction %s has %d bytes, the field has %s", s.File, tx.Hash, len(tx.Raw), got)
			}
		}
	}
}

// Outputs of the genesis have no block fields except the height.
func TestGenesisHasNoBlockFields(t *testing.T) {
	outputs, err := networkNamed(t, "mainnet").Outputs()
	if err != nil {
		t.Fatal(err)
	}
	for expression, want := range map[string]string{
		"block.height": "0", "block.hash": "", "block.time": "0", "block.era": "", "block.pool": "", "block.tx_count": "0",
		"tx.size": "0", "tx.input_count": "0", "tx.fee": "0", "tx.metadata_labels": "", "tx.valid_to": "0", "output.index": "0", "output.size": "0",
		"tx.hash": outputs[0].Tx.String(), "output.value": fmt.Sprint(outputs[0].Value), "output.address": address.Format(networkNamed(t, "mainnet").Network, outputs[0].Address),
	} {
		c := saying(t, expression)
		txs := c.decoderOf(t, "said").Genesis(outputs)
		if got := c.said(&txs[0].Outputs[0]); got != want {
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

// Values of custom indexes do not share memory with later blocks, and do not change other keys.
func TestCustomValuesAreOwnedByTheBlock(t *testing.T) {
	c := defined(t, "mainnet", everyField()...)
	d, plain := c.decoderOf(t), decodedAs(t, "mainnet", valueNames...)
	for _, file := range []string{"small_block.cbor", "avg_block.cbor"} {
		raw := realFile(t, "redbit", file)
		want, _, err := plain.Block(raw)
		if err != nil {
			t.Fatal(err)
		}
		buffer := slices.Clone(raw)
		b, _, err := d.Block(buffer)
		if err != nil {
			t.Fatal(err)
		}
		clear(buffer) // the buffer is reused
		if _, _, err := d.Block(oneOutput(t, list{someAddress, 1, filled(32, 7)})); err != nil {
			t.Fatal(err)
		}
		again, _, err := d.Clone().Block(raw)
		if err != nil || !reflect.DeepEqual(b, again) {
			t.Errorf("%s changes when its bytes are overwritten, %v", file, err)
		}
		for i := range b.Txs {
			for j := range b.Txs[i].Outputs {
				o := &b.Txs[i].Outputs[j]
				o.Keys = slices.DeleteFunc(slices.Clone(o.Keys), func(k model.Key) bool { return c.Indexes()[k.Index].Custom })
			}
		}
		if text(t, b) != text(t, want) {
			t.Errorf("%s differs in more than the custom indexes", file)
		}
	}
}

// Blocks from every source have the same values of custom indexes.
func TestCustomIndexesFromEverySource(t *testing.T) {
	c := defined(t, "preview", everyField()...)
	made := cardanogen.New(cardanogen.Options{Seed: 3, TxsPerBlock: 5, AllParts: true})
	var raws [][]byte
	for range 30 {
		raws = append(raws, made.Next().Raw)
	}
	d := c.decoderOf(t)
	var names []string
	for _, x := range c.Indexes() {
		names = append(names, x.Name)
	}
	var want []*model.Block
	values := 0
	for i, raw := range raws {
		b, _, err := d.Block(raw)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			outputs, err := c.net.Outputs()
			if err != nil {
				t.Fatal(err)
			}
			b.Genesis = c.decoderOf(t).Genesis(outputs)
		}
		for j := range b.Txs {
			for _, o := range b.Txs[j].Outputs {
				values += len(o.Keys)
			}
		}
		want = append(want, b)
	}
	if values < 1000 {
		t.Errorf("only %d values", values)
	}
	blocks, err := ouroborostest.Blocks(raws...)
	if err != nil {
		t.Fatal(err)
	}
	node := ouroborostest.Start(t, c.net.Magic, blocks)
	for _, uri := range []string{chunkOf(t, raws...), node.TCP(), node.Unix()} {
		src, err := c.Open(t.Context(), model.SourceOptions{URI: uri, Indexes: names})
		if err != nil {
			t.Fatal(err)
		}
		got := followed(t, src)
		if text(t, got) != text(t, want) {
			t.Errorf("%s returns different blocks", uri)
		}
		wantChildren(t, src, want, 7)
		if err := src.Close(); err != nil {
			t.Error(err)
		}
	}
	i := 0
	for b, err := range c.Decode(t.Context(), strings.NewReader(string(slices.Concat(raws...))), names, 0) {
		if err != nil {
			t.Fatal(err)
		}
		b.Genesis = want[i].Genesis
		if text(t, b) != text(t, want[i]) {
			t.Fatalf("block %d differs from the decoded one", i)
		}
		i++
	}
}
