package cardano

import (
	"encoding/hex"
	"strconv"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// Keys of a transaction body that only details use.
const (
	bodyCertificates = 4
	bodyWithdrawals  = 5
	bodyCollateral   = 13
	bodyVotes        = 19
	bodyProposals    = 20
)

// DescribeTx implements [model.TxDescriber]. Transactions of Byron have no details. The scripts of redeemers for inputs
// need the addresses of the inputs, or their payment credentials.
func (c *chain) DescribeTx(raw []byte, inputs, _ []map[string]any) (*model.TxDescription, error) {
	tx, err := ledger.ReadRaw(raw)
	if err != nil {
		return nil, err
	}
	d := &model.TxDescription{}
	if tx.Body == nil {
		return d, nil
	}
	if tx.Alonzo {
		valid := !tx.Failed
		d.Valid = &valid
	}
	v := view{parts: tx.Parts}
	d.ValidFrom, d.ValidTo = v.slotIfAny(bodyValidFrom), v.slotIfAny(bodyValidTo)
	d.ReferenceInputs, d.Collateral = v.references(bodyReferenceInputs), v.references(bodyCollateral)
	for _, hash := range v.requiredSigners() {
		d.RequiredSigners = append(d.RequiredSigners, hex.EncodeToString(hash))
	}
	for label, item := range ledger.Metadata(tx.Auxiliary) {
		if d.Metadata == nil {
			d.Metadata = map[string]any{}
		}
		d.Metadata[strconv.FormatUint(label, 10)] = metadataJSON(item)
	}
	d.Withdrawals = c.withdrawals(v.item(bodyWithdrawals))
	d.Certificates = c.certificates(v.item(bodyCertificates))
	votes := body.Body{Votes: v.item(bodyVotes)}
	for _, vote := range votes.ReadVotes() {
		d.Votes = append(d.Votes, model.Vote{Voter: vote.Voter, Action: vote.Action, Choice: body.Choices[vote.Choice]})
	}
	d.Proposals = c.proposals(tx.Body, v.item(bodyProposals))
	c.describeWitnesses(&d.TxDetails, tx, inputs)
	d.Outputs = make([]model.OutputDetails, len(tx.Outputs))
	for i := range tx.Outputs {
		describeOutput(&d.Outputs[i], &tx.Outputs[i])
	}
	return d, nil
}

func describeOutput(d *model.OutputDetails, o *ledger.Output) {
	d.DatumHash = hex.EncodeToString(o.DatumHash)
	if o.Datum != nil {
		datum := plutusValue(o.Datum)
		d.DatumHash, datum.Hash, d.Datum = datum.Hash, "", &datum
	}
	if o.Script != nil {
		if s, err := ledger.ParseScript(&cbor.Walker{}, o.Script); err == nil { // a malformed one has no details
			script := scriptDetails(s)
			d.ScriptRef = &script
		}
	}
}

// plutusValue returns Plutus data with its hash.
func plutusValue(raw []byte) model.EncodedValue {
	hash := blake2b.Sum256(raw)
	return model.EncodedValue{Hash: hex.EncodeToString(hash[:]), Raw: hex.EncodeToString(raw), Value: plutusJSON(raw)}
}

func scriptDetails(s ledger.Script) model.ScriptDetails {
	return model.ScriptDetails{
		Language: s.LanguageName(),
		Hash:     hex.EncodeToString(address.Hash224(append([]byte{s.Language}, s.Code...))),
		Raw:      hex.EncodeToString(s.Code),
	}
}

// slotIfAny returns a slot of the body, nil if it has none.
func (v *view) slotIfAny(key uint64) *uint64 {
	item := v.item(key)
	if item == nil {
		return nil
	}
	w := cbor.Walker{Data: item}
	slot := w.Uint("slot")
	return &slot
}

// references returns the outpoints in a set of the body.
func (v *view) references(key uint64) (all []model.OutputReference) {
	for _, in := range ledger.Outpoints(v.item(key)) {
		all = append(all, model.OutputReference{Tx: in.Tx.String(), Index: int(in.Index)})
	}
	return all
}

func (c *chain) withdrawals(item []byte) (all []model.Withdrawal) {
	for _, w := range body.ReadWithdrawals(item) {
		all = append(all, model.Withdrawal{Address: address.FormatAccount(c.net.Network, w.Account), Amount: strconv.FormatUint(w.Amount, 10)})
	}
	return all
}

// describeWitnesses adds datums, redeemers and scripts. spent are the values of the spent outputs.
func (c *chain) describeWitnesses(d *model.TxDetails, tx *ledger.RawTx, spent []map[string]any) {
	witnesses := ledger.ReadWitnesses(tx.Witnesses)
	for _, datum := range witnesses.Datums {
		d.Datums = append(d.Datums, plutusValue(datum))
	}
	for _, s := range witnesses.Scripts {
		d.Scripts = append(d.Scripts, scriptDetails(s))
	}
	if len(witnesses.Redeemers) == 0 {
		return
	}
	b, _ := body.Read(tx.Body) // of a malformed body the parts before the fault
	address := c.spentAddresses(tx, b.Inputs, spent)
	for i := range witnesses.Redeemers {
		r := &witnesses.Redeemers[i]
		data := plutusValue(r.Data)
		data.Hash = ""
		redeemer := model.Redeemer{Purpose: r.PurposeName(), Index: r.Index, Data: data, Memory: r.Memory, Steps: r.Steps}
		redeemer.Script = hex.EncodeToString(b.ScriptOf(r, address))
		if c.net.Public() {
			redeemer.Fee = r.Fee()
		}
		if r.Purpose == ledger.PurposeSpend && r.Index < uint64(len(b.Inputs)) {
			in := b.Inputs[r.Index]
			redeemer.Output = &model.OutputReference{Tx: in.Tx.String(), Index: int(in.Index)}
		}
		d.Redeemers = append(d.Redeemers, redeemer)
	}
}

// spentAddresses returns a function of the address of an input: a stored address, or one with the same payment
// credential. It is nil if it is unknown, such as those of the inputs of a failed transaction, which spent the collateral.
// spent are the values of the outputs that the transaction spends.
func (c *chain) spentAddresses(tx *ledger.RawTx, inputs []model.Input, spent []map[string]any) func(i uint64) []byte {
	type outpoint struct {
		tx    model.Hash
		index uint32
	}
	known := map[outpoint]map[string]any{}
	for i, in := range tx.Inputs {
		if len(spent) == len(tx.Inputs) {
			known[outpoint{in.Tx, in.Index}] = spent[i]
		}
	}
	return func(i uint64) []byte {
		if i >= uint64(len(inputs)) {
			return nil
		}
		keys := known[outpoint{inputs[i].Tx, inputs[i].Index}]
		if text, ok := keys["address"].(string); ok {
			a, _ := address.Parse(c.net.Network, text) // nil if it is malformed
			return a
		}
		if text, ok := keys["payment_credential"].(string); ok {
			if cred, err := address.ParsePaymentCredential(c.net.Network, text); err == nil {
				return address.Enterprise(cred)
			}
		}
		return nil
	}
}
