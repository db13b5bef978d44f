package boxestest

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"birthmark/bench/generate/ergogen"
	"birthmark/chains/ergo/sigma"
	"birthmark/chains/ergo/sigma/sigmatest"
)

// Odd returns the options of a chain with unusual values, trees and tokens beside normal ones.
func Odd(rng *rand.Rand) ergogen.Options {
	return ergogen.Options{
		Seed: rng.Uint64(), TxsPerBlock: 8,
		Values: oddValues(rng), Registers: unreadable(), Variables: unreadable(), Trees: oddTrees(),
	}
}

// oddValues returns [sigmatest.Small] and random values: unusual registers and variables that nodes accept.
func oddValues(rng *rand.Rand) [][]byte {
	values := sigmatest.Small()
	for range len(values) {
		values = append(values, sigmatest.Random(rng, 4))
	}
	return values
}

// unreadable returns values that no node of today accepts. APIs show them with the bytes of the values after them.
func unreadable() [][]byte { return [][]byte{{0xff, 1}, {0xa3}, {0x81, 4, 2}, {0x6e}, {0x0b, 1}} }

// oddTrees returns trees that nodes accept, some of which they cannot parse.
func oddTrees() (trees [][]byte) {
	key := "0327e65711a59378c59359c3e1d0f7abe906479eccb76094e50fe79d743ccc15e6"
	for _, digits := range []string{
		"08" + "02" + "08d3",                       // with its size
		"0b" + "03" + "8602a3",                     // of a version of the language that has no release
		"09" + "7f" + "08d3",                       // with a wrong size
		"08cd" + key,                               // neither a key nor a script
		"0008cd" + "02" + strings.Repeat("ff", 32), // no point of the curve
		"0008cd" + strings.Repeat("00", 33),        // the point at infinity
		"0825" + "08cd" + key,                      // a key with its size
		"1001" + "08cd" + key + "7300",
		"10" + "01" + "860202660263" + "d17300",     // a tuple as a constant
		"19" + "06" + "01" + "6e" + "0402" + "7300", // an unknown type as a constant
		"00" + "d1" + "93" + "860202660263" + "860202660263",
		"0f" + "00",
		"ff",
		"00" + strings.Repeat("d1", 3000), // large
	} {
		tree, err := hex.DecodeString(digits)
		if err != nil {
			panic(err)
		}
		trees = append(trees, tree)
	}
	return trees
}

// OddDescriptions returns registers of boxes with a new token that are not a description, an incomplete one, or a text that
// needs an escape.
func OddDescriptions() (all [][][]byte) {
	text := func(s string) []byte { return append([]byte{0x0e, byte(len(s))}, s...) }
	for _, s := range []string{"", "\xff\xfe", "a\x00b", `"quoted"`, "</script>", "\u202e", "☕", strings.Repeat("x", 100)} {
		all = append(all, [][]byte{text(s)}, [][]byte{text(s), text(s), text(s)})
	}
	return append(all, nil, [][]byte{{0x62}}, [][]byte{text("n"), {0x86, 2, 2, 1, 2, 1}, {4, 2}},
		[][]byte{text("n"), text("d"), text("-5"), {0xff}}, [][]byte{text("n"), text("d"), text("99999999999999999999")},
		[][]byte{{0x83, 1, 2, 2, 'x'}, text("y"), {0x83, 1, 2, 2, '3'}}, [][]byte{{0x6e}, text("n")})
}

// readable moves the bytes after the first unreadable value, in the order of names, into that value. between returns the
// bytes before the value with a name.
func readable(values map[string]any, names []string, between func(name string) string) {
	unread := ""
	for _, name := range names {
		digits, ok := values[name].(string)
		if !ok {
			return
		}
		if unread != "" {
			values[unread] = values[unread].(string) + between(name) + digits
			delete(values, name)
			continue
		}
		raw, err := hex.DecodeString(digits)
		if err != nil {
			panic(err)
		}
		if size, err := sigma.ValueSize(raw); err != nil || size != len(raw) {
			unread = name
		}
	}
}

func readableRegisters(registers map[string]any) {
	var names []string
	for n := sigma.FirstRegister; n < 10; n++ {
		names = append(names, fmt.Sprintf("R%d", n))
	}
	readable(registers, names, func(string) string { return "" })
}

func readableVariables(extension map[string]any) {
	number := func(name string) int {
		n, err := strconv.Atoi(name)
		if err != nil {
			panic(err)
		}
		return n
	}
	var names []string
	for name := range extension {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int { return number(a) - number(b) })
	readable(extension, names, func(name string) string { return fmt.Sprintf("%02x", number(name)) })
}
