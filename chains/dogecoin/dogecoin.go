// Package dogecoin indexes Dogecoin. The parameters come from Dogecoin Core (chainparams.cpp).
//
// Blocks can be merge-mined: the header of another chain has the proof of work. It is checked, as scrypt is; the
// difficulty is not.
package dogecoin

import (
	"math"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// Spec is the coin.
var Spec = params.New(params.Spec{
	Name: "dogecoin", Title: "Dogecoin",
	Unit:     model.Unit{Symbol: "DOGE", Decimals: 8, Smallest: "koinu"},
	HashRate: "H/s",
	Accent:   model.Accent{Light: "#7a5f10", LightWash: "#f6efd8", Dark: "#dcc05a", DarkWash: "#302a14"},
	Format: &block.Format{
		MaxSize:  1_000_000 + 100_000, // 1 MB, and the proof of merged mining
		MaxMoney: 10_000_000_000 * 100_000_000,
		Tail:     block.TakeMergedMining, Work: block.CheckMergedMining, Solve: block.SolveLegacy,
	},
	Supply:        supply,
	BlockArgument: false, // Dogecoin Core has no verbosity by number
	Networks: []*params.Network{
		{
			Name: "mainnet", NodeChain: "main", RPCPort: "22555", Magic: [4]byte{0xc0, 0xc0, 0xc0, 0xc0},
			Genesis: params.Hash("1a91e3dace36e2be3bf030a65679fe821aa1d6ef92e7c9902eb318182c355691"),
			Limit:   params.Target(0x1e0fffff), Halving: 100_000,
			KeyHash: []string{"\x1e"}, ScriptHash: []string{"\x16"}, Addresses: "D…, 9…, A…",
			Checkpoints: map[model.HeightPk]string{
				42_279:  "8444c3ef39a46222e87584ef956ad2c9ef401578bd8b51e8e4b9a86ec3134d3a",
				42_400:  "557bb7c17ed9e6d4a6f9361cfddf7c1fc0bdc394af7019167442b41f507252b4",
				145_000: "cc47cae70d7c5c92828d3214a266331dde59087d4a39071fa76ddfff9b7bde72",
				250_000: "0e4bcfe8d970979f7e30e2809ab51908d435677998cf759169407824d4f36460",
				270_639: "c587a36dd4f60725b9dd01d99694799bef111fc584d659f6756ab06d2a90d911",
			},
		},
		{
			Name: "testnet3", NodeChain: "test", RPCPort: "44555", Magic: [4]byte{0xfc, 0xc1, 0xb7, 0xdc},
			Genesis: params.Hash("bb0a78264637406b6360aad926284d544d7049f45189db5664f3c4d07350559e"),
			Limit:   params.Target(0x1e0fffff), Halving: 100_000,
			KeyHash: []string{"\x71"}, ScriptHash: []string{"\xc4"}, Addresses: "n…, 2…",
		},
		{
			Name: "regtest", RPCPort: "18332", Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda},
			Genesis: params.Hash("3d2160a3b5dc4a9d62e7e66a295f70313ac808440ef7400d6c0772171ce973a5"),
			Limit:   params.Target(0x207fffff), Halving: 150,
			KeyHash: []string{"\x6f"}, ScriptHash: []string{"\xc4"}, Addresses: "m…, n…, 2…",
		},
	},
})

// Subsidies in DOGE. Before block 145,000 they were random numbers up to the maximum. From block 600,000 on they are
// constant.
const (
	firstSubsidy = 1_000_000
	lastSubsidy  = 10_000
	halvings     = 6
)

// supply returns the sum of the largest subsidies. It is capped: the maximum of mainnet exceeds 64 bits, its real supply
// does not.
func supply(n *params.Network, height model.HeightPk) (amount uint64, ok bool) {
	const coin = 100_000_000
	blocks, sum := float64(height)+1, 0.0
	for era := range halvings {
		paid := min(blocks, float64(n.Halving))
		sum += paid * float64(uint64(firstSubsidy)>>era)
		blocks -= paid
	}
	if sum += blocks * lastSubsidy; sum >= math.MaxUint64/coin {
		return math.MaxUint64, true
	}
	return uint64(sum) * coin, true
}
