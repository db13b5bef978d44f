package cardano

import (
	"strings"
	"testing"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// The name of a private network is enough for queries. Decoding blocks requires its files.
func TestUnnamedNetworks(t *testing.T) {
	for _, full := range []address.Network{{Name: "magic-42", Magic: 42, Testnet: true}, {Name: "magic-42-mainnet", Magic: 42}} {
		id := full.Name
		c, err := New(id)
		if err != nil {
			t.Fatal(err)
		}
		n := c.(*chain).net
		if n.Network != full {
			t.Errorf("%s: %+v", id, n)
		}
		for _, someAddress := range [][]byte{append([]byte{0x60}, filled(28, 1)...), append([]byte{0x61}, filled(28, 1)...)} {
			if got, want := address.Format(n.Network, someAddress), address.Format(full, someAddress); got != want {
				t.Errorf("%s: %x is %s, expected %s", id, someAddress, got, want)
			}
		}
		header := decoded(t, handmade(t, ledger.EraConway, list{}, list{}, dict{}, list{})).Header
		h, err := c.Header(header)
		if err != nil || strings.Contains(text(t, h), "epoch") || !strings.Contains(text(t, h), `"slot":7000`) {
			t.Errorf("%s: %s, %v", id, text(t, h), err)
		}
		if _, _, ok := c.Supply(0); ok {
			t.Errorf("%s: the supply is known", id)
		}
		_, open := c.Open(t.Context(), model.SourceOptions{URI: "file://" + t.TempDir()})
		var decode error
		for _, decode = range c.Decode(t.Context(), strings.NewReader("00"), nil, 0) {
		}
		for _, err := range []error{open, decode} {
			if kind, code := model.KindOf(err); kind != model.Usage || code != "no_genesis" || !strings.Contains(err.Error(), full.Name) {
				t.Errorf("%s: %v", id, err)
			}
		}
	}
	for _, name := range []string{"magic", "magic-", "magic-x", "magic-01", "magic-4294967296", "magic-42-testnet", "42", "magic--mainnet"} {
		if _, err := New(name); err == nil || !strings.Contains(err.Error(), "expected mainnet, preprod, preview, or the folder of its genesis files") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
