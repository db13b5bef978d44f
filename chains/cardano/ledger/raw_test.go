package ledger_test

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/cardanogen"
	walker "birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// Auxiliary data is assigned by the position in the block; failed scripts are listed in the block.
func TestRawTxsHaveTheirParts(t *testing.T) {
	bodies := list{txBody(dict{2: 1}), txBody(dict{2: 2}), txBody(dict{2: 3})}
	sets := list{dict{0: list{}}, dict{}, dict{1: list{}}}
	for era := ledger.EraShelley; era <= ledger.EraConway; era++ {
		for _, auxiliary := range []any{dict{2: dict{1: "two"}, 0: dict{1: "zero"}, 9: dict{}}, endless(t, 0xbf, 2, dict{1: "two"}, 0, dict{1: "zero"})} {
			segments := list{bodies, sets, auxiliary, endless(t, 0x9f, 2, 1)}
			if era < ledger.EraAlonzo {
				segments = segments[:3]
			}
			b := decoded(t, handmade(t, era, segments...))
			for i, data := range []any{dict{1: "zero"}, nil, dict{1: "two"}} {
				want := list{bodies[i], sets[i], i == 0, data}
				if era < ledger.EraAlonzo {
					want = list{bodies[i], sets[i], data}
				}
				if !bytes.Equal(b.Txs[i].Raw, raw(t, want)) {
					t.Errorf("%s: transaction %d is %x, expected %x", ledger.EraNames[era], i, b.Txs[i].Raw, raw(t, want))
				}
			}
		}
	}
}

func TestHashTxRejectsMalformedBytes(t *testing.T) {
	good := raw(t, list{txBody(nil), dict{}, true, nil})
	if _, err := ledger.HashTx(good); err != nil {
		t.Fatal(err)
	}
	for n := range good {
		if got, err := ledger.HashTx(good[:n]); err == nil {
			t.Fatalf("%d of %d bytes hash to %s", n, len(good), got)
		}
	}
	for name, bad := range map[string][]byte{"a byte too much": append(bytes.Clone(good), 0), "no array": raw(t, dict{}), "an empty array": raw(t, list{})} {
		if got, err := ledger.HashTx(bad); err == nil {
			t.Errorf("%s hashes to %s", name, got)
		}
	}
}

// The bytes of a transaction have the inputs and the outputs that its block has, all at once and each alone, also if its
// scripts failed.
func TestRawTxsHaveTheInputsAndOutputsOfTheBlock(t *testing.T) {
	c := cardanogen.New(cardanogen.Options{Seed: testseed.Of(t, 4), AllParts: true})
	var txs []model.Tx
	for c.Made().Txs < 500 {
		b, _, err := decoderOf(t, "preview").Block(c.Next().Raw)
		if err != nil {
			t.Fatal(err)
		}
		txs = append(txs, b.Txs...)
	}
	in := list{filled(32, 2), 7}
	two := list{list{someAddress, 5}, dict{0: someAddress, 1: 6, 2: list{0, filled(32, 3)}}}
	failing := txBody(dict{1: two, 13: list{in, list{filled(32, 1), 3}}, 16: list{someAddress, 4}})
	unpaid := txBody(dict{1: two, 13: list{in}}) // without a collateral return
	b := decoded(t, handmade(t, ledger.EraConway, list{txBody(dict{1: two}), failing, unpaid}, list{dict{}, dict{}, dict{}}, dict{}, list{1, 2}))
	txs = append(txs, b.Txs...)
	for i := range txs {
		tx := &txs[i]
		read, err := ledger.ReadRaw(tx.Raw)
		parts, err2 := ledger.ReadParts(tx.Raw)
		if err != nil || err2 != nil || !reflect.DeepEqual(parts.Parts, read.Parts) {
			t.Fatalf("%s: %v, %v", tx.Hash, err, err2)
		}
		inputs, err := parts.ReadInputs()
		if err != nil || fmt.Sprint(inputs) != fmt.Sprint(tx.Inputs) || fmt.Sprint(read.Inputs) != fmt.Sprint(tx.Inputs) {
			t.Errorf("%s: the inputs %v, %v and %v: %v", tx.Hash, inputs, read.Inputs, tx.Inputs, err)
		}
		outputs, err := parts.ReadOutputs()
		if err != nil || len(outputs) != len(tx.Outputs) || !reflect.DeepEqual(outputs, read.Outputs) {
			t.Errorf("%s: %d outputs of %d: %v", tx.Hash, len(outputs), len(tx.Outputs), err)
		}
		for n := range len(outputs) + 2 {
			one, err := parts.ReadOutput(n)
			if err != nil || (one == nil) != (n >= len(outputs)) {
				t.Fatalf("%s: output %d of %d is %v: %v", tx.Hash, n, len(outputs), one, err)
			}
			if one == nil {
				continue
			}
			if !reflect.DeepEqual(one, &outputs[n]) || one.Value != tx.Outputs[n].Value || !bytes.Equal(one.Address, tx.Outputs[n].Keys[0].Value) {
				t.Errorf("%s: output %d is %+v, expected %+v", tx.Hash, n, one, tx.Outputs[n])
			}
		}
		alone, err := decoderOf(t, "preview").Tx(tx.Raw)
		if err != nil || alone.Hash != tx.Hash || !reflect.DeepEqual(alone.Inputs, tx.Inputs) || !reflect.DeepEqual(alone.Mints, tx.Mints) || alone.Fee != tx.Fee {
			t.Errorf("%s outside of its block: %+v, %v", tx.Hash, alone, err)
		}
	}
}

// The size of an output is that of its bytes, whatever its form.
func TestOutputsHaveTheirSizes(t *testing.T) {
	for _, o := range []any{
		list{someAddress, 5}, list{someAddress, 5, filled(32, 3)}, list{someAddress, list{5, dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1}}}},
		dict{0: someAddress, 1: 6}, dict{0: someAddress, 1: 6, 2: list{0, filled(32, 3)}}, dict{0: someAddress, 1: 6, 2: list{1, tagged(24, []byte{1})}},
	} {
		encoded := raw(t, o)
		got, err := ledger.ReadOutput(encoded)
		if err != nil || got.Size != len(encoded) || !bytes.Equal(got.Address, someAddress) || got.Value < 5 {
			t.Errorf("%x: %+v, %v", encoded, got, err)
		}
		for n := range encoded {
			if got, err := ledger.ReadOutput(encoded[:n]); err == nil {
				t.Errorf("%d of %d bytes are %+v", n, len(encoded), got)
			}
		}
	}
	if _, err := (&ledger.RawTx{}).ReadOutputs(); err != nil {
		t.Errorf("a transaction of Byron: %v", err)
	}
}

// Metadata is that of each form of auxiliary data, up to a fault.
func TestFormsOfAuxiliaryData(t *testing.T) {
	metadata := endless(t, 0xbf, 5, "a", uint64(1<<64-1), 7, 5, "b")
	for name, c := range map[string]struct {
		auxiliary any
		want      string
	}{
		"a map":             {metadata, "5:6162 18446744073709551615:07 "},
		"an array":          {list{metadata, list{}}, "5:6162 18446744073709551615:07 "},
		"a tagged map":      {tagged(259, dict{0: metadata, 1: list{}}), "5:6162 18446744073709551615:07 "},
		"without metadata":  {tagged(259, dict{1: list{}}), ""},
		"another tag":       {tagged(258, dict{0: metadata}), ""},
		"a tagged array":    {tagged(259, list{metadata}), ""},
		"a number":          {5, ""},
		"an array of other": {list{5}, ""},
		"a text as a label": {endless(t, 0xbf, 1, 2, "x", 3, 4, 5), "1:02 "},
	} {
		got := ""
		for label, item := range ledger.Metadata(raw(t, c.auxiliary)) {
			got += fmt.Sprintf("%d:%x ", label, item)
		}
		if got != c.want {
			t.Errorf("%s: %q, expected %q", name, got, c.want)
		}
		for label := range ledger.Metadata(raw(t, c.auxiliary)) { // a consumer can stop
			if !strings.HasPrefix(c.want, fmt.Sprint(label)) {
				t.Errorf("%s: the first label is %d", name, label)
			}
			break
		}
	}
}

// A reference script is its language and its code, which is an item for native scripts and bytes for others.
func TestReferenceScripts(t *testing.T) {
	for _, c := range []struct {
		script     any
		name, code string
	}{
		{list{0, list{0, filled(1, 7)}}, "native", "82004107"},
		{list{1, []byte("x")}, "plutus_v1", "78"}, {list{4, []byte("x")}, "plutus_v4", "78"}, {list{5, []byte("x")}, "plutus_v5", "78"},
		{list{255, []byte("x")}, "plutus_v255", "78"},
		{list{256, []byte("x")}, "", ""}, {list{1, list{}}, "", ""}, {list{1}, "", ""}, {list{1, []byte("x"), 1}, "", ""}, {5, "", ""},
	} {
		s, err := ledger.ParseScript(&walker.Walker{}, raw(t, c.script))
		if (err != nil) != (c.name == "") || s.LanguageName() != c.name || fmt.Sprintf("%x", s.Code) != c.code {
			t.Errorf("%v is %s %x: %v", c.script, s.LanguageName(), s.Code, err)
		}
	}
}

// Reading stops at a malformed part.
func TestMalformedWitnessesAndSets(t *testing.T) {
	a, b := list{filled(32, 2), 1}, list{filled(32, 1), 0}
	inputs := ledger.Outpoints(raw(t, list{a, b, list{filled(31, 1), 0}, a}))
	if len(inputs) != 2 || inputs[0].Index != 1 {
		t.Errorf("%v", inputs)
	}
	if ledger.SortInputs(inputs); inputs[0].Index != 0 || ledger.CompareInputs(inputs[0], inputs[1]) >= 0 {
		t.Errorf("sorted: %v", inputs)
	}
	if hashes, err := ledger.Hashes(raw(t, tagged(258, list{filled(28, 1), filled(28, 2), filled(28, 1)}))); err != nil || len(hashes) != 2 {
		t.Errorf("%x, %v", hashes, err)
	}
	if hashes, err := ledger.Hashes(raw(t, list{filled(28, 1), filled(27, 2)})); err == nil || len(hashes) != 1 {
		t.Errorf("%x, %v", hashes, err)
	}
	units := list{10, 20}
	w := ledger.ReadWitnesses(raw(t, dict{
		1: list{list{0, filled(28, 1)}}, 3: list{[]byte("one"), 5, []byte("two")}, 4: list{7}, 6: list{[]byte("v2")}, 7: list{[]byte("v3")},
		5: list{list{0, 2, 8, units}, list{7, 1, 9, units}, list{1}}, "x": 1, 9: 1,
	}))
	var scripts, redeemers string
	for _, s := range w.Scripts {
		scripts += fmt.Sprintf("%d:%x ", s.Language, s.Code)
	}
	for _, r := range w.Redeemers {
		redeemers += fmt.Sprintf("%s %d %x %d %d ", r.PurposeName(), r.Index, r.Data, r.Memory, r.Steps)
	}
	if want := fmt.Sprintf("0:8200581c%x 1:%x 1:%x 2:%x 3:%x ", filled(28, 1), "one", "two", "v2", "v3"); scripts != want {
		t.Errorf("scripts %s, expected %s", scripts, want)
	}
	if redeemers != "spend 2 08 10 20 unknown 1 09 10 20 " || len(w.Datums) != 1 {
		t.Errorf("redeemers %s, datums %x", redeemers, w.Datums)
	}
	sum := blake2b.Sum256([]byte("x"))
	for _, c := range []struct {
		set  any
		want int
	}{{list{sum[:28], sum[1:29]}, 2}, {list{list{0, sum[:28]}, list{1, sum[1:29]}}, 2}, {list{sum[:28], 5}, 1}, {nil, 0}} {
		if got := ledger.RequiredSigners(raw(t, c.set)); len(got) != c.want || c.want > 0 && !bytes.Equal(got[0], sum[:28]) {
			t.Errorf("%v requires %x", c.set, got)
		}
	}
}

// A block is linked to the one before, through boundary blocks, and belongs to the network.
func TestBlocksAreLinked(t *testing.T) {
	d := decoderOf(t, "mainnet")
	read := func(raw []byte) ledger.Decoded {
		t.Helper()
		b, boundary, err := d.Block(raw)
		if err != nil {
			t.Fatal(err)
		}
		return ledger.Decoded{Block: b, Boundary: boundary}
	}
	tx := txOfByron(list{tagged(24, []byte{1, 2, 3}), 99}, 7)
	tip := read(handmadeByron(t, tx)).Point()
	boundary := cardanotest.BoundaryAt(t, uint64(tip.Height), 2, tip.Hash[:])
	past := read(boundary).Hash
	next := func(parent model.Hash, number uint64) []byte {
		return cardanotest.ByronBlockAt(t, 764824073, number, 43_205, parent[:], tx)
	}
	for name, c := range map[string]struct {
		blocks [][]byte
		want   []string // the error, or "" for a block; "-" for a boundary block that is left out
	}{
		"a child":                   {[][]byte{next(tip.Hash, 21_605)}, []string{""}},
		"after a boundary":          {[][]byte{boundary, next(past, 21_605)}, []string{"-", ""}},
		"not through the boundary":  {[][]byte{boundary, next(tip.Hash, 21_605)}, []string{"-", ""}},
		"another parent":            {[][]byte{next(past, 21_605)}, []string{"expected block 21604"}},
		"another boundary":          {[][]byte{cardanotest.BoundaryAt(t, 21_604, 2, past[:])}, []string{"expected block 21604"}},
		"of another network":        {[][]byte{cardanotest.ByronBlockAt(t, 1, 21_605, 43_205, tip.Hash[:], tx)}, []string{"protocol magic 1: expected 764824073"}},
		"Shelley before its time":   {[][]byte{cardanotest.BlockAt(t, ledger.EraShelley, 21_605, 43_205, tip.Hash[:], raw(t, list{}), raw(t, list{}), raw(t, dict{}))}, []string{"expected Byron before slot"}},
		"Byron after its last slot": {[][]byte{cardanotest.ByronBlockAt(t, 764824073, 21_605, 208*21_600, tip.Hash[:], tx)}, []string{"it is of Byron, which ended before slot 4492800"}},
	} {
		l := ledger.Linker{Decoder: d, Tip: tip}
		for i, raw := range c.blocks {
			b, err := l.Link(read(raw))
			switch want := c.want[i]; {
			case want == "-":
				if b != nil || err != nil || l.Tip != tip {
					t.Errorf("%s: %v, %v", name, b, err)
				}
			case want == "":
				if err != nil || b.Parent != tip.Hash || l.Tip != b.Point() || l.Boundary != nil || len(b.Genesis) > 0 {
					t.Errorf("%s: %+v, %v", name, b, err)
				}
			case err == nil || !strings.Contains(err.Error(), want):
				t.Errorf("%s: %v, expected %s", name, err, want)
			}
		}
	}
	l := ledger.Linker{Decoder: d}
	if _, err := l.Link(read(next(tip.Hash, 5))); err == nil || !strings.Contains(err.Error(), "expected block 0") {
		t.Errorf("the first block is number 5: %v", err)
	}
	if _, err := l.Link(read(next(tip.Hash, 0))); err == nil || !strings.Contains(err.Error(), "it is the first and follows on the genesis") {
		t.Errorf("another genesis: %v", err)
	}
}

// Malformed headers and transactions of Byron are rejected.
func TestMalformedByronBlocksAreRejected(t *testing.T) {
	to := list{tagged(24, []byte{1, 2, 3}), 99}
	outpoint := tagged(24, []byte(raw(t, list{filled(32, 0xaa), 3})))
	tx := func(input, address, amount any) []byte {
		return handmadeByron(t, func(t testing.TB) cbor.RawMessage {
			return raw(t, list{endless(t, 0x9f, input), endless(t, 0x9f, list{address, amount}), dict{}})
		})
	}
	if _, _, err := decoderOf(t, "mainnet").Block(tx(list{0, outpoint}, to, 1)); err != nil {
		t.Fatal(err)
	}
	late := handmadeByron(t, txOfByron(to, 1))
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"kind of input":          {tx(list{1, outpoint}, to, 1), "expected an input of kind 0, found 1"},
		"outpoint and more":      {tx(list{0, tagged(24, []byte(string(raw(t, list{filled(32, 0xaa), 3}))+"\x00"))}, to, 1), "outpoint: offset 36: 1 bytes follow"},
		"outpoint":               {tx(list{0, tagged(24, []byte(raw(t, list{filled(31, 0xaa), 3})))}, to, 1), "outpoint: "},
		"input and more":         {tx(list{0, outpoint, 1}, to, 1), "input has more items than expected"},
		"address":                {tx(list{0, outpoint}, filled(29, 0x61), 1), "expected the address as an array"},
		"address of a byte":      {tx(list{0, outpoint}, 5, 1), "expected the address as an array"},
		"amount":                 {tx(list{0, outpoint}, to, -1), "expected amount as an unsigned integer"},
		"slot of its epoch":      {bytes.Replace(late, raw(t, list{1, 5}), raw(t, list{1, 21_600}), 1), "slot 21600 of an epoch that has 21600"},
		"a later epoch":          {bytes.Replace(late, raw(t, list{1, 5}), raw(t, list{uint64(1<<32 + 1), 5}), 1), "epoch 4294967297, later than can be"},
		"number of transactions": {bytes.Replace(late, []byte{0x83, 1, 0x58, 32}, []byte{0x83, 2, 0x58, 32}, 1), "expected 2, as in the header"},
	} {
		if b, _, err := decoderOf(t, "mainnet").Block(c.raw); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v, expected %s", name, b, err, c.want)
		}
	}
}
