package bitcoin

import (
	"bytes"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// envelopeOf returns a script with an inscription of these parts.
func envelopeOf(parts ...string) []byte {
	return []byte("\x00\x63\x03ord" + strings.Join(parts, "") + "\x68")
}

func TestInscriptionsOfScripts(t *testing.T) {
	plain := inscriptionFields{Input: 3, Pointer: -1, ContentType: "text/plain", Body: []byte("hi")}
	const typed, hello = "\x01\x01\x0atext/plain", "\x00\x02hi"
	id := strings.Repeat("\x07", 32)
	for _, c := range []struct {
		name   string
		script []byte
		want   []inscriptionFields
	}{
		{"none", []byte("\x01\x01\x51"), nil},
		{"plain", envelopeOf(typed, hello), []inscriptionFields{plain}},
		{"after a key", append([]byte("\x02\x00\x63\xac"), envelopeOf(typed, hello)...), []inscriptionFields{plain}},
		{"a tag as an opcode", envelopeOf("\x51\x0atext/plain", hello), []inscriptionFields{plain}},
		{"a body in parts", envelopeOf(typed, "\x00\x01h\x01i"), []inscriptionFields{plain}},
		{"the mark in a push", append([]byte("\x06\x00\x63\x03ord"), envelopeOf(typed, hello)...), []inscriptionFields{plain}},
		{"two", append(envelopeOf(typed, hello), envelopeOf()...), []inscriptionFields{plain, {Input: 3, Number: 1, Pointer: -1}}},
		{"the first type counts", envelopeOf(typed, "\x01\x01\x01x", hello), []inscriptionFields{plain}},
		{"a tag of two bytes", envelopeOf("\x02\x01\x00\x0atext/plain", hello), []inscriptionFields{{Input: 3, Pointer: -1, Body: []byte("hi")}}},
		{"a type that is not text", envelopeOf("\x01\x01\x01\xff"), []inscriptionFields{{Input: 3, Pointer: -1}}},
		{"all fields", envelopeOf(typed, "\x01\x02\x02\x01\x01", "\x01\x03\x21", id, "\x05", "\x01\x05\x02ab", "\x01\x05\x01c", "\x01\x07\x03abc", "\x01\x09\x02br", "\x01\x0b\x20", id, hello),
			[]inscriptionFields{{
				Input: 3, Pointer: 257, ContentType: "text/plain", Body: []byte("hi"), Metadata: []byte("abc"), Metaprotocol: "abc", ContentEncoding: "br",
				Parent: strings.Repeat("07", 32) + "i5", Parents: []string{strings.Repeat("07", 32) + "i5"}, Delegate: strings.Repeat("07", 32) + "i0",
			}}},
		{"not ended", envelopeOf(typed, hello)[:18], nil},
		{"an operation in it", envelopeOf(typed, "\xac", hello), nil},
		{"not ended, then one", append(envelopeOf(typed, "\xac"), envelopeOf(typed, hello)...), []inscriptionFields{plain}},
		{"a pointer too far", envelopeOf("\x01\x02\x08\xff\xff\xff\xff\xff\xff\xff\xff"), []inscriptionFields{{Input: 3, Pointer: -1}}},
		{"ids that are none", envelopeOf("\x01\x03\x02ab", "\x01\x0b\x21", id, "\x00"), []inscriptionFields{{Input: 3, Pointer: -1}}},
		{"another operation in place of the empty push", []byte("\x51\x63\x03ord\x68"), nil},
		{"a push of a byte in place of the empty push", []byte("\x01\x07\x63\x03ord\x68"), nil},
		{"encodings with other characters than those of a header", append(envelopeOf("\x01\x09\x03b\x01r"), envelopeOf("\x01\x09\x03\t ~")...),
			[]inscriptionFields{{Input: 3, Pointer: -1}, {Input: 3, Number: 1, Pointer: -1, ContentEncoding: "\t ~"}}},
		{"a tag after the last that is read", envelopeOf("\x01\x0c\x01x"), []inscriptionFields{{Input: 3, Pointer: -1}}},
		{"a tag without a value", envelopeOf("\x01\x01"), []inscriptionFields{{Input: 3, Pointer: -1}}},
	} {
		if got := appendInscriptions(nil, c.script, 3, true); !reflect.DeepEqual(normal(got), normal(c.want)) {
			t.Errorf("%s: %+v, expected %+v", c.name, got, c.want)
		}
	}
}

// normal replaces empty slices by nil.
func normal(all []inscriptionFields) (same []inscriptionFields) {
	for _, in := range all {
		if len(in.Body) == 0 {
			in.Body = nil
		}
		if len(in.Metadata) == 0 {
			in.Metadata = nil
		}
		same = append(same, in)
	}
	return same
}

// A script is read once, whatever its form. Reading these scripts repeatedly would take hours.
func TestHostileScriptsTakeLinearTime(t *testing.T) {
	size := testrun.Amount(3<<20, 1<<20)
	many := func(part string) []byte { return bytes.Repeat([]byte(part), size/len(part)) }
	for _, c := range []struct {
		name   string
		script []byte
		want   int
	}{
		{"a mark at the end", append(many("\x51"), envelopeOf()...), 1},
		{"marks without envelopes", many("\x00\x63\x03ord\xac"), 0},
		{"marks in marks", many("\x00\x63\x03ord"), 0},
		{"marks in pushes", many("\x06\x00\x63\x03ord"), 0},
		{"as many as there is room for", many(string(envelopeOf())), maxEnvelopes},
		{"metadata in parts", envelopeOf(string(many("\x01\x05\x01x"))), 1},
		{"a body in parts", envelopeOf("\x00", string(many("\x01x"))), 1},
		{"one that never ends", append([]byte("\x00\x63\x03ord\x00"), many("\x01x")...), 0},
	} {
		if got := appendInscriptions(nil, c.script, 0, true); len(got) != c.want {
			t.Errorf("%s: %d inscriptions, expected %d", c.name, len(got), c.want)
		}
		pushes, _ := block.Pushes(nil, c.script)
		if len(pushes) > block.MaxEntries {
			t.Errorf("%s: %d pushes", c.name, len(pushes))
		}
	}
}

// The inscriptions of a transaction's details are the ones that indexes read from its bytes.
func TestInscriptionsOfDetails(t *testing.T) {
	c, err := New("mainnet")
	if err != nil {
		t.Fatal(err)
	}
	const typed, hello = "\x01\x01\x0atext/plain", "\x00\x02hi"
	one, two := hex.EncodeToString(envelopeOf(typed, hello)), hex.EncodeToString(append(envelopeOf(typed), envelopeOf(hello, "\x02ya")...))
	witness := func(items ...string) *model.InputDetails { return &model.InputDetails{Witness: items} }
	script := func(digits string) *model.OutputDetails { return &model.OutputDetails{Script: &digits} }
	inputs := []*model.InputDetails{nil, witness(), witness(one), witness("aa", one, "c0"), witness(one, "aa"), witness("ff", two, "c1", "5001"), witness(one, "50")}
	outputs := []*model.OutputDetails{nil, {}, script(one), script("6a"), script(two + "ac")}
	got := c.(model.InscriptionReader).Inscriptions(inputs, outputs)
	want := []model.Inscription{
		{Position: 3, Number: 0, Type: "text/plain", Content: []byte("hi")},
		{Position: 4, Number: 1, Type: "text/plain", Content: []byte("hi")},
		{Position: 5, Number: 2, Type: "text/plain"},
		{Position: 5, Number: 3, Content: []byte("hiya")},
	}
	if len(got) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i := range want {
		if !bytes.Equal(got[i].Content, want[i].Content) {
			t.Errorf("%d: %q, expected %q", i, got[i].Content, want[i].Content)
		}
		if got[i].Content = want[i].Content; !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%d: %+v, expected %+v", i, got[i], want[i])
		}
	}
	for i, in := range inputs {
		if in == nil {
			continue
		}
		var raw []byte
		for _, digits := range in.Witness {
			item, err := hex.DecodeString(digits)
			if err != nil {
				t.Fatal(err)
			}
			raw = append(append(raw, byte(len(item))), item...)
		}
		leaf := ""
		block.EachWitness(append([]byte{byte(len(in.Witness))}, raw...), 0, 1, func(_ int, items block.WitnessItems) {
			leaf = hex.EncodeToString(block.LeafScript(items))
		})
		if got := leafOf(in.Witness); got != leaf {
			t.Errorf("input %d: the leaf is %s, expected %s", i, got, leaf)
		}
	}
	old := &chain{net: &params.Network{Coin: &params.Spec{Format: &block.Format{}}}}
	inOutputs := old.Inscriptions(inputs, outputs)
	if len(inOutputs) != 3 || !inOutputs[0].Output || inOutputs[0].Position != 2 || inOutputs[2].Position != 4 {
		t.Errorf("a coin without witnesses: %+v", inOutputs)
	}
}
