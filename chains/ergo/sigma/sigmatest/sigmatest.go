// Package sigmatest has values that Ergo's nodes accept in registers and context variables, for tests.
package sigmatest

import (
	"encoding/hex"
	"math/rand/v2"
	"slices"
	"strings"
)

const aKey = "0327e65711a59378c59359c3e1d0f7abe906479eccb76094e50fe79d743ccc15e6"

// Values returns one value or more of each kind that the reference implementation takes for an evaluated value: constants
// of all types that have some, and the expressions that are values with parts of any kind.
func Values() map[string][]byte {
	key := "08cd" + aKey
	box := "c0843d" + "0008cd" + aKey + "01" + "01" + strings.Repeat("04", 32) + "07" + "01" + "860202660263" +
		strings.Repeat("05", 32) + "00"
	all := map[string][]byte{}
	for name, digits := range map[string]string{
		"tuple of mainnet":       "860202660263",
		"nested tuples":          "8602" + "8602" + "0402" + "82" + "0e02aabb",
		"true and false":         "86027f80",
		"generator":              "82",
		"collection":             "830204" + "0402" + "0404",
		"empty collection":       "8300" + "0e",
		"booleans":               "850a0502",
		"collection of tuples":   "83015c" + "8602" + "0302" + "0304",
		"any":                    "0c6100",
		"context":                "0c6500",
		"pre-headers":            "0c6900",
		"functions":              "0c70010405" + "00" + "00",
		"type variables":         "0c670154" + "00",
		"box":                    "63" + box,
		"boxes":                  "0c6302" + box + box,
		"box of unknown script":  "63" + "c0843d" + "0903818181" + "01" + "00" + "00" + strings.Repeat("05", 32) + "00",
		"option of a box":        "2463" + "01" + box,
		"deep data":              strings.Repeat("0c", 106) + "04" + strings.Repeat("01", 106) + "02",
		"deep types":             strings.Repeat("0c", 3000) + "04" + "00",
		"deep propositions":      "08" + strings.Repeat("9601", 107) + "cd" + aKey,
		"wide proposition":       "0896" + "f02e" + strings.Repeat("d3", 6000),
		"height":                 "8602a3a3",
		"context's boxes":        "8603a4a5a7",
		"get of a variable":      "8602" + "e4e3040e" + "0402",
		"index in a collection":  "8602" + "b2a5040000" + "b2a50400010402",
		"register of a box":      "8602" + "e4c6a70405" + "e5c6a704050500",
		"comparison of booleans": "8602" + "938503" + "9304020402",
		"function":               "8602" + "d90101" + "04" + "9a7201" + "0402" + "ac",
		"block":                  "8602" + "d801d601a37201" + "da" + "d901010472010104" + "02",
		"type function":          "8602" + "d801d70101670154a37201" + "0402",
		"calls":                  "8602" + "db6401a7" + "dc6a05dd010e01aa04",
		"casts":                  "8602" + "7e040206" + "7d050202",
		"substitution":           "8602" + "740e0010001000" + "0402",
		"deserialization":        "8602" + "d4040e" + "d504" + "0e" + "010e00",
		"propositions":           "8602" + "ea02" + key + "d10101" + "98" + "0404" + "8302" + "08" + key + key,
		"slices":                 "8602" + "b40e02aabb04000402" + "b50e00" + "d9010102" + "0101",
		"folds":                  "8602" + "b00e00" + "0400" + "d9020104" + "0202" + "7201" + "ad0e00d90101027201",
		"field":                  "8602" + "8c86020402040401" + "0402",
	} {
		all[name] = decode(digits)
	}
	return all
}

func decode(digits string) []byte {
	b, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return b
}

// Small returns the values of [Values] of at most 400 bytes, in a constant order.
func Small() (values [][]byte) {
	for _, v := range Values() {
		if len(v) <= 400 {
			values = append(values, v)
		}
	}
	slices.SortFunc(values, slices.Compare)
	return values
}

// constants are constants of all types that occur in registers.
var constants = []string{
	"0101", "02ff", "0304", "0405", "0506", "060180", "07" + aKey, "08cd" + aKey, "08d3", "62", "0e02aabb", "0c0400",
	"1a0101ff", "580204", "7f", "80", "82", "850503", "0c6100", "640a" + strings.Repeat("0b", 32) + "07" + "20" + "00",
}

// expressions are expressions other than values; v stands for any value.
var expressions = []string{
	"a3", "a7", "dd", "fe", "71040e", "740e00vv", "7av", "7dv02", "8cv01", "8f8503", "93vv", "95vvv", "96v", "98vv",
	"9avv", "b0vvv", "b1v", "b2v040200", "b2v040201v", "b4vvv", "b6vvvv", "c1v", "c6v0405", "cbv", "cevvvv", "d1v",
	"d40e01", "d5040e01v", "d801d601vv", "d90101047201", "dav02vv", "db6401v", "dc6305v01v", "dc6313v01v05", "dc6a0av000e",
	"e30104", "e4v", "e5vv", "e8vv", "ea02vv", "eb00", "ecvv", "f1v", "f5vv", "ffv",
}

// Random returns a random value of registers, nested to a depth.
func Random(rng *rand.Rand, depth int) []byte {
	if depth <= 0 || rng.IntN(3) == 0 {
		return decode(constants[rng.IntN(len(constants))])
	}
	if rng.IntN(4) == 0 { // bytes or ints
		elem := byte(2 + 2*rng.IntN(2))
		n := rng.IntN(4)
		b := []byte{0x83, byte(n), elem}
		for range n {
			b = append(b, elem, byte(rng.IntN(64)))
		}
		return b
	}
	n := 2 + rng.IntN(2)
	b := []byte{0x86, byte(n)}
	for range n {
		if rng.IntN(3) > 0 {
			b = append(b, Random(rng, depth-1)...)
		} else {
			b = append(b, expression(rng, depth-1)...)
		}
	}
	return b
}

func expression(rng *rand.Rand, depth int) (b []byte) {
	template := expressions[rng.IntN(len(expressions))]
	for template != "" {
		if rest, ok := strings.CutPrefix(template, "v"); ok {
			// Two booleans in bits are written in another way in comparisons.
			v := Random(rng, depth)
			if v[0] == 0x85 {
				v = []byte{1, 1}
			}
			b, template = append(b, v...), rest
			continue
		}
		b, template = append(b, decode(template[:2])...), template[2:]
	}
	return b
}
