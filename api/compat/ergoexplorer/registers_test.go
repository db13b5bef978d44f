package ergoexplorer

import (
	"encoding/hex"
	"testing"

	"birthmark/chains/ergo/sigma"
)

// Registers have the types and texts of the explorer.
func TestRegisters(t *testing.T) {
	for _, c := range []struct{ raw, kind, text string }{
		{"058cae88e301", "SLong", "238095238"},
		{"04e69166", "SInt", "836723"},
		{"0e03594553", "Coll[SByte]", "594553"},
		{"0101", "SBoolean", "true"},
		{"11020402", "Coll[SLong]", "[2,1]"},
		{"1a0202010203ffffff", "Coll[Coll[SByte]]", "[0102,ffffff]"},
		{"58040600", "(SInt, SInt)", ""},
		{"0702f1380bbbe7e7acfacde7beddbb2056f7aec67c00d02cb67103effdbccf47cf14", "SGroupElement",
			"02f1380bbbe7e7acfacde7beddbb2056f7aec67c00d02cb67103effdbccf47cf14"},
		{"08cd02f1380bbbe7e7acfacde7beddbb2056f7aec67c00d02cb67103effdbccf47cf14", "SSigmaProp",
			"02f1380bbbe7e7acfacde7beddbb2056f7aec67c00d02cb67103effdbccf47cf14"},
		{"62", "SUnit", ""},
		{"ff", "", ""},
	} {
		raw, err := hex.DecodeString(c.raw)
		if err != nil {
			t.Fatal(err)
		}
		text, ok := rendered(sigma.Value(raw))
		if kind := kindName(raw); kind != c.kind || text != c.text || ok != (c.text != "") {
			t.Errorf("%s: %q %q, expected %q %q", c.raw, kind, text, c.kind, c.text)
		}
	}
}
