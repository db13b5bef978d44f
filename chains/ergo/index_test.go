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

func TestIndexesMatchContract(t *testing.T) {
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
