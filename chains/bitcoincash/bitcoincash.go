// Package bitcoincash indexes Bitcoin Cash, with CashTokens as assets. The parameters are those of Bitcoin Cash Node
// (chainparams.cpp).
//
// Since November 2018 the transactions of a block are in the order of their ids, so an input can spend an output of a
// later transaction of its block.
package bitcoincash

import (
	"fmt"

	"github.com/btcsuite/btcd/wire/v2"

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
	Services: wire.SFNodeBit5, BlockType: wire.InvTypeBlock,
	Networks: networks,
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
