package ergoexplorer

import (
	"encoding/hex"
	"testing"
)

// Registers have the types and texts of the explorer. RegistersParserSpec.scala of ergoplatform/explorer-backend has
// 0406, 100204a00b and 0c400504b4…. Some values are those of the explorer's database in blox/src/render/register.rs of
// abchrisxyz/ergowatch at 8f0d71440fd0c0b07e00cf80829d3a08a8556158. The others follow renderEvaluatedValue in
// protocol/sigma.scala of ergoplatform/explorer-backend: a value of a primitive type is its toString in Scala, so a Boolean
// is true or false.
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
		{"0480d92a", "SInt", "349760"},
		{"0322", "SShort", "17"},
		{"05b2e0d204", "SLong", "4872217"},
		{"1106640a8094ebdc0380a0b787e905f4ac46c203", "Coll[SLong]", "[50,5,500000000,100000000000,576314,225]"},
		{"0c5902c0ea9801c0ddc60190fa9801e0fcc601", "Coll[(SLong, SLong)]", "[[1252000,1628000],[1253000,1630000]]"},
		{"0c4c0e01240008cd0302122c332fd4e3c901f045ac18f559dcecf8dc61f6f94fbb34d0c7c3aac71fb714", "Coll[(Coll[SByte], SInt)]",
			"[[0008cd0302122c332fd4e3c901f045ac18f559dcecf8dc61f6f94fbb34d0c7c3aac71fb7,10]]"},
		{"061913aaf504e4bc1e62173f87a4378c37b49c8ccff196ce3f0ad2", "SBigInt",
			"CBigInt(123456789012345678901234567890123456789012345678901234567890)"},
		{"0c3c0e1101240008cd0302122c332fd4e3c901f045ac18f559dcecf8dc61f6f94fbb34d0c7c3aac71fb703028084af5f00",
			"Coll[(Coll[SByte], Coll[SLong])]",
			"[[0008cd0302122c332fd4e3c901f045ac18f559dcecf8dc61f6f94fbb34d0c7c3aac71fb7,[1,100000000,0]]]"},
		// Of explorer answers in tests: packages/boxes/minimum-fee/tests/testData.ts of rosen-bridge/utils at
		// 4e31d347eacea2bfb8dd30aae9aadef8d41a8f21, packages/networks/ergo-explorer/tests/testData.ts of
		// rosen-bridge/guard-service, and SelfHosted.scala of spectrum-finance/ergo-analytics.
		{"1d0201c0cd7801a0e8a308", "Coll[Coll[SLong]]", "[[988000],[8682000]]"},
		{"1a02046572676f0763617264616e6f", "Coll[Coll[SByte]]", "[6572676f,63617264616e6f]"},
		{"1a0100", "Coll[Coll[SByte]]", "[]"},
		{"1004f4030aa69872c801", "Coll[SInt]", "[250,5,935443,100]"},
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
