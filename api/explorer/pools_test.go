package explorer

import (
	"strings"
	"testing"
)

// The texts are from coinbases of Bitcoin; the comments are heights.
func TestPoolsAreFoundByTheirTags(t *testing.T) {
	for text, want := range map[string]string{
		"The Times 03/Jan/2009 Chancellor on brink of second bailout for banks": "", // 0
		"/slush/":                        "Braiins Pool",
		"x/ViaBTC/TATMAS Pool/":          "TATMAS Pool",
		"/ViaBTC/Mined by somebody/":     "ViaBTC",
		"Mined by AntPool sc0":           "AntPool",
		"/P2SH/ at the edge of /viabtc/": "",
		"Foundry USA Pool #dropgold":     "Foundry USA",
		"七彩神仙鱼 and others":               "F2Pool",
		"":                               "",
	} {
		if got := poolOf(text); got != want {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
	}
}

func TestEveryTagNamesItsPool(t *testing.T) {
	if len(poolTags) < 150 {
		t.Errorf("%d tags, expected at least 150", len(poolTags))
	}
	names := map[string]string{}
	for _, p := range poolTags {
		if len(p.tag) < 4 || p.name == "" || strings.TrimSpace(p.name) != p.name {
			t.Errorf("bad line: %q %q", p.tag, p.name)
		}
		if other, ok := names[p.tag]; ok && other != p.name {
			t.Errorf("%q names %s and %s", p.tag, other, p.name)
		}
		names[p.tag] = p.name
		if got := poolOf("… " + p.tag + " …"); got != p.name {
			t.Errorf("%q: %s, expected %s", p.tag, got, p.name)
		}
	}
}
