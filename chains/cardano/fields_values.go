package cardano

import (
	"math"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// view is the environment of expressions for one output after the other, with the data that it is computed from. Each
// field is computed by its own function, if an expression uses it. Values may point into the serialized block.
type view struct {
	environment
	net   *genesis.Network
	index *outputIndexer

	txs    *ledger.Transactions
	tx     *model.Tx
	parts  ledger.Parts // of the transaction; empty in the genesis
	output *ledger.Output

	created []ledger.Output // of the transaction
}

// Functions that compute the fields, by name.
var (
	blockMakers = map[string]func(*view){
		"height":   func(v *view) { v.Block.Height = int(v.txs.Of.Height) },
		"hash":     func(v *view) { v.Block.Hash = v.txs.Of.Hash[:] },
		"time":     func(v *view) { v.Block.Time = int(v.txs.Of.Time) },
		"slot":     func(v *view) { v.Block.Slot = fitting(v.txs.Of.Slot) },
		"epoch":    func(v *view) { v.Block.Epoch = fitting(v.net.Epoch(v.txs.Of.Slot)) },
		"era":      func(v *view) { v.Block.Era = ledger.EraNames[v.txs.Header.Era] },
		"issuer":   func(v *view) { v.Block.Issuer = v.txs.Header.Issuer },
		"pool":     func(v *view) { v.Block.Pool = v.pool() },
		"size":     func(v *view) { v.Block.Size = v.txs.Of.Size },
		"tx_count": func(v *view) { v.Block.TxCount = len(v.txs.Txs) },
	}
	txMakers = map[string]func(*view){
		"hash":             func(v *view) { v.Tx.Hash = v.tx.Hash[:] },
		"index":            func(*view) {}, // set with the transaction, like valid
		"valid":            func(*view) {},
		"fee":              func(v *view) { v.Tx.Fee = fitting(v.tx.Fee.Amount) },
		"size":             func(v *view) { v.Tx.Size = v.size() },
		"input_count":      func(v *view) { v.Tx.InputCount = len(v.tx.Inputs) },
		"output_count":     func(v *view) { v.Tx.OutputCount = len(v.tx.Outputs) },
		"inputs":           func(v *view) { v.Tx.Inputs = inputs(v.tx.Inputs) },
		"reference_inputs": func(v *view) { v.Tx.ReferenceInputs = v.referenceInputs() },
		"mints":            func(v *view) { v.Tx.Mints = mints(v.tx.Mints) },
		"required_signers": func(v *view) { v.Tx.RequiredSigners = v.requiredSigners() },
		"valid_from":       func(v *view) { v.Tx.ValidFrom = v.slot(bodyValidFrom) },
		"valid_to":         func(v *view) { v.Tx.ValidTo = v.slot(bodyValidTo) },
		"metadata_labels":  func(v *view) { v.Tx.MetadataLabels, _ = v.labelled() },
		"subjects":         func(v *view) { v.Tx.Subjects = v.subjects() },
		"scripts":          func(v *view) { v.Tx.Scripts = v.scripts() },
		"datums":           func(v *view) { v.Tx.Datums = v.datums() },
		"metadata":         func(v *view) { v.Tx.Metadata = v.meanings() },
		"metadata_raw":     func(v *view) { _, v.Tx.MetadataRaw = v.labelled() },
	}
	outputMakers = map[string]func(*view){
		"index":         func(*view) {}, // set with the output
		"value":         func(v *view) { v.Output.Value = fitting(v.output.Value) },
		"size":          func(v *view) { v.Output.Size = v.output.Size },
		"address":       func(v *view) { v.Output.Address = address.Format(v.net.Network, v.output.Address) },
		"address_bytes": func(v *view) { v.Output.AddressBytes = v.output.Address },
		"payment_credential": func(v *view) {
			v.Output.PaymentCredential = v.credential(address.PaymentCredential, address.FormatPaymentCredential)
		},
		"stake_credential": func(v *view) {
			v.Output.StakeCredential = v.credential(address.StakeCredential, address.FormatStakeCredential)
		},
		"datum_hash":      func(v *view) { v.Output.DatumHash = v.index.datumHash(v.output) },
		"datum":           func(v *view) { v.Output.Datum = v.output.Datum },
		"datum_value":     func(v *view) { v.Output.DatumValue = meaning(v.output.Datum) },
		"script":          func(v *view) { v.Output.Script = v.script().Code },
		"script_hash":     func(v *view) { v.Output.ScriptHash = v.scriptHash() },
		"script_language": func(v *view) { v.Output.ScriptLanguage = v.script().LanguageName() },
		"assets":          func(v *view) { v.Output.Assets = holdings(v.output.Assets) },
		"policies":        func(v *view) { v.Output.Policies = policies(v.output) },
	}
)

// pool returns the id of the pool that made the block, "" in Byron, which had no pools.
func (v *view) pool() string {
	if v.txs.Header.Era <= ledger.EraByron {
		return ""
	}
	return address.FormatPool(v.txs.Header.Issuer)
}

// fitting returns n, limited to the largest number of an expression.
func fitting(n uint64) int { return int(min(n, math.MaxInt64)) }

func (v *view) credential(of func(address []byte) ([]byte, bool), format func(address.Network, []byte) string) string {
	if cred, ok := of(v.output.Address); ok {
		return format(v.net.Network, cred)
	}
	return ""
}

// size returns the size of [model.Tx.Raw].
func (v *view) size() int {
	n := len(v.parts.Body)
	if v.txs.Header.Era < ledger.EraShelley {
		return n
	}
	n += 1 + len(v.parts.Witnesses) + max(1, len(v.parts.Auxiliary))
	if era := v.txs.Header.Era; era >= ledger.EraAlonzo && (era < ledger.EraDijkstra || !v.Tx.Valid) {
		n++
	}
	return n
}

// script returns the output's reference script, or an empty one.
func (v *view) script() (s ledger.Script) {
	if v.output.Script != nil {
		s, _ = ledger.ParseScript(&v.index.script, v.output.Script) // a malformed one has no fields
	}
	return s
}

func (v *view) scriptHash() []byte {
	s := v.script()
	if s.Code == nil {
		return nil
	}
	return v.index.hashScript(&s)
}

func inputs(ins []model.Input) []*spent {
	all := make([]spent, len(ins))
	for i := range ins {
		all[i] = spent{Tx: ins[i].Tx[:], Index: int(ins[i].Index)}
	}
	return indexexpr.Pointers(all)
}

func newAsset(id []byte, amount int) asset {
	return asset{ID: id, Policy: id[:address.PolicySize:address.PolicySize], Name: id[address.PolicySize:], Amount: amount}
}

func holdings(assets []model.Asset) []*asset {
	all := make([]asset, len(assets))
	for i, a := range assets {
		all[i] = newAsset(a.ID, fitting(a.Amount))
	}
	return indexexpr.Pointers(all)
}

func mints(ms []model.Mint) []*asset {
	all := make([]asset, len(ms))
	for i, m := range ms {
		all[i] = newAsset(m.Asset, int(m.Amount.Int64())) // amounts of a mint have 64 bits
	}
	return indexexpr.Pointers(all)
}

// policies returns the policies of an output's assets, each once.
func policies(o *ledger.Output) (all [][]byte) {
	for _, k := range appendPolicies(nil, 0, o) {
		all = append(all, k.Value)
	}
	return all
}
