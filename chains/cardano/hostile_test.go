package cardano

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// The largest outputs of mainnet have 490 assets.
func TestOutputWithManyAssets(t *testing.T) {
	held := dict{}
	for i := range 70 {
		policy := cbor.ByteString(binary.BigEndian.AppendUint32(filled(24, 0x0c), uint32(i)))
		names := dict{}
		for j := range 7 {
			names[cbor.ByteString(fmt.Sprintf("%d/%d", i, j))] = 1 + (i+j)%2
		}
		held[policy] = names
	}
	c := defined(t, "mainnet",
		model.Definition{Name: "name", Kind: model.ManyValued, Value: "map(output.assets, .name)"},
		model.Definition{Name: "single", Kind: model.ManyValued, Value: "map(filter(output.assets, .amount == 1), .id)"},
		model.Definition{Name: "policy_again", Kind: model.ManyValued, Value: "map(output.assets, .policy)"},
		model.Definition{Name: "sum", Value: "sum(output.assets, .amount)"},
	)
	b, _, err := c.decoderOf(t, "name", "single", "policy_again", "sum").Block(oneOutput(t, list{someAddress, list{1, held}}))
	if err != nil {
		t.Fatal(err)
	}
	values := map[int]int{}
	for _, k := range b.Txs[0].Outputs[0].Keys {
		values[k.Index]++
	}
	if values[0] != 490 || values[1] != 245 || values[2] != 70 || values[3] != 1 {
		t.Errorf("an output with 490 assets of 70 policies has %v values", values)
	}
}

// The values of a transaction are repeated for each of its outputs. If they become too large, the index has no further
// values for this transaction. The next transaction is not affected.
func TestRepeatedMetadataIsBounded(t *testing.T) {
	lines := list{}
	for i := range 20_000 {
		lines = append(lines, fmt.Sprintf("%05d", i))
	}
	outputs := list{}
	for range 100 {
		outputs = append(outputs, list{someAddress, 5})
	}
	block := handmade(t, ledger.EraConway, list{txBody(dict{1: outputs}), txBody(nil)}, list{dict{}, dict{}},
		dict{0: dict{674: dict{"msg": lines}}, 1: dict{674: dict{"msg": list{"after"}}}}, list{})
	c := defined(t, "mainnet", model.Definition{Name: "message", Kind: model.ManyValued, Value: "tx.metadata[674].msg"})
	b, _, err := c.decoderOf(t, "message").Block(block)
	if err != nil {
		t.Fatal(err)
	}
	first, last := len(b.Txs[0].Outputs[0].Keys), len(b.Txs[0].Outputs[99].Keys)
	if first != len(lines) || last != 0 {
		t.Errorf("the first output has %d values, the last %d: expected %d and 0", first, last, len(lines))
	}
	if after := b.Txs[1].Outputs[0].Keys; len(after) != 1 || string(after[0].Value) != "after" {
		t.Errorf("the next transaction has %v", after)
	}
}

// Malformed data has no values and does not make a block invalid.
func TestMalformedMetadataHasNoValue(t *testing.T) {
	deep := cbor.RawMessage(append(bytes.Repeat([]byte{0x81}, 5000), 0))
	for _, auxiliary := range []any{
		dict{674: deep}, dict{uint64(1<<64 - 1): "beyond any label"}, list{}, list{1}, tagged(259, dict{}), tagged(259, list{}), tagged(7, dict{674: 1}),
		dict{"text": 1}, endless(t, 0xbf), nil, 5, dict{674: cbor.RawMessage{0xf9, 0x7e, 0}},
	} {
		block := handmade(t, ledger.EraConway, list{txBody(nil)}, list{dict{}}, dict{0: auxiliary}, list{})
		for _, expression := range []string{"tx.metadata[674]", "tx.metadata[674].msg", "tx.metadata[674][0][1].x", "tx.metadata_labels[7]"} {
			c := saying(t, expression)
			b, _, err := c.decoderOf(t, "said").Block(block)
			if err != nil {
				t.Fatalf("%v: %v", auxiliary, err)
			}
			if got := c.said(&b.Txs[0].Outputs[0]); got != "" {
				t.Errorf("%s of %v is %q", expression, auxiliary, got)
			}
		}
	}
}

// FuzzCustomIndexes: any transaction with any metadata that is valid without custom indexes is also valid with them.
func FuzzCustomIndexes(f *testing.F) {
	d, plain := defined(f, "mainnet", everyField()...).decoderOf(f), decodedAs(f, "mainnet", valueNames...)
	f.Add([]byte(raw(f, txBody(dict{3: 9, 14: list{filled(28, 1)}, 18: list{list{filled(32, 2), 3}}}))), []byte(raw(f, dict{1: "a"})))
	f.Add([]byte(raw(f, txBody(dict{1: list{dict{0: someAddress, 1: list{1, dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1}}}, 2: list{1, tagged(24, []byte{0xd8, 0x79, 0x80})}}}}))),
		[]byte(raw(f, tagged(259, dict{0: dict{674: dict{"msg": list{"a"}}}}))))
	f.Fuzz(func(t *testing.T, body, auxiliary []byte) {
		for _, item := range []cbor.RawMessage{body, auxiliary} {
			if _, err := cbor.Marshal(item); err != nil || len(item) == 0 {
				return // the block is built around the body, so that its hashes match
			}
		}
		block := assembled(t, ledger.EraConway, append([]byte{0x81}, body...), []byte{0x81, 0xa0}, append([]byte{0xa1, 0}, auxiliary...), []byte{0x80})
		if _, _, err := plain.Block(block); err != nil {
			return
		}
		if _, _, err := d.Block(block); err != nil {
			t.Errorf("%x with the metadata %x: %v", body, auxiliary, err)
		}
	})
}
