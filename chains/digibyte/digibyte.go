// Package digibyte indexes DigiByte. The parameters come from DigiByte Core (chainparams.cpp).
//
// Blocks are mined by five algorithms in turn. Their proof of work is not checked: the chain of block files is the
// longest, and nodes are trusted. Blocks and transactions have the form of Bitcoin's.
package digibyte

import (
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/model"
)

const (
	coin         = 100_000_000
	maxSupply    = 21_000_000_000 * coin
	firstSubsidy = 72_000 * coin // later ones are lower
)

// Spec is the coin.
var Spec = params.New(params.Spec{
	Name: "digibyte", Title: "DigiByte",
	Unit:       model.Unit{Symbol: "DGB", Decimals: 8, Smallest: "sat"},
	Accent:     model.Accent{Light: "#0a4fb3", LightWash: "#e1ebf9", Dark: "#79abf2", DarkWash: "#142236"},
	BlockVSize: 1_000_000,
	Format:     &block.Format{MaxSize: block.MaxSize, MaxMoney: maxSupply, Witness: true},
	Supply: func(_ *params.Network, height model.HeightPk) (uint64, bool) {
		return min((uint64(height)+1)*firstSubsidy, maxSupply), true
	},
	Networks: []*params.Network{
		{
			Name: "mainnet", NodeChain: "main", RPCPort: "14022", Magic: [4]byte{0xfa, 0xc3, 0xb6, 0xda},
			Genesis: params.Hash("7497ea1b465eb39f1c8f507bc877078fe016d6fcb6dfad3a64c98dcc6e1e8496"),
			KeyHash: []string{"\x1e"}, ScriptHash: []string{"\x3f", "\x05"}, HRP: "dgb", Addresses: "D…, S…, 3…, dgb1…",
			Checkpoints: map[model.HeightPk]string{
				5_000:     "95753d284404118788a799ac754a3fdb5d817f5bd73a78697dfe40985c085596",
				10_000:    "12f90b8744f3b965e107ad9fd8b33ba6d95a91882fbc4b5f8588d70d494bed88",
				12_000:    "a1266acba91dc3d5737d9e8c6e21b7a91901f7f4c48082ce3d84dd394a13e415",
				7_000_000: "03c6664b250c3e3b688f5779ce791384b35acaa38c4461f0458a4674bd762f63",
			},
		},
		{
			Name: "testnet", NodeChain: "test", RPCPort: "14023", Magic: [4]byte{0xfd, 0xc8, 0xbd, 0xdd},
			Genesis: params.Hash("308ea0711d5763be2995670dd9ca9872753561285a84da1d58be58acaa822252"),
			KeyHash: []string{"\x7e"}, ScriptHash: []string{"\x8c"}, HRP: "dgbt", Addresses: "s…, t…, y…, dgbt1…",
		},
		{
			// The network that "test" is since DigiByte Core 9.26. The ones before it were reset.
			Name: "testnet26", NodeChain: "test", RPCPort: "14026", Magic: [4]byte{0xfe, 0xc6, 0xb9, 0xe7},
			Genesis: params.Hash("0c9af936f28f7bd0e90c8f6235399063a026ed267bb53da398313b5d7aa55d82"),
			KeyHash: []string{"\x7e"}, ScriptHash: []string{"\x8c"}, HRP: "dgbt", Addresses: "s…, t…, y…, dgbt1…",
		},
		{
			Name: "regtest", RPCPort: "18443", Magic: [4]byte{0xfa, 0xbf, 0xb5, 0xda},
			Genesis: params.Hash("4598a0f2b823aaf9e77ee6d5e46f1edb824191dcd48b08437b7cec17e6ae6e26"),
			KeyHash: []string{"\x7e"}, ScriptHash: []string{"\x8c"}, HRP: "dgbrt", Addresses: "s…, t…, y…, dgbrt1…",
		},
	},
})
