package params

import (
	"strings"
	"testing"
)

// Public networks have DNS seeds, and the system's resolver can resolve each of them.
func TestSeeds(t *testing.T) {
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
