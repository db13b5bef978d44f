package ergo

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"

	"birthmark/model"
)

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func blake2bHex(b []byte) string {
	sum := blake2b.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func TestIndexesAreThoseOfTheContract(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]model.Kind{
		"address": model.OneToMany, "box_id": model.OneToOne, "ergo_tree_hash": model.OneToMany,
		"ergo_tree_template_hash": model.OneToMany, "register": model.ManyValued,
	}
	for _, x := range c.Indexes() {
		if kind, ok := kinds[x.Name]; !ok || kind != x.Kind || x.Default != (x.Name == "address") || x.Always != (x.Name == "box_id") || x.Doc == "" {
			t.Errorf("index %+v", x)
		}
		delete(kinds, x.Name)
	}
	if len(kinds) != 0 {
		t.Errorf("missing: %v", kinds)
	}
	traits := c.Traits()
	if traits.SpendIndex != "box_id" || !traits.ImpliedBurns || traits.Coinbase {
		t.Errorf("traits %+v", traits)
	}
	if supply, exact, ok := c.Supply(5); supply != 97_739_925_000_000_000 || !exact || !ok {
		t.Errorf("supply %d, %v, %v", supply, exact, ok)
	}
}

func TestValuesAreReadBack(t *testing.T) {
	hash := strings.Repeat("0a", 32)
	for name, texts := range map[string][]string{
		"box_id": {hash}, "ergo_tree_hash": {hash}, "ergo_tree_template_hash": {hash},
		"register": {"R4:0e0474657374", "R9:00"},
		"address":  {"9gmNsqrqdSppLUBqg2UzREmmivgqh1r3jmNcLAc53hk3YCvAGWE", "8UApt8czfFVuTgQmMwtsRBZ4nfWquNiSwCWUjMg", "4MQyML64GnzMxZgm"},
	} {
		for _, x := range networks[0].indexes() {
			if x.Name != name {
				continue
			}
			for _, text := range texts {
				value, err := x.Parse(text)
				if err != nil {
					t.Errorf("%s %s: %v", name, text, err)
				} else if back := x.Format(value); back != text {
					t.Errorf("%s %s is written as %s", name, text, back)
				}
			}
			for _, text := range []string{"", "x", "R4:", "R3:00", "R4", "R10:00", "R4:0", "r4;00", hash[1:], hash + "00", "R4:zz"} {
				_, err := x.Parse(text)
				if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_value" || !strings.Contains(err.Error(), "expected") {
					t.Errorf("%s %q: %v", name, text, err)
				}
			}
		}
	}
}

func TestHashesAndAssetsAreHex(t *testing.T) {
	c, err := New("testnet")
	if err != nil {
		t.Fatal(err)
	}
	text := "b0244dfc267baca974a4caee06120321562784303a8a688976ae56170e4d175b"
	h, err := c.ParseHash(text)
	if err != nil || c.FormatHash(h) != text {
		t.Errorf("%s: %v", c.FormatHash(h), err)
	}
	id, err := c.ParseAsset(text)
	if err != nil || c.FormatAsset(id) != text {
		t.Errorf("%x: %v", id, err)
	}
	for _, bad := range []string{"", text[1:], text + "00", "zz" + text[2:]} {
		if _, err := c.ParseHash(bad); err == nil {
			t.Errorf("%q is a hash", bad)
		}
		if _, err := c.ParseAsset(bad); err == nil {
			t.Errorf("%q is an asset", bad)
		}
	}
}

func TestNetworks(t *testing.T) {
	for name, want := range map[string]string{"": "mainnet", "mainnet": "mainnet", "testnet": "testnet"} {
		if c, err := New(name); err != nil || c.Network() != want || c.Name() != "ergo" {
			t.Errorf("%q: %v, %v", name, c, err)
		}
	}
	_, err := New("preprod")
	if kind, code := model.KindOf(err); kind != model.Usage || code != "unknown_network" || !strings.Contains(err.Error(), "mainnet, testnet") {
		t.Error(err)
	}
}
