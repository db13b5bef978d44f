package terminal

import (
	"strings"
	"testing"
)

// The name of an asset cannot control the terminal.
func TestForeignTextStaysOnItsLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"SigUSD":                   "SigUSD",
		"Ünïcode 金":                "Ünïcode 金",
		"a\nb\tc":                  "a b c",
		"\x1b[2Jgone\a":            " [2Jgone ",
		"\u202egnp.exe":            " gnp.exe",
		"\xff":                     "\ufffd",
		strings.Repeat("x", 10000): strings.Repeat("x", maxForeign) + "…",
	} {
		if got := Foreign(in); got != want {
			t.Errorf("%q is shown as %q, expected %q", in, got, want)
		}
	}
}
