package config

import (
	"strings"
	"testing"

	"birthmark/internal/signet"
)

// The magic of a custom signet, and so the name of its network, depends on its challenge (BIP 325). The challenge of the
// public signet is that of Bitcoin Core (kernel/chainparams.cpp).
func TestSignetChallenge(t *testing.T) {
	const public = "512103ad5e0edad18cb1f0fc0d28a3d4f1f3e445640337489abb10404f2d1e086be430" +
		"210359ef5021964fe22d6f8e05b2463c9540ce96883fe3b278760f048f5189f2e6c452ae"
	for challenge, want := range map[string]string{
		"51": "signet-54d26fbd", public: "signet", strings.Repeat("51", 300): "signet-fd75bdc1",
	} {
		for _, network := range []string{"", "network: signet\n", "network: " + want + "\n"} {
			s := parse(t, "chain: bitcoin\n"+network+"signet_challenge: "+challenge+"\n")
			c, err := s.One()
			if err != nil || c.Network != want {
				t.Fatalf("%.20s with %q: network %s, %v, expected %s", challenge, network, c.Network, err, want)
			}
			if all, err := s.All(); err != nil || len(all) != 1 || all[0].Network != want {
				t.Errorf("%.20s: %+v, %v", challenge, all, err)
			}
			if got := c.View("", nil); got.Challenge != challenge || got.Network != want {
				t.Errorf("%.20s is shown as %.20s of %s", challenge, got.Challenge, got.Network)
			}
			c.DataFolder = "/data"
			if got := c.DefaultDB(); got != "/data/bitcoin-"+want {
				t.Errorf("the default database is %s", got)
			}
		}
	}
	for _, text := range []string{
		"chain: litecoin\nsignet_challenge: 51", "chain: bitcoin\nnetwork: mainnet\nsignet_challenge: 51",
		"chain: bitcoin\nnetwork: signet-00000000\nsignet_challenge: 51",
	} {
		_, err := parse(t, text).One()
		if err == nil || !strings.Contains(err.Error(), "signet_challenge needs the chain bitcoin") || !strings.Contains(err.Error(), "birthmark.yaml:") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, bad := range []string{"5", "xyz", strings.Repeat("51", signet.MaxChallenge+1)} {
		if _, err := Parse("birthmark.yaml", []byte("chain: bitcoin\nsignet_challenge: "+bad)); err == nil || !strings.Contains(err.Error(), "script of 1 to") {
			t.Errorf("%.20s: %v", bad, err)
		}
	}
}
