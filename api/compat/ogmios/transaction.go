package ogmios

import (
	"encoding/hex"

	"birthmark/chains/cardano/address"
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
	bodyReferences = 18

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
	Outputs     []output            `json:"outputs"`
	Withdrawals map[string]ada      `json:"withdrawals,omitempty"`
	Fee         ada                 `json:"fee"`
	Validity    validity            `json:"validityInterval"`
	Mint        map[string]assetsOf `json:"mint,omitempty"`
	Signers     []string            `json:"requiredExtraSignatories,omitempty"`
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

type script struct {
	Language string `json:"language"`
	CBOR     string `json:"cbor"`
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

// transactionOf reads a transaction since Shelley.
func transactionOf(n address.Network, id string, raw []byte) (*transaction, error) {
	parts, err := ledger.ReadParts(raw)
	if err != nil {
		return nil, err
	}
	t := &transaction{
		ID: id, Spends: "inputs", Inputs: []input{}, Outputs: []output{}, Fee: lovelace(0), Signatories: []signatory{}, CBOR: hex.EncodeToString(raw),
	}
	whole := *parts
	whole.Failed = false // its inputs and outputs are those of the body
	created, err := whole.ReadOutputs()
	if err != nil {
		return nil, err
	}
	if parts.Failed {
		t.Spends = "collaterals"
	}
	for i := range created {
		o, err := outputOf(n, &created[i])
		if err != nil {
			return nil, err
		}
		t.Outputs = append(t.Outputs, o)
	}
	if err := t.readBody(n, parts.Body); err != nil {
		return nil, err
	}
	return t, t.readSignatories(parts.Witnesses)
}

func (t *transaction) readBody(n address.Network, body []byte) error {
	w := cbor.Walker{Data: body}
	for left := w.Map("body"); w.More(&left); {
		key := w.Uint("key of the body")
		in := cbor.Walker{Data: w.Item("part of the body")}
		if w.Err != nil {
			return w.Err
		}
		switch key {
		case bodyInputs:
			t.Inputs = inputsOf(&in)
		case bodyReferences:
			t.References = inputsOf(&in)
		case bodyCollateral:
			t.Collaterals = inputsOf(&in)
		case bodyFee:
			t.Fee = lovelace(in.Uint("fee"))
		case bodyBefore:
			t.Validity.Before = slot(&in)
		case bodyAfter:
			t.Validity.After = slot(&in)
		case bodyWithdrawal:
			t.Withdrawals = map[string]ada{}
			for left := in.Map("withdrawals"); in.More(&left); {
				account := in.Bytes("reward account")
				t.Withdrawals[address.FormatAny(account)] = lovelace(in.Uint("amount"))
			}
		case bodyMint:
			t.Mint = map[string]assetsOf{}
			for left := in.Map("mint"); in.More(&left); {
				assets := assetsOf{}
				t.Mint[hex.EncodeToString(in.Bytes("policy"))] = assets
				for left := in.Map("assets of a policy"); in.More(&left); {
					name := hex.EncodeToString(in.Bytes("asset name"))
					assets[name] = in.Int("amount")
				}
			}
		case bodySigners:
			for left := in.Set("required signers"); in.More(&left); {
				t.Signers = append(t.Signers, hex.EncodeToString(in.Bytes("required signer")))
			}
		}
		if in.Err != nil {
			return in.Err
		}
	}
	return w.Err
}

func slot(w *cbor.Walker) *uint64 {
	n := w.Uint("slot")
	return &n
}

func inputsOf(w *cbor.Walker) []input {
	all := []input{}
	for left := w.Set("inputs"); w.More(&left); {
		all = append(all, inputOf(ledger.ReadOutpoint(w)))
	}
	return all
}

func inputOf(o model.Input) (in input) {
	in.Transaction.ID, in.Index = hex.EncodeToString(o.Tx[:]), o.Index
	return in
}

func outputOf(n address.Network, o *ledger.Output) (output, error) {
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
			return out, err
		}
		language := "native"
		if s.Language > 0 {
			language = "plutus:v" + string('0'+rune(s.Language))
		}
		out.Script = &script{language, hex.EncodeToString(s.Code)}
	}
	return out, nil
}

// readSignatories reads the signatures by keys, and those of addresses of Byron.
func (t *transaction) readSignatories(witnesses []byte) error {
	w := cbor.Walker{Data: witnesses}
	for left := w.Map("witnesses"); w.More(&left); {
		key := w.Uint("key of the witnesses")
		in := cbor.Walker{Data: w.Item("witness")}
		if w.Err != nil {
			return w.Err
		}
		if key != witnessKeys && key != witnessBootstrap {
			continue
		}
		for left := in.Set("signatures"); in.More(&left); {
			f := in.Fields("signature")
			s := signatory{Key: hex.EncodeToString(f.Bytes("key")), Signature: hex.EncodeToString(f.Bytes("signature"))}
			if key == witnessBootstrap {
				s.ChainCode, s.Attributes = hex.EncodeToString(f.Bytes("chain code")), hex.EncodeToString(f.Bytes("attributes"))
			}
			f.End()
			t.Signatories = append(t.Signatories, s)
		}
		if in.Err != nil {
			return in.Err
		}
	}
	return w.Err
}
