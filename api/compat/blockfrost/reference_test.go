package blockfrost_test

import (
	"encoding/hex"
	"reflect"
	"testing"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/model"
)

// The metadata of an asset can be in a datum that the output of its reference token gives by its hash only (CIP-68). The
// transaction contains the datum as a witness.
func TestReferenceTokensWithADatumByHash(t *testing.T) {
	g := grow(t, 12)
	for i, c := range []struct {
		name               string
		decimals, answered any
	}{
		{"six", 6, 6}, {"none", nil, nil}, {"zero", 0, 0}, {"too many", uint64(1 << 63), nil}, {"a text", []byte("6"), nil},
	} {
		policy, name := cardanotest.Filled(28, byte(20+i)), []byte("Token")
		token := func(label string) []byte { return append(encoded(label), name...) }
		fields := []any{[]byte("name"), []byte("Token"), []byte("description"), []byte("of a test")}
		if c.decimals != nil {
			fields = append(fields, []byte("decimals"), c.decimals)
		}
		datum := cardanotest.Raw(t, cardanotest.Tagged(121, list{cardanotest.Endless(t, 0xbf, fields...), 1}))
		hash := blake2b.Sum256(datum)
		minted := cardanotest.Endless(t, 0xbf, policy, cardanotest.Endless(t, 0xbf, token("000643b0"), 1, token("0014df10"), 5))
		holds := func(label string, n int) list {
			return list{1_000_000, cardanotest.Endless(t, 0xbf, policy, cardanotest.Endless(t, 0xbf, token(label), n))}
		}
		to := append([]byte{0x60}, policy...)
		b := g.block(ledger.EraConway, shared(byte(i)), whole{
			body: dict{9: minted, 1: list{
				dict{0: shared(100), 1: holds("000643b0", 1), 2: list{0, hash[:]}}, dict{0: to, 1: holds("0014df10", 5)},
			}},
			witnesses: dict{4: list{datum}},
		})
		if err := g.db.Append(t.Context(), []*model.Block{b}); err != nil {
			t.Fatal(err)
		}
		unit := hex.EncodeToString(append(policy, token("0014df10")...))
		m := object{"name": "Token", "description": "of a test"}
		if c.decimals != nil {
			m["decimals"] = c.decimals
		}
		if reflect.DeepEqual(c.decimals, c.answered) { // otherwise the datum does not have the form of the standard
			g.sameFields(t, "/assets/"+unit, object{"onchain_metadata": m, "onchain_metadata_standard": "CIP68v1"})
		}
		amounts := g.get(t, "/addresses/"+address.FormatAny(to)+"/extended").(object)["amount"].([]any)
		want := generic(t, object{"v": c.answered}).(object)["v"]
		if len(amounts) != 2 || amounts[1].(object)["unit"] != unit || amounts[1].(object)["decimals"] != want {
			t.Errorf("%s: %v, expected the decimals %v", c.name, amounts, want)
		}
	}

	// Without a reference token, decimals in metadata of another standard do not count.
	policy := cardanotest.Filled(28, 40)
	minted := cardanotest.Endless(t, 0xbf, policy, cardanotest.Endless(t, 0xbf, []byte("Coin"), 5))
	to := append([]byte{0x60}, policy...)
	b := g.block(ledger.EraConway, shared(9), whole{
		body: dict{9: minted, 1: list{dict{0: to, 1: list{1_000_000, minted}}}},
		auxiliary: dict{721: cardanotest.Endless(t, 0xbf, hex.EncodeToString(policy), cardanotest.Endless(t, 0xbf, "Coin", cardanotest.Endless(t, 0xbf,
			"name", "Coin", "image", "ipfs://x", "decimals", 3)))},
	})
	if err := g.db.Append(t.Context(), []*model.Block{b}); err != nil {
		t.Fatal(err)
	}
	amounts := g.get(t, "/addresses/"+address.FormatAny(to)+"/extended").(object)["amount"].([]any)
	if coin := amounts[1].(object); coin["decimals"] != nil || coin["has_nft_onchain_metadata"] != true {
		t.Errorf("%v, expected metadata without decimals", coin)
	}
}
