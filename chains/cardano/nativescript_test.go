package cardano

import (
	"encoding/hex"
	"strings"
	"testing"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

func TestNativeScriptsAreText(t *testing.T) {
	c, err := New("mainnet")
	if err != nil {
		t.Fatal(err)
	}
	key, key2 := filled(28, 1), filled(28, 2)
	print := func(code []byte, most int) (string, bool) {
		return c.(model.ScriptPrinter).PrintScript("native", code, most)
	}
	one := list{0, key}
	for _, s := range []struct {
		script any
		want   string
	}{
		{one, "signature of key " + hex.EncodeToString(key)},
		{list{1, list{}}, "all of"},
		{list{1, list{one, list{5, 7}}}, "all of\n  signature of key " + hex.EncodeToString(key) + "\n  before slot 7"},
		{list{3, -2, endless(t, 0x9f, list{2, list{list{4, 1000}}}, list{0, key2})},
			"at least -2 of\n  any of\n    from slot 1000 on\n  signature of key " + hex.EncodeToString(key2)},
		{list{6, list{0, key}}, "guard " + address.FormatPaymentCredential(address.Mainnet, append([]byte{0}, key...))},
		{list{7, 1}, ""},
		{list{0, key, 1}, ""},
		{list{1, 5}, ""},
		{list{1, list{list{9, 1}}}, ""},
		{"text", ""},
	} {
		code := raw(t, s.script)
		text, whole := print(code, 10_000)
		if text != s.want || whole != (s.want != "") {
			t.Errorf("%x: %q, %t, expected %q", code, text, whole, s.want)
		}
		if text, _ := print(append(code, 0), 10_000); text != "" {
			t.Errorf("%x and more: %q", code, text)
		}
	}
	if text, _ := c.(model.ScriptPrinter).PrintScript("plutus_v2", raw(t, one), 10_000); text != "" {
		t.Errorf("Plutus: %q", text)
	}
	var many list
	for range 500 {
		many = append(many, one)
	}
	code := raw(t, list{2, many})
	whole, all := print(code, 1<<20)
	if !all || strings.Count(whole, "signature") != 500 {
		t.Fatalf("%d bytes of text", len(whole))
	}
	for _, most := range []int{0, 1, 7, 8, 100, 5000, len(whole), len(whole) + 1, len(whole) + 2} {
		text, all := print(code, most)
		if len(text) > most || !strings.HasPrefix(whole, text) || all != (text == whole) {
			t.Errorf("of at most %d bytes: %d, whole %t", most, len(text), all)
		}
	}
	// Nested deeper than a page could show: a text or none, and it ends.
	deep := any(one)
	for range MaxNesting + 10 {
		deep = list{1, list{deep}}
	}
	if text, whole := print(raw(t, deep), 1<<20); whole {
		t.Errorf("nested %d deep: %d bytes", MaxNesting, len(text))
	}
}
