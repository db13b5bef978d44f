package bitcoin

import (
	"bytes"
	"encoding/hex"
	"os"
	"testing"

	"birthmark/chains/bitcoin/runes"
	"birthmark/internal/testblocks"
	"birthmark/model"
)

// withRunes is a network of Bitcoin whose runes are derived.
func withRunes(t testing.TB, network string) model.Chain {
	t.Helper()
	c, err := New(network)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.(model.TokenChain).WithTokens("runes"); err != nil {
		t.Fatal(err)
	}
	return c
}

func decodeOne(t testing.TB, c model.Chain, in []byte) *model.Block {
	t.Helper()
	var found *model.Block
	for b, err := range c.Decode(t.Context(), bytes.NewReader(in), []string{"address"}, 908_244) {
		if err != nil {
			t.Fatal(err)
		}
		found = b
	}
	return found
}

// found counts what the messages of a block contain.
type found struct {
	messages, cenotaphs, etchings, mints, edicts, pointers, commits, empty int
}

func countMessages(t *testing.T, b *model.Block) (n found) {
	t.Helper()
	for i := range b.Txs {
		tx := &b.Txs[i]
		if int(tx.TokenOutput) > len(tx.Outputs) {
			t.Fatalf("transaction %d: token output %d of %d", i, tx.TokenOutput, len(tx.Outputs))
		}
		m, ok := tx.Message.(*runes.Message)
		if !ok {
			continue
		}
		n.messages++
		if m.Flaw != runes.NoFlaw {
			n.cenotaphs++
		}
		if m.Etching != nil {
			n.etchings++
		}
		if m.Mint.OK {
			n.mints++
		}
		if m.Pointer.OK {
			n.pointers++
		}
		if len(m.Commits) > 0 {
			n.commits++
		}
		n.edicts += len(m.Edicts)
		if m.Flaw == runes.NoFlaw && m.Etching == nil && !m.Mint.OK && !m.Pointer.OK && len(m.Edicts) == 0 {
			n.empty++
		}
		if len(m.Returns) == 0 {
			t.Errorf("transaction %d has a message and no OP_RETURN", i)
		}
	}
	return n
}

// Block 908244 of mainnet, in every form of input: the messages are the same. Without the option there are none.
func TestMessagesOfARealBlock(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(testblocks.Path(t, "bitcoin", "converted", "redbit_huge_*.raw"))
	if err != nil {
		t.Fatal(err)
	}
	c := withRunes(t, "mainnet")
	want := found{messages: 65, edicts: 16, pointers: 4, empty: 49}
	record := append(append([]byte{0xf9, 0xbe, 0xb4, 0xd9}, byte(len(raw)), byte(len(raw)>>8), byte(len(raw)>>16),
		byte(len(raw)>>24)), raw...)
	for what, in := range map[string][]byte{
		"raw": raw, "hex": []byte(hex.EncodeToString(raw)), "JSON": []byte(`"` + hex.EncodeToString(raw) + `"`),
		"block file": record,
	} {
		if got := countMessages(t, decodeOne(t, c, in)); got != want {
			t.Errorf("%s: %+v, expected %+v", what, got, want)
		}
	}
	plain, err := New("mainnet")
	if err != nil {
		t.Fatal(err)
	}
	with, without := decodeOne(t, c, raw), decodeOne(t, plain, raw)
	for i := range without.Txs {
		if tx := &without.Txs[i]; tx.Message != nil || tx.TokenOutput != 0 {
			t.Fatalf("transaction %d has a message without the option", i)
		}
		with.Txs[i].Message, with.Txs[i].TokenOutput = nil, 0
		if with.Txs[i].Hash != without.Txs[i].Hash || len(with.Txs[i].Outputs) != len(without.Txs[i].Outputs) {
			t.Fatalf("transaction %d differs", i)
		}
	}
}

// Unconfirmed transactions are decoded with their messages too. They have the decoders of blocks of nodes, peers and
// files.
func TestMessagesOfUnconfirmedTransactions(t *testing.T) {
	t.Parallel()
	stone := runes.Runestone{Mint: runes.Some(runes.ID{Block: 840_000, Tx: 1})}
	script := stone.Script()
	raw := append([]byte{2, 0, 0, 0, 1}, bytes.Repeat([]byte{7}, 36)...)
	raw = append(raw, 0, 0xff, 0xff, 0xff, 0xff, 2)
	raw = append(append(raw, make([]byte, 8)...), byte(len(script)))
	raw = append(append(raw, script...), 0x10, 0, 0, 0, 0, 0, 0, 0, 1, 0x51, 0, 0, 0, 0)
	decode, err := withRunes(t, "mainnet").(*chain).txDecoder([]string{"address"})
	if err != nil {
		t.Fatal(err)
	}
	tx, err := decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	m, ok := tx.Message.(*runes.Message)
	if !ok || m.Mint != stone.Mint || tx.TokenOutput != 1 || len(m.Returns) != 1 {
		t.Errorf("%+v, output %d", tx.Message, tx.TokenOutput)
	}
}

func TestNetworksWithRunes(t *testing.T) {
	t.Parallel()
	for network, first := range map[string]model.HeightPk{
		"mainnet": 840_000, "testnet3": 2_520_000, "testnet4": 0, "signet": 0, "regtest": 0, "signet-01020304": 0,
	} {
		c := withRunes(t, network)
		traits := c.Traits()
		rules, ok := traits.Tokens.Rules.(*runes.Rules)
		if !ok || rules.FirstHeight() != first || traits.Tokens.Name != "runes" || traits.Fingerprint == nil {
			t.Errorf("%s: %+v", network, traits.Tokens)
		}
		pk, _ := model.NarrowPointers.Tx(1, 0)
		if rules.Begins(pk) != (network == "mainnet") {
			t.Errorf("%s begins with a rune: %t", network, rules.Begins(pk))
		}
		// Custom indexes and tokens do not replace each other.
		defined, err := c.Define([]model.Definition{{Name: "stones", Value: "output.runestone", Kind: model.OneToMany}})
		if err != nil || defined.Traits().Tokens == nil {
			t.Errorf("%s with a custom index: %v", network, err)
		}
		if _, err := c.(model.TokenChain).WithTokens("brc-20"); !isUsage(err, "bad_assets") {
			t.Errorf("%s: %v", network, err)
		}
	}
	c, err := New("simnet")
	if err != nil {
		t.Fatal(err)
	}
	if names := c.(model.TokenChain).Tokens(); len(names) > 0 || c.Traits().Tokens != nil {
		t.Errorf("simnet has %v", names)
	}
	if _, err := c.(model.TokenChain).WithTokens("runes"); !isUsage(err, "bad_assets") {
		t.Errorf("simnet: %v", err)
	}
}

func isUsage(err error, code string) bool {
	kind, got := model.KindOf(err)
	return err != nil && kind == model.Usage && got == code
}

func TestAssetsOfRunes(t *testing.T) {
	t.Parallel()
	c := withRunes(t, "mainnet")
	for _, text := range []string{"1:0", "840000:1", "41943039:524287"} {
		id, err := c.ParseAsset(text)
		if err != nil || len(id) != 8 || c.FormatAsset(id) != text {
			t.Errorf("%s is %x, %s: %v", text, id, c.FormatAsset(id), err)
		}
	}
	for _, text := range []string{"", "1", "1:", "00", "41943040:0", "0:524288", "UNCOMMON•GOODS"} {
		if id, err := c.ParseAsset(text); !isUsage(err, "bad_asset") {
			t.Errorf("%q is %x: %v", text, id, err)
		}
	}
	names := c.Traits().Fingerprint
	goods, _, _ := runes.ParseSpaced("UNCOMMON•GOODS")
	e := runes.Entry{Name: goods, Spacers: 1 << 7, Divisibility: 3}
	for _, text := range []string{"UNCOMMON•GOODS", "UNCOMMONGOODS", "UNCOMMON.GOODS", "U•NCOMMONGOODS"} {
		name, err := names.Parse(text)
		if err != nil || !bytes.Equal(name, names.Of(nil, e.Info())) || names.Format(name) != "UNCOMMONGOODS" {
			t.Errorf("%s is %x: %v", text, name, err)
		}
	}
	for _, text := range []string{"", "1:0", "bc1q", "uncommongoods", "•A"} {
		if name, err := names.Parse(text); name != nil || err != nil {
			t.Errorf("%q is the name %x: %v", text, name, err)
		}
	}
	for _, text := range []string{"A•", "A••B", "Ab", "A1", "BCGDENLQRQWDSLRUGSNLBTMFIJAW"} {
		if name, err := names.Parse(text); !isUsage(err, "bad_asset") {
			t.Errorf("%q is the name %x: %v", text, name, err)
		}
	}
	d := c.(model.AssetDescriber).DescribeAsset(e.Info())
	if d.Description != "rune number 0; no mints" || d.Name != "UNCOMMON•GOODS" || d.Decimals == nil || *d.Decimals != 3 {
		t.Errorf("%+v", d)
	}
	if d := c.(model.AssetDescriber).DescribeAsset([]byte{1}); d != (model.AssetDescription{}) || names.Of(nil,
		nil) != nil {
		t.Errorf("of no entry: %+v", d)
	}
}
