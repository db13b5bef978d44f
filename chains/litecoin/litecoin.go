// Package litecoin indexes Litecoin. The parameters come from Litecoin Core (chainparams.cpp).
//
// The public part of a block is indexed. Its extension (MWEB: LIP-2, LIP-3) is not: coins enter and leave it by the last
// transaction of a block, which spends the previous one of its kind. The proof of work is scrypt.
package litecoin

import (
	"errors"
	"strings"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/bitcoin/rules"
	"birthmark/model"
)

// mweb is the bit of the flag of a transaction with an extension, extensions the service of a peer that has them, and
// withExtension the bit by which a request of a block includes them.
const (
	mweb          = 8
	extensions    = 1 << 24
	withExtension = 1 << 29
)

// Spec is the coin.
var Spec = params.New(params.Spec{
	Name: "litecoin", Title: "Litecoin",
	Unit:         model.Unit{Symbol: "LTC", Decimals: 8, Smallest: "litoshi"},
	HashRate:     "H/s",
	Accent:       model.Accent{Light: "#345d9d", LightWash: "#e6edf7", Dark: "#8fb3e8", DarkWash: "#1d2836"},
	BlockVSize:   1_000_000,
	FirstSubsidy: 50 * 100_000_000,
	Format: &block.Format{
		MaxSize:  16_000_000, // 4 MB, and an extension of at most about 11 MB
		MaxMoney: 84_000_000 * 100_000_000,
		Witness:  true, Work: block.ScryptWork, Flag: mweb, Extension: extension,
	},
	ParseAddress: parseAddress,
	Services:     wire.SFNodeWitness | extensions,
	BlockType:    wire.InvTypeWitnessBlock | withExtension,
	Networks: []*params.Network{
		{
			Name: "mainnet", NodeChain: "main", RPCPort: "9332", Magic: [4]byte{0xfb, 0xc0, 0xb6, 0xdb},
			Genesis: params.Hash("12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2"),
			Limit:   params.Target(0x1e0fffff), Halving: 840_000,
			KeyHash: []string{"\x30"}, ScriptHash: []string{"\x32", "\x05"}, HRP: "ltc", Addresses: "L…, M…, 3…, ltc1…",
			Peers: peers(params.Peers{
				Port: "9333", Versions: [3]int32{710_000, 811_879, 918_684},
				First: params.First{Time: 1317972665, Bits: 0x1e0ffff0, Nonce: 2084524493},
				Seeds: []string{
					"seed-a.litecoin.loshan.co.uk", "dnsseed.thrasher.io", "dnsseed.litecointools.com",
					"dnsseed.litecoinpool.org", "dnsseed.koin-project.com",
				},
			}),
			Segwit: 1_201_536, Extended: 2_265_985,
			Checkpoints: map[model.HeightPk]string{
				1_500:     "841a2965955dd288cfa707a755d05a54e45f8bd476835ec9af4402a2b59a2967",
				120_000:   "bd9d26924f05f6daa7f0155f32828ec89e8e29cee9e7121b026a7a3552ac6131",
				456_000:   "bf34f71cc6366cd487930d06be22f897e34ca6a40501ac7d401be32456372004",
				721_000:   "198a7b4de1df9478e2463bd99d75b714eab235a2e63e741641dc8a759a9840e5",
				2_772_730: "80cdb35c080484df5bf384b311fde3c4694d3405765bc0f596e9eb369ff286e5",
			},
		},
		{
			Name: "testnet4", NodeChain: "test", RPCPort: "19332", Magic: [4]byte{0xfd, 0xd2, 0xc8, 0xf1},
			Genesis: params.Hash("4966625a4b2851d9fdee139e56211a0d88575f59ed816ff5e6a63deb4e3e29a0"),
			Limit:   params.Target(0x1e0fffff), Halving: 840_000,
			KeyHash: []string{"\x6f"}, ScriptHash: []string{"\x3a", "\xc4"}, HRP: "tltc", Addresses: "m…, n…, Q…, 2…, tltc1…",
			Peers: peers(params.Peers{
				Port: "19335", Easy: true, Versions: [3]int32{76, 76, 76},
				First: params.First{Time: 1486949366, Bits: 0x1e0ffff0, Nonce: 293345},
				Seeds: []string{"testnet-seed.litecointools.com", "seed-b.litecoin.loshan.co.uk", "dnsseed-testnet.thrasher.io"},
			}),
			Segwit: 6_048, Extended: 2_215_584,
			Checkpoints: map[model.HeightPk]string{
				2_056:     "17748a31ba97afdc9a4f86837a39d287e3e7c7290a08a1d816c5969c78a83289",
				2_352_616: "7540437e7bf7831fa872ba8cfae85951a1e5dbb04c201b6f5def934d9299f3c2",
			},
		},
		{
			Name: "regtest", RPCPort: "19443", Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda},
			Genesis: params.Hash("530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9"),
			Limit:   params.Target(0x207fffff), Halving: 150,
			KeyHash: []string{"\x6f"}, ScriptHash: []string{"\x3a", "\xc4"}, HRP: "rltc", Addresses: "m…, n…, Q…, 2…, rltc1…",
			Peers: peers(params.Peers{
				Port: "19444", Easy: true, Fixed: true,
				First: params.First{Time: 1296688602, Bits: 0x207fffff},
			}),
			Extended: model.MaxHeight,
		},
	},
})

// peers adds the parameters that all networks share.
func peers(p params.Peers) *params.Peers {
	p.First.Root = "97ddfbbae6be97fd6cdf3e7ca13232a3afff2353e29badfab7f73011edd4ced9"
	p.Spacing, p.Difficulty, p.Periods = 150*time.Second, rules.FullPeriods, true
	return &p
}

// parseAddress rejects addresses of the extension, which have the prefix of the network and mweb (LIP-5).
func parseAddress(n *params.Network, text string) ([]byte, error) {
	if prefix, _, _ := strings.Cut(strings.ToLower(text), "1"); strings.HasSuffix(prefix, "mweb") {
		return nil, errors.New("an address of the extension block (MWEB) is not indexed: only public addresses are")
	}
	return nil, nil
}

// extension reads the extension of a transaction: whether it has one, and that. In a block only the last transaction has
// the flag, without an extension.
func extension(r *block.Reader, confirmed bool) {
	has := r.Take(1, "extension")
	switch {
	case has == nil || has[0] == 0:
	case confirmed:
		r.Fail("a transaction with its own extension in a block")
	default:
		const lockTime = 4
		r.Take(max(0, r.Left()-lockTime), "extension")
	}
}
