package cli

import (
	"strings"
	"testing"
)

// What the one who minted an asset wrote cannot play tricks with the terminal of the one who reads it.
func TestWhatIsSaidOfAnAssetStaysOnItsLine(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"SigUSD":                   "SigUSD",
		"Ünïcode 金":                "Ünïcode 金",
		"a\nb\tc":                  "a b c",
		"\x1b[2Jgone\a":            " [2Jgone ",
		"\u202egnp.exe":            " gnp.exe",
		"\xff":                     "\ufffd",
		strings.Repeat("x", 10000): strings.Repeat("x", maxSaid) + "…",
	} {
		if got := said(in).text; got != want {
			t.Errorf("%q is shown as %q, expected %q", in, got, want)
		}
	}
}
