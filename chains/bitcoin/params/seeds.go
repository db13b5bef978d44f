package params

import (
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/v2"
)

// seeds are the DNS seeds that this package adds to chaincfg's: those of Bitcoin Core (kernel/chainparams.cpp) that
// filter by services.
var seeds = map[string][]string{
	chaincfg.MainNetParams.Name:  {"dnsseed.emzy.de", "seed.mainnet.achownodes.xyz"},
	chaincfg.TestNet3Params.Name: {"seed.testnet.achownodes.xyz"},
	chaincfg.SigNetParams.Name:   {"seed.signet.achownodes.xyz"},
}

// withSeeds adds the seeds to p, and drops names that DNS cannot resolve.
func withSeeds(p *chaincfg.Params) {
	p.DNSSeeds = slices.DeleteFunc(slices.Clone(p.DNSSeeds), func(s chaincfg.DNSSeed) bool {
		return strings.Contains(s.Host, ".onion")
	})
	for _, host := range seeds[p.Name] {
		p.DNSSeeds = append(p.DNSSeeds, chaincfg.DNSSeed{Host: host, HasFiltering: true})
	}
}
