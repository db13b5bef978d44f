package params

import (
	"slices"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/v2"
)

// seeds are DNS seeds of Bitcoin Core (kernel/chainparams.cpp) that filter by services. They are added to those of
// package chaincfg.
var seeds = map[string][]string{
	chaincfg.MainNetParams.Name:  {"dnsseed.emzy.de", "seed.mainnet.achownodes.xyz"},
	chaincfg.TestNet3Params.Name: {"seed.testnet.achownodes.xyz"},
	chaincfg.SigNetParams.Name:   {"seed.signet.achownodes.xyz"},
}

// withSeeds adds seeds to p, and removes names that DNS cannot resolve.
func withSeeds(p *chaincfg.Params) {
	p.DNSSeeds = slices.DeleteFunc(slices.Clone(p.DNSSeeds), func(s chaincfg.DNSSeed) bool {
		return strings.Contains(s.Host, ".onion")
	})
	for _, host := range seeds[p.Name] {
		p.DNSSeeds = append(p.DNSSeeds, chaincfg.DNSSeed{Host: host, HasFiltering: true})
	}
}
