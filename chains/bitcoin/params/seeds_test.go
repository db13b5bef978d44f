package params

import (
	"strings"
	"testing"
)

// Each public network has at least two DNS seeds, without duplicates and without onion names.
func TestPublicNetworksHaveSeeds(t *testing.T) {
	t.Parallel()
	for _, n := range Networks {
		private := n.Name == "regtest" || n.Name == "simnet"
		if got := len(n.Params.DNSSeeds); private && got != 0 || !private && got < 2 {
			t.Errorf("%s has %d seeds", n, got)
		}
		names := map[string]bool{}
		for _, s := range n.Params.DNSSeeds {
			if names[s.Host] || strings.Contains(s.Host, "onion") || n.Params.DefaultPort == "" {
				t.Errorf("%s: %+v, port %q", n, s, n.Params.DefaultPort)
			}
			names[s.Host] = true
		}
	}
}
