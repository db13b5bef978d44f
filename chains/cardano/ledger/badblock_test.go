package ledger_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// The error of an invalid block names the fault and its position.
func TestInvalidBlocksAreRejected(t *testing.T) {
	sets := list{dict{}}
	with := func(more dict) []byte {
		return handmade(t, ledger.EraConway, list{txBody(more)}, sets, dict{}, list{})
	}
	output := func(o any) []byte { return oneOutput(t, o) }
	good := with(nil)
	changed := bytes.Clone(good)
	changed[len(changed)-3] ^= 0x20 // an empty map of witnesses becomes an empty array
	signature := raw(t, filled(448, 8))
	signedTwice := bytes.Replace(good, []byte{0x85, 0x82}, []byte{0x85, 0x83}, 1)
	signedTwice = bytes.Replace(signedTwice, signature, append(bytes.Clone(signature), signature...), 1)
	for name, c := range map[string]struct {
		raw  []byte
		want string
	}{
		"header and more":      {signedTwice, "header has more items than expected"},
		"nothing":              {nil, "offset 0: expected era and block, found the end"},
		"no array":             {raw(t, 5), "offset 0: expected era and block as an array, found an unsigned integer"},
		"later era":            {raw(t, list{9, list{}}), "(tag 9, Dijkstra has 8) is newer than this release supports: install a newer release"},
		"far later era":        {raw(t, list{264, list{}}), "block of an era after Dijkstra (tag 264,"},
		"no header":            {raw(t, list{7, list{}}), "expected header"},
		"bytes behind":         {append(bytes.Clone(good), 0), "1 bytes follow the block"},
		"more than a block":    {raw(t, list{7, cbor.RawMessage(good), 0}), "conway header"},
		"other body":           {changed, "the body has the hash"},
		"height":               {bytes.Replace(good, []byte{0x18, 100}, []byte{0x1a, 0xff, 0xff, 0xff, 0xff}, 1), "height 4294967295 exceeds the maximum"},
		"missing witnesses":    {handmade(t, ledger.EraConway, list{txBody(nil)}, list{}, dict{}, list{}), "1 transaction bodies and 0 witness sets"},
		"auxiliary data":       {handmade(t, ledger.EraConway, list{txBody(nil)}, sets, list{}, list{}), "expected auxiliary data as a map, found an array"},
		"failed out of range":  {handmade(t, ledger.EraConway, list{txBody(nil)}, sets, dict{}, list{1}), "transaction 1 failed: there are 1"},
		"missing failed":       {handmade(t, ledger.EraConway, list{txBody(nil)}, sets, dict{}), "expected failed transactions, found the end of its array"},
		"failed before Alonzo": {handmade(t, ledger.EraMary, list{txBody(nil)}, sets, dict{}, list{}), "the body has the hash"},
		"no outputs field":     {handmade(t, ledger.EraConway, list{dict{0: list{}, 2: 1}}, sets, dict{}, list{}), "expected inputs, outputs and a fee"},
		"field twice":          {handmade(t, ledger.EraConway, list{endless(t, 0xbf, 2, 1, 2, 1)}, sets, dict{}, list{}), "transaction 0: offset 859: duplicate key 2"},
		"input":                {with(dict{0: list{list{filled(31, 1), 0}}}), "expected transaction of the outpoint of 32 bytes, found 31"},
		"input's index":        {with(dict{0: list{list{filled(32, 1), uint64(1 << 32)}}}), "index 4294967296 of an outpoint"},
		"tag of inputs":        {with(dict{0: tagged(259, list{})}), "expected inputs as an array or tagged 258, found tag 259"},
		"output's key":         {output(dict{0: someAddress, 1: 1, 4: 1}), "key 4 of an output: expected 0 to 3"},
		"output without value": {output(dict{0: someAddress}), "expected an address and a value in the output"},
		"short output":         {output(list{someAddress}), "expected value, found the end of its array"},
		"long output":          {output(list{someAddress, 1, filled(32, 1), 1}), "output has more items than expected"},
		"negative amount":      {output(list{someAddress, -1}), "expected amount as an unsigned integer, found a negative integer"},
		"amount of 65 bits":    {output(list{someAddress, tagged(2, filled(9, 1))}), "amount does not fit in 64 bits"},
		"policy":               {output(list{someAddress, list{1, dict{cbor.ByteString("short"): dict{}}}}), "expected policy id of 28 bytes, found 5"},
		"asset name":           {output(list{someAddress, list{1, dict{cbor.ByteString(policyA): dict{cbor.ByteString(filled(33, 1)): 1}}}}), "asset name of 33 bytes: expected at most 32"},
		"minted too much":      {with(dict{9: dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): uint64(1 << 63)}}}), "amount of an asset does not fit in 64 bits with a sign"},
		"datum":                {output(dict{0: someAddress, 1: 1, 2: list{2, 0}}), "datum of kind 2"},
		"datum without tag":    {output(dict{0: someAddress, 1: 1, 2: list{1, []byte{0x80}}}), "expected datum as a tag"},
		"long address":         {output(list{filled(model.MaxValueSize+1, 0x82), 1}), "address of 32769 bytes"},
		"count beyond the end": {append(bytes.Clone(good[:len(good)-3]), 0x9a, 0xff, 0xff, 0xff, 0xff), "found the end"},
	} {
		d := decoderOf(t, "mainnet")
		b, _, err := d.Block(c.raw)
		if err == nil || b != nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected %s", name, err, c.want)
		}
		if _, _, err := d.Block(good); err != nil {
			t.Errorf("a valid block after %s: %v", name, err)
		}
	}
	_, _, err := decoderOf(t, "mainnet").Block(raw(t, list{9, list{}}))
	if kind, code := model.KindOf(err); kind != model.BadSource || code != "unknown_era" {
		t.Errorf("a later era: %v", err)
	}
}

// A truncated block is rejected, and so is a block with a changed bit in its body: its hash then differs from the hash
// in its header.
func TestChangedBlocksAreRejected(t *testing.T) {
	body := txBody(dict{9: dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1}}})
	for _, era := range []int{ledger.EraShelley, ledger.EraAlonzo, ledger.EraConway} {
		segments := list{list{body, body}, list{dict{}, dict{0: list{}}}, dict{0: dict{1: "text"}}, list{0}}
		if era < ledger.EraAlonzo {
			segments = segments[:3]
		}
		good := handmade(t, era, segments...)
		d := decoderOf(t, "mainnet")
		if _, _, err := d.Block(good); err != nil {
			t.Fatal(err)
		}
		for n := range good {
			if _, _, err := d.Block(good[:n]); err == nil {
				t.Errorf("%s: the first %d bytes are accepted", ledger.EraNames[era], n)
			}
		}
		start := bytes.Index(good, raw(t, segments[0]))
		for i := range 8 * (len(good) - start) {
			at, bit := start+i/8, byte(1)<<(i%8)
			good[at] ^= bit
			if _, _, err := d.Block(good); err == nil {
				t.Errorf("%s: a block with bit %02x of byte %d changed is accepted", ledger.EraNames[era], bit, at)
			}
			good[at] ^= bit
		}
	}
}
