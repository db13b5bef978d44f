package ogmios

import (
	"encoding/hex"
	"fmt"

	"golang.org/x/crypto/blake2b"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// Keys of a transaction body, and of witnesses (rules transaction_body and transaction_witness_set of the ledger's CDDL).
const (
	bodyInputs     = 0
	bodyFee        = 2
	bodyAfter      = 3
	bodyWithdrawal = 5
	bodyBefore     = 8
	bodyMint       = 9
	bodyCollateral = 13
	bodySigners    = 14
	bodyNetwork    = 15
	bodyReturn     = 16
	bodyTotal      = 17
	bodyReferences = 18
	bodyTreasury   = 21
	bodyDonation   = 22

	witnessKeys      = 0
	witnessBootstrap = 2
)

// transaction is a transaction of the mempool. Parts that are not listed are in its serialized form.
type transaction struct {
	ID          string              `json:"id"`
	Spends      string              `json:"spends"` // inputs, or collaterals if its scripts failed
	Inputs      []input             `json:"inputs"`
	References  []input             `json:"references,omitempty"`
	Collaterals []input             `json:"collaterals,omitempty"`
	Total       *ada                `json:"totalCollateral,omitempty"`
	Return      *output             `json:"collateralReturn,omitempty"`
	Outputs     []output            `json:"outputs"`
	Withdrawals map[string]ada      `json:"withdrawals,omitempty"`
	Fee         ada                 `json:"fee"`
	Validity    *validity           `json:"validityInterval,omitempty"`
	Mint        map[string]assetsOf `json:"mint,omitempty"`
	Signers     []string            `json:"requiredExtraSignatories,omitempty"`
	Network     string              `json:"network,omitempty"`
	Treasury    *treasury           `json:"treasury,omitempty"`
	Datums      map[string]string   `json:"datums,omitempty"` // by hash
	Signatories []signatory         `json:"signatories"`
	CBOR        string              `json:"cbor"`
}

type input struct {
	Transaction struct {
		ID string `json:"id"`
	} `json:"transaction"`
	Index uint32 `json:"index"`
}

// output is an output; its fields are absent if it lacks them.
type output struct {
	Address   string  `json:"address"`
	Value     value   `json:"value"`
	DatumHash string  `json:"datumHash,omitempty"`
	Datum     string  `json:"datum,omitempty"`
	Script    *script `json:"script,omitempty"`
}

// script is a script. Native ones are JSON too.
type script struct {
	Language string `json:"language"`
	JSON     any    `json:"json,omitempty"`
	CBOR     string `json:"cbor"`
}

// treasury is the value of the treasury that the transaction requires, and its donation to the treasury.
type treasury struct {
	Value    *ada `json:"value,omitempty"`
	Donation *ada `json:"donation,omitempty"`
}

// assetsOf is amounts by the name of the asset. A value has the amounts by policy, and lovelace under the policy ada.
type (
	assetsOf map[string]any
	value    map[string]assetsOf
)

type validity struct {
	Before *uint64 `json:"invalidBefore,omitempty"`
	After  *uint64 `json:"invalidAfter,omitempty"`
}

type signatory struct {
	Key        string `json:"key"`
	Signature  string `json:"signature"`
	ChainCode  string `json:"chainCode,omitempty"`
	Attributes string `json:"addressAttributes,omitempty"`
}

// transactionOf reads a transaction since Shelley. It lacks the parts that are malformed, or of a later era.
func transactionOf(id string, raw []byte) *transaction {
	t := &transaction{
		ID: id, Spends: "inputs", Inputs: []input{}, Outputs: []output{}, Fee: lovelace(0), Signatories: []signatory{}, CBOR: hex.EncodeToString(raw),
	}
	parts, err := ledger.ReadParts(raw)
	if err != nil {
		return t
	}
	whole := *parts
	whole.Failed = false // its inputs and outputs are those of the body
	created, _ := whole.ReadOutputs()
	for i := range created {
		t.Outputs = append(t.Outputs, outputOf(&created[i]))
	}
	if parts.Failed {
		t.Spends = "collaterals"
	}
	t.readBody(parts.Body)
	for _, datum := range ledger.ReadWitnesses(parts.Witnesses).Datums {
		if t.Datums == nil {
			t.Datums = map[string]string{}
		}
		hash := blake2b.Sum256(datum)
		t.Datums[hex.EncodeToString(hash[:])] = hex.EncodeToString(datum)
	}
	t.readSignatories(parts.Witnesses)
	return t
}

func (t *transaction) readBody(raw []byte) {
	w := cbor.Walker{Data: raw}
	for _, e := range w.Entries("body") {
		key, ok := e.Number()
		if !ok {
			continue
		}
		in := cbor.Walker{Data: e.Value}
		switch key {
		case bodyInputs:
			t.Inputs = inputsOf(e.Value)
		case bodyReferences:
			t.References = inputsOf(e.Value)
		case bodyCollateral:
			t.Collaterals = inputsOf(e.Value)
		case bodyFee:
			t.Fee = lovelace(in.Uint("fee"))
		case bodyBefore:
			t.validity().Before = slot(&in)
		case bodyAfter:
			t.validity().After = slot(&in)
		case bodyTotal:
			t.Total = optionalLovelace(in.Uint("total collateral"))
		case bodyReturn:
			if o, err := ledger.ReadOutput(e.Value); err == nil {
				out := outputOf(o)
				t.Return = &out
			}
		case bodyNetwork:
			t.Network = "testnet"
			if in.Uint("network") == 1 {
				t.Network = "mainnet"
			}
		case bodyTreasury:
			t.treasury().Value = optionalLovelace(in.Uint("treasury"))
		case bodyDonation:
			t.treasury().Donation = optionalLovelace(in.Uint("donation"))
		case bodyWithdrawal:
			t.Withdrawals = map[string]ada{}
			for _, w := range body.ReadWithdrawals(e.Value) {
				t.Withdrawals[address.FormatAny(w.Account)] = lovelace(w.Amount)
			}
		case bodyMint:
			t.Mint = map[string]assetsOf{}
			for _, of := range in.Entries("mint") {
				policy, of, assets := cbor.Walker{Data: of.Key}, cbor.Walker{Data: of.Value}, assetsOf{}
				t.Mint[hex.EncodeToString(policy.Bytes("policy"))] = assets
				for _, e := range of.Entries("assets of a policy") {
					name, amount := cbor.Walker{Data: e.Key}, cbor.Walker{Data: e.Value}
					assets[hex.EncodeToString(name.Bytes("asset name"))] = amount.Int("amount")
				}
			}
		case bodySigners:
			for _, hash := range ledger.RequiredSigners(e.Value) {
				t.Signers = append(t.Signers, hex.EncodeToString(hash))
			}
		}
	}
}

func (t *transaction) validity() *validity {
	if t.Validity == nil {
		t.Validity = &validity{}
	}
	return t.Validity
}

func (t *transaction) treasury() *treasury {
	if t.Treasury == nil {
		t.Treasury = &treasury{}
	}
	return t.Treasury
}

func slot(w *cbor.Walker) *uint64 {
	n := w.Uint("slot")
	return &n
}

func inputsOf(set []byte) []input {
	all := []input{}
	for _, o := range ledger.Outpoints(set) {
		all = append(all, inputOf(o))
	}
	return all
}

func inputOf(o model.Input) (in input) {
	in.Transaction.ID, in.Index = hex.EncodeToString(o.Tx[:]), o.Index
	return in
}

func outputOf(o *ledger.Output) output {
	out := output{
		Address: address.FormatAny(o.Address), Value: value{"ada": {"lovelace": o.Value}}, DatumHash: hex.EncodeToString(o.DatumHash), Datum: hex.EncodeToString(o.Datum),
	}
	for _, a := range o.Assets {
		policy, name := hex.EncodeToString(a.ID[:address.PolicySize]), hex.EncodeToString(a.ID[address.PolicySize:])
		if out.Value[policy] == nil {
			out.Value[policy] = assetsOf{}
		}
		out.Value[policy][name] = a.Amount
	}
	if o.Script != nil {
		s, err := ledger.ParseScript(&cbor.Walker{}, o.Script)
		if err != nil {
			return out
		}
		out.Script = &script{Language: "native", CBOR: hex.EncodeToString(s.Code)}
		if s.Language > 0 {
			out.Script.Language = fmt.Sprintf("plutus:v%d", s.Language)
		} else if lock := contents.Timelock(s.Code); lock != nil {
			out.Script.JSON = clause(lock)
		}
	}
	return out
}

// clause returns a native script in the JSON of Ogmios, from that of cardano-cli; nil for nil.
func clause(lock any) any {
	m, ok := lock.(map[string]any)
	if !ok {
		return nil
	}
	c := map[string]any{"clause": m["type"]}
	switch m["type"] {
	case "sig":
		c["clause"], c["from"] = "signature", m["keyHash"]
	case "before", "after":
		c["slot"] = m["slot"]
	default:
		if m["type"] == "atLeast" {
			c["clause"], c["atLeast"] = "some", m["required"]
		}
		scripts, _ := m["scripts"].([]any)
		from := make([]any, len(scripts))
		for i := range scripts {
			from[i] = clause(scripts[i])
		}
		c["from"] = from
	}
	return c
}

// readSignatories reads the signatures by keys, and those of addresses of Byron.
func (t *transaction) readSignatories(witnesses []byte) {
	w := cbor.Walker{Data: witnesses}
	for _, e := range w.Entries("witnesses") {
		key, ok := e.Number()
		if !ok || key != witnessKeys && key != witnessBootstrap {
			continue
		}
		signatures := cbor.Walker{Data: e.Value}
		for _, item := range signatures.Elements("signatures") {
			in := cbor.Walker{Data: item}
			f := in.Fields("signature")
			s := signatory{Key: hex.EncodeToString(f.Bytes("key")), Signature: hex.EncodeToString(f.Bytes("signature"))}
			if key == witnessBootstrap {
				s.ChainCode, s.Attributes = hex.EncodeToString(f.Bytes("chain code")), hex.EncodeToString(f.Bytes("attributes"))
			}
			if f.End(); in.Err == nil {
				t.Signatories = append(t.Signatories, s)
			}
		}
	}
}
