package coingen_test

import (
	"encoding/binary"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// testcoin returns a coin that does not exist: with prefixes of two bytes and its own
// subsidy.
func testcoin() *coingen.Coin {
	raw := coingen.Genesis("a coin of the tests", "02"+"11", 7, 1296688602, 0)
	for nonce := uint32(0); block.Header(raw).Meets(block.Header(raw).Hash()) != nil; nonce++ {
		binary.LittleEndian.PutUint32(raw[76:], nonce)
	}
	const coin = 1000
	return &coingen.Coin{
		Network: "main", Genesis: raw,
		Spec: params.New(params.Spec{
			Name: "testcoin", Title: "Testcoin", Unit: model.Unit{Symbol: "TST", Decimals: 3},
			Format: &block.Format{MaxSize: 1 << 20, MaxMoney: 1 << 50, Solve: block.SolveLegacy},
			Supply: func(_ *params.Network, h model.HeightPk) (uint64, bool) { return 700_000_000 + 7*coin*uint64(h), true },
			Networks: []*params.Network{{
				Name: "main", RPCPort: "1234", Magic: [4]byte{1, 2, 3, 4}, Genesis: block.Header(raw).Hash(),
				Limit: params.Target(0x207fffff), KeyHash: []string{"\x1c\xb8"}, ScriptHash: []string{"\x1c\xbd"}, Addresses: "t1…, t3…",
			}},
		}),
	}
}

// A coin of Bitcoin's kind requires only its data.
func TestMadeUpCoin(t *testing.T) {
	c := testcoin()
	syncs(t, c)
	db := open(t, c)
	address := db.Chain().Indexes()[0]
	value := append([]byte{0x80}, make([]byte, 20)...)
	if text := address.Format(value); text[:2] != "t1" {
		t.Errorf("an address is formatted as %s", text)
	} else if got, err := address.Parse(text); err != nil || string(got) != string(value) {
		t.Errorf("%s is parsed as %x, %v", text, got, err)
	}
	_, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: "p2p://"})
	if _, code := model.KindOf(err); code != "bad_source" {
		t.Errorf("peers of a coin without header rules: %v", err)
	}
}
