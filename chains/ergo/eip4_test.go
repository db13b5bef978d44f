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
