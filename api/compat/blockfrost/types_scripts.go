package blockfrost

import "birthmark/api/compat/blockfrost/contents"

type scriptHashValue struct {
	Hash string `json:"script_hash"`
}

type scriptValue struct {
	ScriptHash string `json:"script_hash"`
	Type       string `json:"type"`
	Size       *int   `json:"serialised_size"` // null: a timelock
}

type scriptCBORValue struct {
	CBOR *string `json:"cbor"` // null: a timelock
}

type scriptJSONValue struct {
	JSON any `json:"json"` // null: a Plutus script
}

type datumValue struct {
	Value any `json:"json_value"`
}

// cborValue is a datum or a transaction.
type cborValue struct {
	CBOR string `json:"cbor"`
}

// scriptRedeemerValue is a redeemer in the list of its script.
type scriptRedeemerValue struct {
	TxHash string `json:"tx_hash"`
	contents.ScriptRedeemer
}
