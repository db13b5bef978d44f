package sigma

import (
	"encoding/hex"
	"strings"
	"testing"
)

const (
	aKey  = "0327e65711a59378c59359c3e1d0f7abe906479eccb76094e50fe79d743ccc15e6"
	aHash = "d62151f990f191c102a6fe995b89ed3d0f343a96f13789a3"
	pays  = "ea02d193b4cbe4e37e0e040004300e18" + aHash + "d4087e"
)

func TestTreesAreTakenApart(t *testing.T) {
	for _, c := range []struct{ name, tree, template, key, hash string }{
		{"public key", "0008cd" + aKey, "08cd" + aKey, aKey, ""},
		{"public key with its size", "082308cd" + aKey, "08cd" + aKey, aKey, ""},
		{"public key with a wrong size", "082208cd" + aKey, "08cd" + aKey, aKey, ""},
		{"public key, a later version", "0b2308cd" + aKey, "08cd" + aKey, aKey, ""},
		{"public key, no constants segregated", "100008cd" + aKey, "08cd" + aKey, aKey, ""},
		{"public key, another constant segregated", "1001040208cd" + aKey, "08cd" + aKey, aKey, ""},
		{"public key, segregated", "100108cd" + aKey + "7300", "7300", "", ""},
		{"infinity", "0008cd" + strings.Repeat("00", 33), "08cd" + strings.Repeat("00", 33), strings.Repeat("00", 33), ""},
		{"no point", "0008cd05" + aKey[2:], "08cd05" + aKey[2:], "05" + aKey[2:], ""},
		{"public key and more", "0008cd" + aKey + "00", "08cd" + aKey + "00", "", ""},
		{"script hash", "00" + pays, pays, "", aHash},
		{"script hash with its size", "082b" + pays, pays, "", aHash},
		{"script hash in another variable", "00" + strings.ReplaceAll(pays, "7e", "01"), strings.ReplaceAll(pays, "7e", "01"), "", ""},
		{"script hash and more", "00" + pays + "00", pays + "00", "", ""},
		{"true", "10010101d17300", "d17300", "", ""},
		{"emission", emissionTree, emissionTree[strings.Index(emissionTree, "d19683"):], "", ""},
	} {
		tree, err := ParseTree(unhex(t, c.tree))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got := hex.EncodeToString(tree.Template); got != c.template {
			t.Errorf("%s: the template is %s, expected %s", c.name, got, c.template)
		}
		if got := hex.EncodeToString(tree.PublicKey()); got != c.key {
			t.Errorf("%s: the public key is %q, expected %q", c.name, got, c.key)
		}
		if got := hex.EncodeToString(tree.ScriptHash()); got != c.hash {
			t.Errorf("%s: the script hash is %q, expected %q", c.name, got, c.hash)
		}
	}
}

func TestTreesThatCannotBeRead(t *testing.T) {
	for tree, want := range map[string]string{
		"":                      "header of the tree is missing",
		"00":                    "the script is missing",
		"0108cd" + aKey:         "a tree of version 1 without its size",
		"08":                    "size of the tree is not a number",
		"10":                    "number of constants is not a number",
		"10ffff03":              "number of constants is 65535, expected at most 4096",
		"100104":                "number is not a number",
		"10010e05aabb":          "bytes of 5 bytes, but only 2 are left",
		"1001ff00":              "unknown type 255",
		"10016300":              "header of the tree is missing",
		"1001080500":            "unknown proposition code 0x5",
		"10010a00":              "unknown type 10",
		"1001" + "0cff":         "unknown type 255",
		"10010402":              "the script is missing",
		"100108cd0102":          "public key of 33 bytes, but only 2 are left",
		"10010898018080" + "04": "number of propositions is 65536, expected at most 65535",
		"1001" + strings.Repeat("0c", maxTypeDepth+2):                                "types nested deeper than 16384",
		"1001" + "08" + strings.Repeat("9601", 200) + "d2" + strings.Repeat("00", 9): "more than 110 nested values",
	} {
		if _, err := ParseTree(unhex(t, tree)); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "ErgoTree: at byte ") {
			t.Errorf("%.40s: %v, expected %q", tree, err, want)
		}
	}
}

// Bytes after a constant are not part of it.
func TestConstantsEndAsTheirTypeRequires(t *testing.T) {
	for name, constant := range map[string]string{
		"boolean":             "0101",
		"byte":                "027f",
		"short":               "03ff01",
		"int":                 "0480f401",
		"long":                "05fea0f4b4d2b2f302",
		"big integer":         "060300ffff",
		"point":               "07" + aKey,
		"proposition":         "08cd" + aKey,
		"tuple of four":       "08ce" + strings.Repeat(aKey, 4),
		"and, or, threshold":  "089602" + "9701d3" + "980102" + "cd" + aKey + "d2",
		"unsigned":            "090200ff",
		"bytes":               "0e0474657374",
		"no bytes":            "0e00",
		"booleans":            "0d0affff",
		"longs":               "110302" + "8001" + "04",
		"list of bytes":       "1a02" + "0161" + "026162",
		"list of lists":       "0c1a01" + "02" + "0161" + "00",
		"option of long":      "290102",
		"no option":           "2900",
		"option of bytes":     "32010161",
		"option of a list":    "241a" + "01" + "01" + "0161",
		"pair of longs":       "590204",
		"pair, second plain":  "4d0e" + "0161" + "02",
		"pair, first plain":   "400e" + "02" + "0161",
		"pair of bytes":       "3c0e0e" + "0161" + "0162",
		"three of a tuple":    "48010203" + "01" + "02" + "03",
		"four of a tuple":     "5401020304" + "01" + "02" + "03" + "04",
		"five of a tuple":     "60050101010101" + "0001000100",
		"list of pairs":       "0c3c0e05" + "01" + "0161" + "02",
		"list of tuples":      "0c59" + "02" + "0204" + "0608",
		"unit":                "62",
		"units":               "0c62" + "ff7f",
		"text":                "6602" + "6162",
		"tree of boxes":       "64" + strings.Repeat("ab", 33) + "07" + "20" + "00",
		"tree of fixed boxes": "64" + strings.Repeat("ab", 33) + "07" + "20" + "0108",
	} {
		raw := unhex(t, constant)
		n, err := ValueSize(append(raw[:len(raw):len(raw)], 0xff, 0xff))
		if err != nil || n != len(raw) {
			t.Errorf("%s (%s): %d bytes and %v, expected %d", name, constant, n, err, len(raw))
		}
	}
}

func TestPointsOfTheCurve(t *testing.T) {
	for key, want := range map[string]bool{
		aKey:            true,
		"02" + aKey[2:]: true,
		"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798": true,
		strings.Repeat("00", 33):               true,
		"00" + aKey[2:]:                        true, // the reference implementation does not check further
		"05" + aKey[2:]:                        false,
		"04" + aKey[2:]:                        false,
		aKey[2:]:                               false,
		"":                                     false,
		"02" + strings.Repeat("00", 31) + "05": false,
		"02" + strings.Repeat("ff", 32):        false,
	} {
		if got := IsPoint(unhex(t, key)); got != want {
			t.Errorf("%s: %v", key, got)
		}
	}
}
