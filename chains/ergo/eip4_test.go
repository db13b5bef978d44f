package ergo

import (
	"fmt"
	"strings"
	"testing"
)

func TestTokensAreDescribed(t *testing.T) {
	text := func(s string) []byte { return append([]byte{0x0e, byte(len(s))}, s...) }
	long := append([]byte{0x0e, 0xac, 0x02}, strings.Repeat("x", 300)...)
	for _, c := range []struct {
		registers [][]byte
		want      string
	}{
		{nil, `"" "" -`},
		{[][]byte{text("SigUSD"), text("stable"), text("2")}, `"SigUSD" "stable" 2`},
		{[][]byte{text("SigUSD"), text("stable"), text("2"), text("more")}, `"SigUSD" "stable" 2`},
		{[][]byte{text("x")}, `"x" "" -`},
		{[][]byte{text("x"), text(""), text("0")}, `"x" "" 0`},
		{[][]byte{long}, fmt.Sprintf("%q %q -", strings.Repeat("x", 300), "")},
		{[][]byte{{0x04, 0x02}, text("not a text before"), {0x04, 0x08}}, `"" "not a text before" 4`},
		{[][]byte{text("x"), text("y"), {0x05, 0x0c}}, `"x" "y" 6`},
		{[][]byte{text("x"), text("y"), {0x03, 0x0c}}, `"x" "y" 6`},
		{[][]byte{text("x"), text("y"), {0x02, 9}}, `"x" "y" 9`},
		{[][]byte{text("x"), text("y"), {0x02, 0xff}}, `"x" "y" -`},
		{[][]byte{text("x"), text("y"), {0x04, 0x01}}, `"x" "y" -`},
		{[][]byte{text("x"), text("y"), {0x04, 0x80}}, `"x" "y" -`},
		{[][]byte{text("x"), text("y"), {0x04, 0x80, 0x04}}, `"x" "y" -`},
		{[][]byte{text("x"), text("y"), {0x04}}, `"x" "y" -`},
		{[][]byte{text("x"), text("y"), text("two")}, `"x" "y" -`},
		{[][]byte{text("x"), text("y"), text("-1")}, `"x" "y" -`},
		{[][]byte{text("x"), text("y"), text("256")}, `"x" "y" -`},
		{[][]byte{text("x"), text("y"), text("99999999999999999999")}, `"x" "y" -`},
		{[][]byte{text("a\xffb")}, `"a` + "\uFFFD" + `b" "" -`},
		{[][]byte{{0x0e, 5, 'a'}, {0x0e}, {0x0e, 0}}, `"" "" -`},
	} {
		if got := described(tokenInfo(c.registers)); got != c.want {
			t.Errorf("%x: %s, expected %s", c.registers, got, c.want)
		}
	}
	for info, want := range map[string]string{"\x80": `"" "" -`, "\x05ab": `"" "" -`, "\x03\x0e\x01x\x09": `"x" "" -`} {
		if got := described([]byte(info)); got != want {
			t.Errorf("%q: %s, expected %s", info, got, want)
		}
	}
}

func described(info []byte) string {
	a := describeToken(info)
	decimals := "-"
	if a.Decimals != nil {
		decimals = fmt.Sprint(*a.Decimals)
	}
	return fmt.Sprintf("%q %q %s", a.Name, a.Description, decimals)
}

// The node and the explorer read some tokens in another way: IndexedToken.scala of the node, TokenPropsParser.scala of
// the explorer.
func TestPeersDescribeTokens(t *testing.T) {
	text := func(s string) []byte { return append([]byte{0x0e, byte(len(s))}, s...) }
	name := text("x")
	for _, c := range []struct {
		registers      [][]byte
		node, explorer string
	}{
		{nil, `"" "" 0`, "-"},
		{[][]byte{name}, `"x" "" 0`, `"x" "" 0`},
		{[][]byte{text("")}, `"" "" 0`, `"" "" 0`},
		{[][]byte{text("SigUSD"), text("stable"), text("2")}, `"SigUSD" "stable" 2`, `"SigUSD" "stable" 2`},
		{[][]byte{name, text("y"), {4, 8}}, `"x" "y" 4`, `"x" "y" 0`},
		{[][]byte{name, text("y"), {4, 7}}, `"x" "y" -4`, `"x" "y" 0`},
		{[][]byte{name, text("y"), {5, 8}}, `"x" "y" 0`, `"x" "y" 0`},
		{[][]byte{name, text("y"), {2, 8}}, `"x" "y" 0`, `"x" "y" 0`},
		{[][]byte{name, text("y"), {3, 8}}, `"x" "y" 0`, `"x" "y" 0`},
		{[][]byte{name, text("y"), text("+8")}, `"x" "y" 8`, `"x" "y" 8`},
		{[][]byte{name, text("y"), text("-8")}, `"x" "y" -8`, `"x" "y" -8`},
		{[][]byte{name, text("y"), text(" 8")}, `"x" "y" 0`, `"x" "y" 0`},
		{[][]byte{name, text("y"), text("+-8")}, `"x" "y" 0`, `"x" "y" 0`},
		{[][]byte{name, text("y"), text("")}, `"x" "y" 0`, `"x" "y" 0`},
		{[][]byte{name, text("y"), text("300")}, `"x" "y" 300`, `"x" "y" 300`},
		{[][]byte{name, text("y"), text("2147483647")}, `"x" "y" 2147483647`, `"x" "y" 2147483647`},
		{[][]byte{name, text("y"), text("2147483648")}, `"x" "y" 0`, `"x" "y" 0`},
		{[][]byte{name, text("y"), text("-2147483648")}, `"x" "y" -2147483648`, `"x" "y" -2147483648`},
		{[][]byte{name, text("y"), text("99999999999999999999")}, `"x" "y" 0`, `"x" "y" 0`},
		{[][]byte{name, text("y"), text("\uff18")}, `"x" "y" 8`, `"x" "y" 8`}, // of full width
		{[][]byte{name, text("y"), text("\u0668")}, `"x" "y" 8`, `"x" "y" 0`}, // Arabic: two bytes
		{[][]byte{text("a\xff\xfeb")}, `"a��b" "" 0`, "-"},
		{[][]byte{text("\xe2\x82b\xf0\x9f\x98\xc2\xed\xa0\x80\xe2\x82")}, `"�b����" "" 0`, "-"},
		{[][]byte{text("caf\u00e9")}, `"café" "" 0`, "-"},
		{[][]byte{text("\u20ac\U0001f600")}, `"€😀" "" 0`, `"€😀" "" 0`},
		{[][]byte{text("a\x00")}, `"a\x00" "" 0`, "-"},
		{[][]byte{name, text("\xff"), text("1")}, `"x" "�" 1`, `"x" "" 1`},
		{[][]byte{{0x10, 1, 2}, text("y"), text("1")}, `"" "y" 1`, "-"},
		{[][]byte{name, {0x10, 1, 2}, text("1")}, `"x" "" 1`, "-"},
		{[][]byte{name, {4, 2}, text("1")}, `"x" "" 1`, `"x" "" 1`},
		{[][]byte{name, {0x86, 2, 2, 1, 2, 1}, text("1")}, `"x" "" 1`, "-"},
		{[][]byte{name, text("y"), {0x10, 1, 2}}, `"x" "y" 0`, `"x" "y" 0`},
		{[][]byte{{0x83, 1, 2, 2, 'x'}, text("y"), {0x83, 1, 2, 2, '3'}}, `"" "y" 0`, `"x" "y" 3`},
	} {
		info := tokenInfo(c.registers)
		if n := NodeToken(info); fmt.Sprintf("%q %q %d", n.Name, n.Description, n.Decimals) != c.node {
			t.Errorf("%x is %v to the node, expected %s", c.registers, n, c.node)
		}
		explorer := "-"
		if x := ExplorerToken(info); x != nil {
			explorer = fmt.Sprintf("%q %q %d", x.Name, x.Description, x.Decimals)
		}
		if explorer != c.explorer {
			t.Errorf("%x is %s to the explorer, expected %s", c.registers, explorer, c.explorer)
		}
	}
}
