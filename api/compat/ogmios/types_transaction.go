package ogmios

import (
	"encoding/hex"
	"fmt"

	"golang.org/x/crypto/blake2b"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/jsonappend"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
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
	Validity    validity            `json:"validityInterval,omitzero"`
	Mint        map[string]assetsOf `json:"mint,omitempty"`
	Signers     []string            `json:"requiredExtraSignatories,omitempty"`
	Network     string              `json:"network,omitempty"`
	Treasury    treasury            `json:"treasury,omitzero"`
	Datums      map[string]string   `json:"datums,omitempty"` // by hash
	Signatories []signatory         `json:"signatories"`
	CBOR        jsonappend.Hex      `json:"cbor"`
}

type input struct {
	Transaction named  `json:"transaction"`
	Index       uint32 `json:"index"`
}

// output is an output; its fields are absent if it lacks them.
type output struct {
	Address   string         `json:"address"`
	Value     value          `json:"value"`
	DatumHash jsonappend.Hex `json:"datumHash,omitempty"`
	Datum     jsonappend.Hex `json:"datum,omitempty"`
	Script    *script        `json:"script,omitempty"`
}

// script is a script. Native ones are JSON too.
type script struct {
	Language string         `json:"language"`
	JSON     *clause        `json:"json,omitempty"`
	CBOR     jsonappend.Hex `json:"cbor"`
}

// clause is a native script.
type clause struct {
	AtLeast any `json:"atLeast,omitempty"`
	Clause  any `json:"clause"`
	From    any `json:"from,omitempty"` // a hash, or a list of clauses
	Slot    any `json:"slot,omitempty"`
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
	Key        jsonappend.Hex `json:"key"`
	Signature  jsonappend.Hex `json:"signature"`
	ChainCode  jsonappend.Hex `json:"chainCode,omitempty"`
	Attributes jsonappend.Hex `json:"addressAttributes,omitempty"`
}

// transactionOf reads a transaction since Shelley. It lacks the parts that are malformed, or of a later era.
func transactionOf(id string, raw []byte) *transaction {
	t := &transaction{
		ID: id, Spends: "inputs", Inputs: []input{}, Outputs: []output{}, Fee: lovelace(0), Signatories: []signatory{}, CBOR: raw,
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
			t.Validity.Before = new(in.Uint("slot"))
		case bodyAfter:
			t.Validity.After = new(in.Uint("slot"))
		case bodyTotal:
			t.Total = new(lovelace(in.Uint("total collateral")))
		case bodyReturn:
			if o, err := ledger.ReadOutput(e.Value); err == nil {
				t.Return = new(outputOf(o))
			}
		case bodyNetwork:
			t.Network = "testnet"
			if in.Uint("network") == 1 {
				t.Network = "mainnet"
			}
		case bodyTreasury:
			t.Treasury.Value = new(lovelace(in.Uint("treasury")))
		case bodyDonation:
			t.Treasury.Donation = new(lovelace(in.Uint("donation")))
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

func inputsOf(set []byte) []input {
	all := []input{}
	for _, o := range ledger.Outpoints(set) {
		all = append(all, input{named{hex.EncodeToString(o.Tx[:])}, o.Index})
	}
	return all
}

func outputOf(o *ledger.Output) output {
	out := output{
		Address: address.FormatAny(o.Address), Value: value{"ada": {"lovelace": o.Value}}, DatumHash: o.DatumHash, Datum: o.Datum,
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
		out.Script = &script{Language: "native", CBOR: s.Code}
		if s.Language > 0 {
			out.Script.Language = fmt.Sprintf("plutus:v%d", s.Language)
		} else if lock := contents.Timelock(s.Code); lock != nil {
			out.Script.JSON = clauseOf(lock)
		}
	}
	return out
}

// clauseOf returns a native script in the JSON of Ogmios, from that of cardano-cli; nil for nil.
func clauseOf(lock any) *clause {
	m, ok := lock.(map[string]any)
	if !ok {
		return nil
	}
	c := &clause{Clause: m["type"]}
	switch m["type"] {
	case "sig":
		c.Clause, c.From = "signature", m["keyHash"]
	case "before", "after":
		c.Slot = m["slot"]
	default:
		if m["type"] == "atLeast" {
			c.Clause, c.AtLeast = "some", m["required"]
		}
		scripts, _ := m["scripts"].([]any)
		from := make([]*clause, len(scripts))
		for i := range scripts {
			from[i] = clauseOf(scripts[i])
		}
		c.From = from
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
			s := signatory{Key: f.Bytes("key"), Signature: f.Bytes("signature")}
			if key == witnessBootstrap {
				s.ChainCode, s.Attributes = f.Bytes("chain code"), f.Bytes("attributes")
			}
			if f.End(); in.Err == nil {
				t.Signatories = append(t.Signatories, s)
			}
		}
	}
}
