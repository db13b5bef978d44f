package contents

import (
	"encoding/hex"
	"strconv"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/ledger"
)

// Redeemer is a redeemer in the list of its transaction.
type Redeemer struct {
	ScriptRedeemer
	ScriptHash string `json:"script_hash"`
}

// ScriptRedeemer is a redeemer in the list of its script.
type ScriptRedeemer struct {
	TxIndex   uint64 `json:"tx_index"`
	Purpose   string `json:"purpose"`
	DataHash  string `json:"redeemer_data_hash"`
	DatumHash string `json:"datum_hash"`
	UnitMem   string `json:"unit_mem"`
	UnitSteps string `json:"unit_steps"`
	Fee       string `json:"fee"`
}

// NewRedeemer returns a redeemer of a script; script is nil if it is unknown.
func NewRedeemer(r *ledger.Redeemer, script []byte) Redeemer {
	hash := blake2b.Sum256(r.Data)
	text := hex.EncodeToString(hash[:])
	return Redeemer{ScriptHash: hex.EncodeToString(script), ScriptRedeemer: ScriptRedeemer{
		TxIndex: r.Index, Purpose: r.PurposeName(), DataHash: text, DatumHash: text,
		UnitMem: strconv.FormatUint(r.Memory, 10), UnitSteps: strconv.FormatUint(r.Steps, 10), Fee: r.Fee(),
	}}
}
