package config

import (
	"slices"

	"birthmark/model"
)

// presets are named lists of indexes. The setting indexes accepts their names. Each is for answers that also need raw
// transactions: see [Chain.ImpliesRaw].
var presets = map[string][]Index{
	// The wallet protocols (Electrum, Esplora, Blockbook) need script_hash with these options. They restore output
	// scripts from address, which the explorer needs too.
	"wallet": {
		{Name: "address"},
		{Name: "script_hash", Options: hot},
	},
	// Pages of the explorer show balances, unspent outputs and histories of any length, and charts. Cardano's stake
	// credentials unite the addresses of a wallet, and its policies list their assets.
	"explorer": {
		{Name: "address", Options: hot},
		{Name: model.StatisticsIndex},
		{Name: "stake_credential", Options: hot, Optional: true},
		{Name: "policy", Options: model.IndexOptions{Balance: true}, Optional: true},
	},
	// Patterns of Kupo select by address, credential or policy, mostly unspent outputs; datums and scripts are found by
	// their hashes.
	"kupo": {
		{Name: "address", Options: listed}, {Name: "payment_credential", Options: listed},
		{Name: "stake_credential", Options: listed}, {Name: "policy", Options: listed},
		{Name: "datum_hash"}, {Name: "script_hash"},
		{Name: "failed_datum", Definition: ofFailed("failed_datum", "tx.datums"), Optional: true},
		{Name: "failed_script", Definition: ofFailed("failed_script", "tx.scripts"), Optional: true},
	},
	// The API of 1sat-stack finds outputs by owner, contract, type, parent and symbol, and restores scripts as the wallet
	// protocols do.
	"onesat": {
		{Name: "address", Options: hot}, {Name: "script_hash", Options: hot}, {Name: "contract"}, {Name: "content_type"},
		{Name: "parent"}, {Name: "symbol"},
	},
	"ergo_node":     ergoTrees,
	"ergo_explorer": ergoTrees,
	// Blockfrost lists the transactions of an address, of a payment credential and of an account, and their sums. It lists
	// and counts the transactions with a label of metadata, lists certificates, withdrawals, votes and redeemers,
	// scripts, and the blocks of a pool.
	"blockfrost": {
		{Name: "address", Options: hot}, {Name: "payment_credential", Options: hot}, {Name: "stake_credential", Options: hot},
		{Name: "policy", Options: listed}, {Name: "datum_hash"}, {Name: "script_hash", Options: listed},
		{Name: "metadata_label", Options: model.IndexOptions{Balance: true}, Definition: ofTransaction("metadata_label", "tx.metadata_labels")},
		{Name: "subject", Definition: ofTransaction("subject", "tx.subjects")},
		{Name: "script", Definition: ofTransaction("script", "tx.scripts")}, {Name: "pool"},
	},
}

// ergoTrees are for the APIs of Ergo's node and explorer, which list the boxes of a tree and of a template, with totals,
// newest first.
var ergoTrees = []Index{
	{Name: "address"}, {Name: "ergo_tree_hash", Options: hot}, {Name: "ergo_tree_template_hash", Options: hot},
}

// ofTransaction defines an index of values of transactions, which the first output of each has.
func ofTransaction(name, value string) *model.Definition {
	return &model.Definition{Name: name, Kind: model.ManyValued, When: "tx.valid && output.index == 0", Value: value}
}

// ofFailed defines an index of values of transactions whose scripts failed, which the collateral return of each has.
func ofFailed(name, value string) *model.Definition {
	return &model.Definition{Name: name, Kind: model.ManyValued, When: "not tx.valid", Value: value}
}

// hot are the options for values with millions of outputs.
var hot = model.IndexOptions{Balance: true, Unspent: true, History: true}

// listed are the options for values whose unspent outputs are listed.
var listed = model.IndexOptions{Unspent: true}

// expand replaces the names of presets in a list of index names.
func expand(names []string) (list []Index) {
	for _, name := range names {
		preset, ok := presets[name]
		if !ok {
			preset = []Index{{Name: name}}
		}
		for _, ix := range preset {
			if i := slices.IndexFunc(list, func(in Index) bool { return in.Name == ix.Name }); i >= 0 {
				list[i].Options = both(list[i].Options, ix.Options)
				list[i].Optional = list[i].Optional && ix.Optional
			} else {
				list = append(list, ix)
			}
		}
	}
	return list
}

// both returns the options that are in a or b.
func both(a, b model.IndexOptions) model.IndexOptions {
	return model.IndexOptions{
		Balance: a.Balance || b.Balance, Unspent: a.Unspent || b.Unspent, History: a.History || b.History,
		Prefix: a.Prefix || b.Prefix, Statistics: a.Statistics || b.Statistics,
	}
}
