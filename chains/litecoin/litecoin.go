// Package litecoin indexes Litecoin. The parameters are those of Litecoin Core (chainparams.cpp).
//
// The public part of a block is indexed. Its extension (MWEB: LIP-2, LIP-3) is not: coins enter and leave it by the last
// transaction of a block, which spends the previous one of its kind. The proof of work is scrypt, and is checked; the
// difficulty is not.
package litecoin

import (
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

// mweb is the bit of the flag of a transaction with an extension.
const mweb = 8

// Spec is the coin.
var Spec = params.New(params.Spec{
	Name: "litecoin", Title: "Litecoin",
	Unit:         model.Unit{Symbol: "LTC", Decimals: 8, Smallest: "litoshi"},
	Accent:       model.Accent{Light: "#345d9d", LightWash: "#e6edf7", Dark: "#8fb3e8", DarkWash: "#1d2836"},
	BlockVSize:   1_000_000,
	FirstSubsidy: 50 * 100_000_000,
	Format: &block.Format{
		MaxSize:  16_000_000, // 4 MB, and an extension of at most about 11 MB
		MaxMoney: 84_000_000 * 100_000_000,
		Witness:  true, Work: block.ScryptWork, Flag: mweb, Extension: extension,
	},
	Networks: []*params.Network{
		{
			Name: "mainnet", NodeChain: "main", RPCPort: "9332", Magic: [4]byte{0xfb, 0xc0, 0xb6, 0xdb},
			Genesis: params.Hash("12a765e31ffd4059bada1e25190f6e98c99d9714d334efa41a195a7e7e04bfe2"),
			Limit:   params.Target(0x1e0fffff), Halving: 840_000,
			KeyHash: []string{"\x30"}, ScriptHash: []string{"\x32", "\x05"}, HRP: "ltc", Addresses: "L…, M…, 3…, ltc1…",
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
			Checkpoints: map[model.HeightPk]string{
				2_056: "17748a31ba97afdc9a4f86837a39d287e3e7c7290a08a1d816c5969c78a83289",
			},
		},
		{
			Name: "regtest", RPCPort: "19443", Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda},
			Genesis: params.Hash("530827f38f93b43ed12af0b3ad25a288dc02ed74d6d7857862df51fc56c416f9"),
			Limit:   params.Target(0x207fffff), Halving: 150,
			KeyHash: []string{"\x6f"}, ScriptHash: []string{"\x3a", "\xc4"}, HRP: "rltc", Addresses: "m…, n…, Q…, 2…, rltc1…",
		},
	},
})

// New returns Litecoin on a network; "" is mainnet. An error is of kind [model.Usage], code unknown_network.
func New(network string) (model.Chain, error) { return bitcoin.Open(Spec, network) }

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
