package blockfrost

import "birthmark/api/compat/blockfrost/contents"

// supplyValue is an asset with its supply.
type supplyValue struct {
	Asset    string `json:"asset"`
	Quantity string `json:"quantity"`
}

// assetValue is an asset with its metadata.
type assetValue struct {
	Asset             string  `json:"asset"`
	PolicyID          string  `json:"policy_id"`
	AssetName         *string `json:"asset_name"` // null: it has none
	Fingerprint       string  `json:"fingerprint"`
	Quantity          string  `json:"quantity"`
	InitialMintTxHash string  `json:"initial_mint_tx_hash"`
	MintOrBurnCount   uint64  `json:"mint_or_burn_count"`
	contents.Onchain
	Metadata any `json:"metadata"` // of a registry outside of the chain: always null
}

type assetEventValue struct {
	TxHash string `json:"tx_hash"`
	Action string `json:"action"`
	Amount string `json:"amount"`
}

type assetHolderValue struct {
	Address  string `json:"address"`
	Quantity string `json:"quantity"`
}

// assetUTXOValue is an unspent output that holds an asset.
type assetUTXOValue struct {
	Address             string   `json:"address"`
	TxHash              string   `json:"tx_hash"`
	OutputIndex         int      `json:"output_index"`
	Amount              []amount `json:"amount"`
	Block               string   `json:"block"`
	BlockHeight         uint32   `json:"block_height"`
	BlockTime           int64    `json:"block_time"`
	DataHash            *string  `json:"data_hash"`
	InlineDatum         *string  `json:"inline_datum"`
	InlineDatumJSON     any      `json:"inline_datum_json"`
	ReferenceScriptHash *string  `json:"reference_script_hash"`
}
