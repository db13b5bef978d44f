// Package bitcoincash indexes Bitcoin Cash, with CashTokens as assets. The parameters come from Bitcoin Cash Node
// (chainparams.cpp).
//
// Since November 2018 the transactions of a block are in the order of their ids, so an input can spend an output of a
// later transaction of its block.
package bitcoincash

import (
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/bitcoin/rules"
	"birthmark/chains/bitcoincash/cashaddr"
	"birthmark/chains/bitcoincash/cashtoken"
	"birthmark/model"
)

// Spec is the coin.
var Spec = params.New(params.Spec{
	Name: "bitcoin-cash", Title: "Bitcoin Cash", Scheme: "bitcoincash",
	Unit:         model.Unit{Symbol: "BCH", Decimals: 8, Smallest: "sat"},
	HashRate:     "H/s",
	Accent:       model.Accent{Light: "#0a6b4a", LightWash: "#def2ea", Dark: "#4fcf9f", DarkWash: "#102b21"},
	FirstSubsidy: 50 * 100_000_000,
	Format: &block.Format{
		MaxSize:  256_000_000, // 32 MB until May 2024, then adaptive: at most about double in a year
		MaxMoney: 21_000_000 * 100_000_000,
		Solve:    solve, Output: cashtoken.Split,
	},
	Unordered:     true,
	FormatAddress: cashaddr.FormatAddress, ParseAddress: cashaddr.ParseAddress,
	Assets: true, FormatAsset: cashtoken.Format, ParseAsset: cashtoken.Parse, AssetForm: cashtoken.Form,
	Services: wire.SFNodeBit5, BlockType: wire.InvTypeBlock,
	Networks: []*params.Network{
		{
			Name: "mainnet", NodeChain: "main", RPCPort: "8332", Magic: [4]byte{0xf9, 0xbe, 0xb4, 0xd9},
			Genesis: params.Hash("000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"),
			Limit:   params.Target(0x1d00ffff), Halving: 210_000,
			KeyHash: []string{"\x00"}, ScriptHash: []string{"\x05"}, CashAddr: "bitcoincash",
			Addresses: "bitcoincash:q…, bitcoincash:p…, 1…, 3…",
			Checkpoints: map[model.HeightPk]string{
				11_111:  "0000000069e244f73d78e8fd29ba2fd2ed618bd6fa2ee92559f542fdb26e7c1d",
				250_000: "000000000000003887df1f29024b06fc2200b55f8af8f35453d7be294df2d214",
				478_558: "0000000000000000011865af4122fe3b144e2cbeea86142e8ff2fb4107352d43",
				478_559: "000000000000000000651ef99cb9fcbe0dadde1d424bd9f15ff20136191a5eec",
				504_031: "0000000000000000011ebf65b60d0a3de80b8175be709d653b4c1a1beeb6ab9c",
				556_767: "0000000000000000004626ff6e3b936941d341c5932ece4357eeccac44e6d56c",
				661_648: "0000000000000000029e471c41818d24b8b74c911071c4ef0b4a0509f9b5a8ce",
				714_881: "000000000000000004cd628ee64c058183e780bc31143ff00680ea8af51fa0ff",
				845_891: "0000000000000000017012058e7b67032926f1f20f96d1a2cd66abff9aaf8244",
				878_660: "000000000000000000c166d5661c13195722ae6fbee90f0ab2407ae60b71c2e6",
			},
			Peers: peers(params.Peers{
				Magic: [4]byte{0xe3, 0xe1, 0xf3, 0xe8}, Port: "8333", Versions: [3]int32{227_931, 363_725, 388_381},
				First: params.First{Time: 1231006505, Bits: 0x1d00ffff, Nonce: 2083236893},
			}, rules.Cash{
				Split: 478_558, Window: 504_031, HalfLife: 172_800,
				Anchor: rules.Anchor{Height: 661_647, Bits: 0x1804dafe, Time: 1605447844},
			}, "seed.flowee.cash", "seed-bch.bitcoinforks.org", "btccash-seeder.bitcoinunlimited.info",
				"seed.bchd.cash", "seed.bch.loping.net", "dnsseed.electroncash.de", "bchseed.c3-soft.com", "bch.bitjson.com"),
		},
		forTests(params.Network{
			Name: "testnet3", NodeChain: "test", RPCPort: "18332", Magic: [4]byte{0x0b, 0x11, 0x09, 0x07},
			Genesis: params.Hash("000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943"),
			Checkpoints: map[model.HeightPk]string{
				1_303_885: "00000000000000479138892ef0e4fa478ccc938fb94df862ef5bde7e8dee23d3",
				1_472_870: "00000000000000b013f75c2cf5e357b5f95af715c2829b0686ee53663101a6e0",
			},
			Peers: peers(params.Peers{
				Magic: [4]byte{0xf4, 0xe5, 0xf3, 0xf4}, Port: "18333", Versions: [3]int32{21_111, 330_776, 581_885},
				First: params.First{Time: 1296688602, Bits: 0x1d00ffff, Nonce: 414098458},
			}, rules.Cash{
				Split: 1_155_875, Window: 1_188_697, HalfLife: 3_600,
				Anchor: rules.Anchor{Height: 1_421_481, Bits: 0x1d00ffff, Time: 1605445400},
			}, "testnet-seed.bchd.cash", "seed.tbch.loping.net", "testnet-seed.bitcoinunlimited.info"),
		}),
		testnet4Like(params.Network{
			Name: "testnet4", NodeChain: "test4", RPCPort: "28332",
			Checkpoints: map[model.HeightPk]string{
				68_117:  "0000000000a2c2fc11a3b72adbd10a3f02a1f8745da55a85321523043639829a",
				115_252: "00000000ae25e85d9e22cd6c8d72c2f5d4b0222289d801b7f633aeae3f8c6367",
			},
		}, "28333", "testnet4-seed-bch.toom.im", "seed.tbch4.loping.net", "testnet4-seed.flowee.cash", "testnet4.bitjson.com"),
		// It left testnet4 after block 115,251.
		testnet4Like(params.Network{
			Name: "chipnet", NodeChain: "chip", RPCPort: "48332",
			Checkpoints: map[model.HeightPk]string{
				115_252: "00000000040ba9641ba98a37b2e5ceead38e4e2930ac8f145c8094f94c708727",
				232_000: "0000000017d92f88ed2c81885c57f999184860a042250510be06b3edd12e0dc5",
			},
		}, "48333", "chipnet.bitjson.com"),
		forTests(params.Network{
			Name: "regtest", RPCPort: "18443", Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda},
			Genesis: params.Hash("0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"),
			Limit:   params.Target(0x207fffff), Halving: 150, CashAddr: "bchreg",
			Peers: peers(params.Peers{
				Magic: [4]byte{0xda, 0xb5, 0xbf, 0xfa}, Port: "18444",
				First: params.First{Time: 1296688602, Bits: 0x207fffff, Nonce: 2}, Fixed: true,
			}, rules.Cash{}),
		}),
	},
})

// peers completes the parameters of peers with those of all networks.
func peers(p params.Peers, c rules.Cash, seeds ...string) *params.Peers {
	p.First.Root = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"
	p.Spacing, p.Difficulty, p.Seeds = 10*time.Minute, c.Difficulty, seeds
	return &p
}

// forTests completes a network for tests. Without a limit it has the limit of mainnet.
func forTests(n params.Network) *params.Network {
	if n.Limit == nil {
		n.Limit, n.Halving, n.CashAddr = params.Target(0x1d00ffff), 210_000, "bchtest"
	}
	n.KeyHash, n.ScriptHash, n.Peers.Easy = []string{"\x6f"}, []string{"\xc4"}, true
	n.Addresses = n.CashAddr + ":q…, " + n.CashAddr + ":p…, m…, n…, 2…"
	return &n
}

// testnet4Like completes testnet4 or chipnet, which have the same block 0, magic and rules.
func testnet4Like(n params.Network, port string, seeds ...string) *params.Network {
	n.Magic = [4]byte{0xcd, 0x22, 0xa7, 0x92}
	n.Genesis = params.Hash("000000001dd410c49a788668ce26751718cc797474d3152a5fc073dd44fd9f7b")
	n.Peers = peers(params.Peers{
		Magic: [4]byte{0xe2, 0xb7, 0xda, 0xaf}, Port: port, Versions: [3]int32{2, 4, 3},
		First: params.First{Time: 1597811185, Bits: 0x1d00ffff, Nonce: 114152193},
	}, rules.Cash{
		Split: 6, Window: 3_000, HalfLife: 3_600, Anchor: rules.Anchor{Height: 16_844, Bits: 0x1d00ffff, Time: 1605451779},
	}, seeds...)
	return forTests(n)
}

// solve classifies a script. P2SH32 is the form of P2SH with a hash of 32 bytes.
func solve(script []byte) (block.Kind, []byte) {
	if len(script) == 35 && script[0] == block.OpHash256 && script[1] == 32 && script[34] == block.OpEqual {
		return block.ScriptHash, script[2:34]
	}
	return block.SolveLegacy(script)
}
