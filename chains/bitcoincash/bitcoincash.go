// Package bitcoincash indexes Bitcoin Cash, with CashTokens as assets. The parameters are those of Bitcoin Cash Node
// (chainparams.cpp); the magic is that of its block files.
//
// Since November 2018 the transactions of a block are in the order of their ids, so an input can spend an output of a
// later transaction of its block. The proof of work is checked; the difficulty is not.
package bitcoincash

import (
	"fmt"

	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/bitcoincash/cashaddr"
	"birthmark/chains/bitcoincash/cashtoken"
	"birthmark/model"
)

// Spec is the coin.
var Spec = params.New(params.Spec{
	Name: "bitcoin-cash", Title: "Bitcoin Cash", Scheme: "bitcoincash",
	Unit:         model.Unit{Symbol: "BCH", Decimals: 8, Smallest: "sat"},
	Accent:       model.Accent{Light: "#0a6b4a", LightWash: "#def2ea", Dark: "#4fcf9f", DarkWash: "#102b21"},
	FirstSubsidy: 50 * 100_000_000,
	Format: &block.Format{
		MaxSize:  256_000_000, // 32 MB until May 2024, then adaptive: at most about double in a year
		MaxMoney: 21_000_000 * 100_000_000,
		Solve:    solve, Output: cashtoken.Split,
	},
	Unordered:     true,
	FormatAddress: formatAddress, ParseAddress: parseAddress,
	Assets: true, FormatAsset: cashtoken.Format, ParseAsset: cashtoken.Parse, AssetForm: cashtoken.Form,
	Networks: []*params.Network{
		{
			Name: "mainnet", NodeChain: "main", RPCPort: "8332", Magic: [4]byte{0xf9, 0xbe, 0xb4, 0xd9},
			Genesis: params.Hash("000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"),
			Limit:   params.Target(0x1d00ffff), Halving: 210_000,
			KeyHash: []string{"\x00"}, ScriptHash: []string{"\x05"}, Addresses: "bitcoincash:q…, bitcoincash:p…, 1…, 3…",
			Checkpoints: map[model.HeightPk]string{
				11_111:  "0000000069e244f73d78e8fd29ba2fd2ed618bd6fa2ee92559f542fdb26e7c1d",
				250_000: "000000000000003887df1f29024b06fc2200b55f8af8f35453d7be294df2d214",
				478_558: "0000000000000000011865af4122fe3b144e2cbeea86142e8ff2fb4107352d43",
				478_559: "000000000000000000651ef99cb9fcbe0dadde1d424bd9f15ff20136191a5eec",
				504_031: "0000000000000000011ebf65b60d0a3de80b8175be709d653b4c1a1beeb6ab9c",
				556_767: "0000000000000000004626ff6e3b936941d341c5932ece4357eeccac44e6d56c",
				661_648: "0000000000000000029e471c41818d24b8b74c911071c4ef0b4a0509f9b5a8ce",
				714_881: "000000000000000004cd628ee64c058183e780bc31143ff00680ea8af51fa0ff",
			},
		},
		{
			Name: "testnet3", NodeChain: "test", RPCPort: "18332", Magic: [4]byte{0x0b, 0x11, 0x09, 0x07},
			Genesis: params.Hash("000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943"),
			Limit:   params.Target(0x1d00ffff), Halving: 210_000,
			KeyHash: []string{"\x6f"}, ScriptHash: []string{"\xc4"}, Addresses: "bchtest:q…, bchtest:p…, m…, n…, 2…",
			Checkpoints: map[model.HeightPk]string{
				1_303_885: "00000000000000479138892ef0e4fa478ccc938fb94df862ef5bde7e8dee23d3",
				1_472_870: "00000000000000b013f75c2cf5e357b5f95af715c2829b0686ee53663101a6e0",
			},
		},
		{
			Name: "testnet4", NodeChain: "test4", RPCPort: "28332", Magic: [4]byte{0xcd, 0x22, 0xa7, 0x92},
			Genesis: params.Hash("000000001dd410c49a788668ce26751718cc797474d3152a5fc073dd44fd9f7b"),
			Limit:   params.Target(0x1d00ffff), Halving: 210_000,
			KeyHash: []string{"\x6f"}, ScriptHash: []string{"\xc4"}, Addresses: "bchtest:q…, bchtest:p…, m…, n…, 2…",
			Checkpoints: map[model.HeightPk]string{
				68_117:  "0000000000a2c2fc11a3b72adbd10a3f02a1f8745da55a85321523043639829a",
				115_252: "00000000ae25e85d9e22cd6c8d72c2f5d4b0222289d801b7f633aeae3f8c6367",
			},
		},
		{
			// It left testnet4 after block 115,251: its block files have the same magic.
			Name: "chipnet", NodeChain: "chip", RPCPort: "48332", Magic: [4]byte{0xcd, 0x22, 0xa7, 0x92},
			Genesis: params.Hash("000000001dd410c49a788668ce26751718cc797474d3152a5fc073dd44fd9f7b"),
			Limit:   params.Target(0x1d00ffff), Halving: 210_000,
			KeyHash: []string{"\x6f"}, ScriptHash: []string{"\xc4"}, Addresses: "bchtest:q…, bchtest:p…, m…, n…, 2…",
			Checkpoints: map[model.HeightPk]string{
				115_252: "00000000040ba9641ba98a37b2e5ceead38e4e2930ac8f145c8094f94c708727",
				232_000: "0000000017d92f88ed2c81885c57f999184860a042250510be06b3edd12e0dc5",
			},
		},
		{
			Name: "regtest", RPCPort: "18443", Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda},
			Genesis: params.Hash("0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"),
			Limit:   params.Target(0x207fffff), Halving: 150,
			KeyHash: []string{"\x6f"}, ScriptHash: []string{"\xc4"}, Addresses: "bchreg:q…, bchreg:p…, m…, n…, 2…",
		},
	},
})

// New returns Bitcoin Cash on a network; "" is mainnet. An error is of kind [model.Usage], code unknown_network.
func New(network string) (model.Chain, error) { return bitcoin.Open(Spec, network) }

// solve classifies a script. P2SH32 is the form of P2SH with a hash of 32 bytes.
func solve(script []byte) (block.Kind, []byte) {
	if len(script) == 35 && script[0] == block.OpHash256 && script[1] == 32 && script[34] == block.OpEqual {
		return block.ScriptHash, script[2:34]
	}
	return block.SolveLegacy(script)
}

// prefix returns the prefix of addresses of a network.
func prefix(n *params.Network) string {
	switch n.Name {
	case "mainnet":
		return "bitcoincash"
	case "regtest":
		return "bchreg"
	}
	return "bchtest"
}

func formatAddress(n *params.Network, value []byte) string {
	switch value[0] {
	case bitcoin.ToKeyHash:
		return cashaddr.Encode(prefix(n), cashaddr.KeyHash, value[1:])
	case bitcoin.ToScriptHash, bitcoin.ToScriptHash32:
		return cashaddr.Encode(prefix(n), cashaddr.ScriptHash, value[1:])
	}
	return ""
}

// parseAddress reads an address in CashAddr; nil for the legacy form.
func parseAddress(n *params.Network, text string) ([]byte, error) {
	kind, hash, err := cashaddr.Decode(prefix(n), text)
	if hash == nil {
		return nil, err
	}
	to := byte(0)
	switch isScript := kind == cashaddr.ScriptHash || kind == cashaddr.TokenScriptHash; {
	case kind > cashaddr.TokenScriptHash:
	case len(hash) == block.Hash160Size && isScript:
		to = bitcoin.ToScriptHash
	case len(hash) == block.Hash160Size:
		to = bitcoin.ToKeyHash
	case len(hash) == len(model.Hash{}) && isScript:
		to = bitcoin.ToScriptHash32
	}
	if to == 0 {
		return nil, fmt.Errorf("it has a hash of %d bytes and the type %d: expected the hash of a key (20 bytes) or of a script (20 or 32)",
			len(hash), kind)
	}
	return append([]byte{to}, hash...), nil
}
