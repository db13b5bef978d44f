package sigma

import (
	"encoding/hex"
	"strings"
	"testing"
	"unicode/utf8"
)

// feeTree is the tree of the contract for fees.
const feeTree = "1005040004000e36100204a00b08cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
	"ea02d192a39a8cc7a701730073011001020402d19683030193a38cc7b2a57300000193c2b2a57301007473027303830108cdeeac93b1a57304"

func TestTreesAreText(t *testing.T) {
	for _, c := range []struct{ name, tree, want string }{
		{"public key", "0008cd" + aKey, "PK(0x" + aKey + ")"},
		{"public key, segregated", "100108cd" + aKey + "7300", "PK(0x" + aKey + ")"},
		{"script hash", "00" + pays, "(sigmaProp((blake2b256(getVar(126)[Coll[Byte]].get).slice(0, 24) == 0x" + aHash + ")) && executeFromVar[SigmaProp](126))"},
		{"fee", feeTree, "sigmaProp(allOf(Coll[Boolean]((HEIGHT == OUTPUTS(0).creationInfo._1), (OUTPUTS(0).propositionBytes == " +
			"substConstants(0x100204a00b08cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798ea02d192a39a8cc7a70173007301, " +
			"Coll[Int](1), Coll[SigmaProp](proveDlog(decodePoint(minerPubKey))))), (OUTPUTS.size == 1))))"},
		{"definitions", "10010400" + "d1" + "d801" + "d601" + "7e7300" + "05" + "91" + "7201" + "0502",
			"sigmaProp({\n  val $1 = 0.toLong\n  ($1 > 1L)\n})"},
		{"function", "00" + "d1" + "ae" + "a4" + "d901" + "0163" + "93" + "c1" + "7201" + "0504",
			"sigmaProp(INPUTS.exists({ ($1: Box) => ($1.value == 2L) }))"},
		{"call", "00" + "d1" + "93" + "b1" + "db6308" + "a7" + "0402", "sigmaProp((SELF.tokens.size == 1))"},
		{"method with arguments", "00" + "d1" + "93" + "dc0c1a" + "db6501fe" + "02" + "a7" + "0400" + "0400",
			"sigmaProp((CONTEXT.dataInputs.indexOf(SELF, 0) == 0))"},
		{"unknown method", "00" + "d1" + "db6363" + "a7", "sigmaProp(SELF.method_99_99)"},
		{"apply", "00" + "d1" + "da" + "d901" + "0101" + "ef7201" + "01" + "7f", "sigmaProp({ ($1: Boolean) => !$1 }(true))"},
		{"two booleans", "00" + "d1" + "ec8501", "sigmaProp((true || false))"},
		{"any and all", "00" + "eb02" + "ea02" + "08cd" + aKey + "08d3" + "08d2",
			"((PK(0x" + aKey + ") && SigmaProp(0x08d3)) || SigmaProp(0x08d2))"},
		{"if, register", "00" + "d1" + "95" + "e6c6a70405" + "7f" + "80", "sigmaProp(if (SELF.R4[Long].isDefined) true else false)"},
		{"an item or a default", "00" + "d1" + "93" + "b2" + "a5" + "0400" + "01a7" + "a7", "sigmaProp((OUTPUTS(0, SELF) == SELF))"},
		{"tuple", "00" + "d1" + "93" + "8c86020402050401" + "0402", "sigmaProp(((1, 2L)._1 == 1))"},
		{"booleans", "00" + "d1" + "96" + "850305", "sigmaProp(allOf(Coll[Boolean](true, false, true)))"},
		{"constant that is missing", "1001040073" + "01", ""},
		{"more than an expression", "0008cd" + aKey + "00", ""},
		{"unknown operation", "00d1c8", ""},
		{"cut off", feeTree[:len(feeTree)-2], ""},
	} {
		tree := unhex(t, c.tree)
		text, whole := Print(tree, 1<<20)
		if text != c.want || whole != (c.want != "") {
			t.Errorf("%s: %t\n%s, expected\n%s", c.name, whole, text, c.want)
		}
		for most := 0; c.want != "" && most < len(c.want)+2; most++ {
			text, whole := Print(tree, most)
			if text != c.want[:min(most, len(c.want))] || whole != (most >= len(c.want) && c.want != "") {
				t.Fatalf("%s: %q of at most %d bytes, whole %t", c.name, text, most, whole)
			}
		}
	}
	if text, whole := Print(unhex(t, emissionTree), 1<<20); !whole || !strings.Contains(text, "HEIGHT") || strings.Count(text, "(") != strings.Count(text, ")") {
		t.Errorf("emission: %s", text)
	}
}

// FuzzPrint: a tree has a text if and only if its script can be parsed to its end and has all constants that it names. A
// text that is cut is the beginning of the whole one.
func FuzzPrint(f *testing.F) {
	for _, tree := range []string{
		emissionTree, feeTree, "0008cd" + aKey, "00" + pays, "00d1dc0c1adb6501fe02a704000400", "00d1b2a5040001a7", "10010400d1d801d6017e73000591720105029c",
		"00ea02eb0208d308d2ec8501", "00d4080a", "00d50108" + "0108d3", "00d7010162a7", "10010e0101d173" + "00",
	} {
		f.Add(unhex(f, tree), 40)
	}
	f.Fuzz(func(t *testing.T, raw []byte, most int) {
		text, whole := Print(raw, 1<<16)
		if !utf8.ValidString(text) {
			t.Errorf("%x: the text %q is not UTF-8", raw, text)
		}
		tree, err := ParseTree(raw)
		if err != nil {
			if text != "" {
				t.Errorf("%x: %q", raw, text)
			}
			return
		}
		r := reader{b: tree.Template}
		r.skipExpression()
		parsed := r.err == nil && r.at == len(r.b)
		if whole && !parsed || parsed && text == "" && !bytesOf(raw, codePlaceholder) {
			t.Errorf("%x: %q, parsed %t, %v", raw, text, parsed, r.err)
		}
		most = min(max(most, 0), len(text))
		if part, _ := Print(raw, most); whole && !strings.HasPrefix(text, part) {
			t.Errorf("%x: %q is not the beginning of %q", raw, part, text)
		}
	})
}

// bytesOf reports whether bytes contain one.
func bytesOf(raw []byte, b byte) bool {
	return strings.Contains(hex.EncodeToString(raw), hex.EncodeToString([]byte{b}))
}
