// Package bitcoinsv indexes BSV. The parameters come from its node (chainparams.cpp, 1.2.2).
//
// The Genesis upgrade (block 620,538 of mainnet) changed scripts. OP_FALSE OP_RETURN cannot be spent at any height;
// OP_RETURN alone can be since then. An output in the form of P2SH is an ordinary script since then. The same scripts have
// the same values of indexes before and after it: data after OP_RETURN is data, and an output in the form of P2SH has the
// address 3…, as in the node's decoderawtransaction, which does not know the height either.
package bitcoinsv

import (
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/bitcoin/rules"
	"birthmark/chains/bitcoinsv/onesat"
	"birthmark/model"
)

// Spec is the coin.
var Spec = params.New(params.Spec{
	Name: "bitcoin-sv", Title: "BSV", Scheme: "bitcoin",
	Unit:         model.Unit{Symbol: "BSV", Decimals: 8, Smallest: "sat"},
	HashRate:     "H/s",
	Accent:       model.Accent{Light: "#7a5c00", LightWash: "#f8efcf", Dark: "#e6bd3c", DarkWash: "#33290c"},
	FirstSubsidy: 50 * 100_000_000,
	Format: &block.Format{
		MaxSize:  4_000_000_000, // the node has no limit; the largest block has this size
		MaxMoney: 21_000_000 * 100_000_000,
		Solve:    solve, FalseReturn: true,
	},
	Pointers: model.WidePointers,
	Tokens:   tokens,
	Lock:     onesat.LockAddress, LockDoc: onesat.LockDoc,
	Outputs:  onesat.Indexes(),
	Services: wire.SFNodeBit5, BlockType: wire.InvTypeBlock,
	Networks: []*params.Network{
		{
			Name: "mainnet", NodeChain: "main", RPCPort: "8332", Magic: [4]byte{0xf9, 0xbe, 0xb4, 0xd9},
			Genesis: params.Hash("000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"),
			Limit:   params.Target(0x1d00ffff), Halving: 210_000,
			KeyHash: []string{"\x00"}, ScriptHash: []string{"\x05"}, Addresses: "1…, 3…",
			Checkpoints: map[model.HeightPk]string{
				11_111:  "0000000069e244f73d78e8fd29ba2fd2ed618bd6fa2ee92559f542fdb26e7c1d",
				250_000: "000000000000003887df1f29024b06fc2200b55f8af8f35453d7be294df2d214",
				478_558: "0000000000000000011865af4122fe3b144e2cbeea86142e8ff2fb4107352d43",
				478_559: "000000000000000000651ef99cb9fcbe0dadde1d424bd9f15ff20136191a5eec",
				504_031: "0000000000000000011ebf65b60d0a3de80b8175be70d9653b4c1a1beeb6ab9c",
				530_359: "0000000000000000011ada8bd08f46074f44a8f155396f43e38acf9501c49103",
				556_767: "000000000000000001d956714215d96ffc00e0afda4cd0a96c96f8d802b1662b",
			},
			Peers: peers(params.Peers{
				Magic: [4]byte{0xe3, 0xe1, 0xf3, 0xe8}, Port: "8333", Versions: [3]int32{227_931, 363_725, 388_381},
				First: params.First{Time: 1231006505, Bits: 0x1d00ffff, Nonce: 2083236893},
			}, rules.Cash{Split: 478_558, Window: 504_031},
				"seed.bitcoinsv.io", "seed.satoshisvision.network", "seed.bitcoinseed.directory"),
		},
		forTests(params.Network{
			Name: "testnet", NodeChain: "test", RPCPort: "18332", Magic: [4]byte{0x0b, 0x11, 0x09, 0x07},
			Genesis: params.Hash("000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943"),
			Checkpoints: map[model.HeightPk]string{
				546:       "000000002a936ca763904c3c35fce2f3556c559c0214345d31b1bcebf76acb70",
				1_155_875: "00000000f17c850672894b9a75b63a1e72830bbd5f4c8889b5c1a80e7faef138",
				1_188_697: "0000000000170ed0918077bde7b4d36cc4c91be69fa09211f748240dabe047fb",
			},
			Peers: peers(params.Peers{
				Magic: [4]byte{0xf4, 0xe5, 0xf3, 0xf4}, Port: "18333", Versions: [3]int32{21_111, 330_776, 581_885}, Easy: true,
				First: params.First{Time: 1296688602, Bits: 0x1d00ffff, Nonce: 414098458},
			}, rules.Cash{Split: 1_155_875, Window: 1_188_697},
				"testnet-seed.bitcoinsv.io", "testnet-seed.bitcoincloud.net", "testnet-seed.bitcoinseed.directory"),
		}),
		// It is reset from time to time. The node does not state the heights of versions, and no block is refused for its
		// version.
		forTests(params.Network{
			Name: "stn", RPCPort: "9332", Magic: [4]byte{0xfb, 0xce, 0xc4, 0xf9},
			Genesis: params.Hash("000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943"),
			Checkpoints: map[model.HeightPk]string{
				1:  "00000000e23f9436cc8a6d6aaaa515a7b84e7a1720fc9f92805c0007c77420c4",
				11: "00000000e1ad0ed45011a4c7fe5afde3211b4bdcf60370234355338afbf70e2d",
			},
			Peers: peers(params.Peers{
				Port: "9333", Versions: [3]int32{never, never, never},
				First: params.First{Time: 1296688602, Bits: 0x1d00ffff, Nonce: 414098458},
			}, rules.Cash{Split: 15, Window: 2_200}, "stn-seed.bitcoinsv.io", "stn-seed.bitcoinseed.directory"),
		}),
		forTests(params.Network{
			Name: "regtest", RPCPort: "18332", Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda},
			Genesis: params.Hash("0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"),
			Limit:   params.Target(0x207fffff), Halving: 150,
			Peers: peers(params.Peers{
				Magic: [4]byte{0xda, 0xb5, 0xbf, 0xfa}, Port: "18444", Easy: true, Fixed: true,
				First: params.First{Time: 1296688602, Bits: 0x207fffff, Nonce: 2},
			}, rules.Cash{}),
		}),
	},
})

// tokens returns the assets of a network: the main network has ordinals from a height on, others from the first block on.
func tokens(n *params.Network) []params.Tokens {
	if n.Name == "mainnet" {
		return onesat.TokensFrom(onesat.OrdinalsFrom)
	}
	return onesat.TokensFrom(0)
}

// never is a height that no block has.
const never = 1<<31 - 1

// peers completes the parameters of peers with those of all networks.
func peers(p params.Peers, c rules.Cash, seeds ...string) *params.Peers {
	p.First.Root = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"
	p.Spacing, p.Difficulty, p.Seeds = 10*time.Minute, c.Difficulty, seeds
	return &p
}

// forTests completes a network for tests. Without a limit it has the limit of mainnet.
func forTests(n params.Network) *params.Network {
	if n.Limit == nil {
		n.Limit, n.Halving = params.Target(0x1d00ffff), 210_000
	}
	n.KeyHash, n.ScriptHash, n.Addresses = []string{"\x6f"}, []string{"\xc4"}, "m…, n…, 2…"
	return &n
}

// solve classifies a script. OP_FALSE before OP_RETURN does not change what follows.
func solve(script []byte) (block.Kind, []byte) {
	if block.FalseReturn(script) {
		script = script[1:]
	}
	return block.SolveLegacy(script)
}
