package ergoexplorer

import (
	"encoding/hex"
	"testing"
)

// Registers have the types and texts of the explorer: its RegistersParserSpec.scala has some of these, and answers of its
// API, such as in rosen-bridge's tests, the others.
func TestRegisters(t *testing.T) {
	for _, c := range []struct{ raw, kind, text string }{
		{"058cae88e301", "SLong", "238095238"},
		{"04e69166", "SInt", "836723"},
		{"0e03594553", "Coll[SByte]", "594553"},
		{"0101", "SBoolean", "true"},
		{"11020402", "Coll[SLong]", "[2,1]"},
		{"1a0202010203ffffff", "Coll[Coll[SByte]]", "[0102,ffffff]"},
		{"58040600", "", ""},
		{"0702f1380bbbe7e7acfacde7beddbb2056f7aec67c00d02cb67103effdbccf47cf14", "SGroupElement",
			"02f1380bbbe7e7acfacde7beddbb2056f7aec67c00d02cb67103effdbccf47cf14"},
		{"08cd02f1380bbbe7e7acfacde7beddbb2056f7aec67c00d02cb67103effdbccf47cf14", "SSigmaProp",
			"02f1380bbbe7e7acfacde7beddbb2056f7aec67c00d02cb67103effdbccf47cf14"},
		{"62", "SUnit", "()"},
		{"860202660263", "(SByte, SByte)", "[102,99]"},
		{"0406", "SInt", "3"},
		{"100204a00b", "Coll[SInt]", "[2,720]"},
		{"0c400504b40180febe81027880d4d4ab015a80bfdf80013c80aaea55", "Coll[(SInt, SLong)]",
			"[[90,270000000],[60,180000000],[45,135000000],[30,90000000]]"},
		{"06201e40bf1c6542867ec4315bb470a4a213f3c0f141b0ec57d7629dc662a269d77f", "SBigInt",
			"CBigInt(13683782668738460335337828849008100621013788955977982938688526869072699840383)"},
		{"0e00", "Coll[SByte]", ""},
		{"82", "", ""},
		{"830202" + "0205" + "02ff", "Coll[SByte]", "05ff"},
		{"3c" + "04" + "5805" + "020406", "", ""}, // a tuple in a tuple
		{"ff", "", ""},
	} {
		raw, err := hex.DecodeString(c.raw)
		if err != nil {
			t.Fatal(err)
		}
		kind, text, ok := register(raw)
		if kind != c.kind || text != c.text || ok != (c.kind != "") {
			t.Errorf("%s: %q %q, expected %q %q", c.raw, kind, text, c.kind, c.text)
		}
	}
}
