package blockfrost

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/api/compat/utxo"
	"birthmark/core/schema"
	"birthmark/model"
)

// txJSON is a transaction.
type txJSON struct {
	Hash        string `json:"hash"`
	Block       string `json:"block"`
	BlockHeight uint32 `json:"block_height"`
	BlockTime   int64  `json:"block_time"`
	Slot        uint64 `json:"slot"`
	Index       int    `json:"index"`
	txContents
	TreasuryDonation string `json:"treasury_donation"`
}

// txContents are the fields that a transaction has outside of its block too.
type txContents struct {
	OutputAmount         []amount `json:"output_amount"`
	Fees                 string   `json:"fees"`
	Deposit              string   `json:"deposit"`
	Size                 int      `json:"size"`
	InvalidBefore        *string  `json:"invalid_before"`
	InvalidHereafter     *string  `json:"invalid_hereafter"`
	UtxoCount            int      `json:"utxo_count"`
	WithdrawalCount      int      `json:"withdrawal_count"`
	MIRCertCount         int      `json:"mir_cert_count"`
	DelegationCount      int      `json:"delegation_count"`
	StakeCertCount       int      `json:"stake_cert_count"`
	PoolUpdateCount      int      `json:"pool_update_count"`
	PoolRetireCount      int      `json:"pool_retire_count"`
	AssetMintOrBurnCount int      `json:"asset_mint_or_burn_count"`
	RedeemerCount        int      `json:"redeemer_count"`
	ValidContract        bool     `json:"valid_contract"`
}

func oneTx(q *request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	spent, err := q.Q.SpendsOf(d.Pk)
	if err != nil {
		return err
	}
	created, err := q.Q.OutputsOf(d.Pk)
	if err != nil {
		return err
	}
	at, err := q.Point(d.Pk.Height())
	if err != nil {
		return err
	}
	ids, err := q.Q.TxIDs([]model.TxPk{d.Pk})
	if err != nil {
		return err
	}
	outputs, _, err := q.Outputs(created, nil)
	if err != nil {
		return err
	}
	in, err := q.sum(spent)
	if err != nil {
		return err
	}
	out, assets := new(big.Int), sums{}
	for i := range outputs {
		out.Add(out, new(big.Int).SetUint64(outputs[i].Value))
		assets.addOutput(&outputs[i])
	}
	t := &txJSON{
		Hash: ids[0].String(), Block: at.Hash.String(), BlockHeight: uint32(d.Pk.Height()), BlockTime: at.Time, Slot: at.Slot,
		Index: q.Q.TxIndex(d.Pk), TreasuryDonation: exchange.Decimal(d.Parts.Donation), txContents: q.contentsOf(d, assets, len(spent)+len(created)),
	}
	left := new(big.Int).Sub(in, out)
	fee, err := q.fee(d.Pk, left)
	if err != nil {
		return err
	}
	t.Fees = fee.String()
	t.Deposit = depositOf(d, left.Sub(left, fee)).String()
	q.Answer = t
	return nil
}

// contentsOf returns the contents of a transaction without fee and deposit.
func (q *request) contentsOf(d *exchange.Decoded, assets sums, utxos int) txContents {
	c := txContents{
		OutputAmount: assets.amounts(), Size: sizeOf(d), UtxoCount: utxos, ValidContract: !d.Failed,
		InvalidBefore: slotText(d.Details.ValidFrom), InvalidHereafter: slotText(d.Details.ValidTo),
		WithdrawalCount: len(d.Details.Withdrawals), AssetMintOrBurnCount: d.Parts.MintCount(),
		RedeemerCount: len(d.Witnessed().Redeemers),
	}
	q.countCertificates(d, &c)
	return c
}

// depositOf returns the deposits that the transaction pays; negative if they are returned. left is what its inputs have
// more than its outputs and its fee.
func depositOf(d *exchange.Decoded, left *big.Int) *big.Int {
	for _, w := range d.Details.Withdrawals {
		n, _ := new(big.Int).SetString(w.Amount, 10)
		left.Add(left, n)
	}
	return left.Sub(left, new(big.Int).SetUint64(d.Parts.Donation))
}

// sizeOf returns the size of the transaction as fees count it: without the byte that states whether its scripts succeeded.
func sizeOf(d *exchange.Decoded) int {
	if d.Alonzo {
		return len(d.Bytes) - 1
	}
	return len(d.Bytes)
}

func slotText(slot *uint64) *string {
	if slot == nil {
		return nil
	}
	return exchange.Text(exchange.Decimal(*slot))
}

// sum returns the sum of the lovelace of outputs.
func (q *request) sum(pks []model.UtxoPk) (*big.Int, error) {
	values, err := q.Q.Amounts(pks)
	sum := new(big.Int)
	for _, v := range values {
		sum.Add(sum, new(big.Int).SetUint64(v))
	}
	return sum, err
}

// fee returns the fee of a transaction: the stated one, else what its inputs have more than its outputs.
func (q *request) fee(pk model.TxPk, left *big.Int) (*big.Int, error) {
	rows, err := q.Q.Many(schema.FamilyTxHash, [][]byte{pk.AppendTo(nil)})
	if err != nil {
		return nil, err
	}
	_, fee, err := schema.ParseTxHashRow(rows[0])
	if err != nil || fee.Stated {
		return new(big.Int).SetUint64(fee.Amount), err
	}
	return new(big.Int).Set(left), nil
}

// inputJSON is an input of a transaction.
type inputJSON struct {
	Address             string   `json:"address"`
	Amount              []amount `json:"amount"`
	TxHash              string   `json:"tx_hash"`
	OutputIndex         int      `json:"output_index"`
	DataHash            *string  `json:"data_hash"`
	InlineDatum         *string  `json:"inline_datum"`
	ReferenceScriptHash *string  `json:"reference_script_hash"`
	Collateral          bool     `json:"collateral"`
	Reference           bool     `json:"reference"`
}

// outputJSON is an output of a transaction.
type outputJSON struct {
	createdJSON
	ConsumedByTx *string `json:"consumed_by_tx"`
}

// createdJSON are the fields that an output has before the transaction is in a block too.
type createdJSON struct {
	Address             string   `json:"address"`
	Amount              []amount `json:"amount"`
	OutputIndex         int      `json:"output_index"`
	DataHash            *string  `json:"data_hash"`
	InlineDatum         *string  `json:"inline_datum"`
	Collateral          bool     `json:"collateral"`
	ReferenceScriptHash *string  `json:"reference_script_hash"`
}

// datumOf returns the hash of the datum of an output, and the datum if it is inline.
func datumOf(o *utxo.Output) (hash, inline *string) {
	if o.Inline {
		inline = exchange.HexText(o.Datum)
	}
	return textOf(o.DatumHash), inline
}

func scriptHashOf(o *utxo.Output) *string { return textOf(o.ScriptHash) }

// textOf returns a text; nil for an empty one.
func textOf(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// txUTXOs answers inputs and outputs: inputs in the order spent, then reference inputs, then collateral.
func txUTXOs(q *request) error {
	d, err := q.Decode()
	if err != nil {
		return err
	}
	spent, err := q.Q.SpendsOf(d.Pk)
	if err != nil {
		return err
	}
	a := struct {
		Hash    string       `json:"hash"`
		Inputs  []inputJSON  `json:"inputs"`
		Outputs []outputJSON `json:"outputs"`
	}{Inputs: []inputJSON{}, Outputs: []outputJSON{}}
	ids, err := q.Q.TxIDs([]model.TxPk{d.Pk})
	if err != nil {
		return err
	}
	a.Hash = ids[0].String()
	reference, err := q.resolve(d.Details.ReferenceInputs)
	if err != nil {
		return err
	}
	collateral, err := q.resolve(d.Details.Collateral)
	if err != nil {
		return err
	}
	inputs, _, err := q.Outputs(slices.Concat(spent, reference, collateral), nil)
	if err != nil {
		return err
	}
	for i := range inputs {
		o := &inputs[i]
		in := inputJSON{
			Address: o.Owner.Text, Amount: amountsOf(o), TxHash: o.Tx.String(), OutputIndex: o.Pk.Index(),
			Reference: i >= len(spent) && i < len(spent)+len(reference), Collateral: i >= len(spent)+len(reference),
		}
		in.DataHash, in.InlineDatum = datumOf(o)
		if in.Reference {
			in.ReferenceScriptHash = scriptHashOf(o)
		}
		if in.Collateral {
			in.Amount = in.Amount[:1] // without assets, as at Blockfrost
		}
		a.Inputs = append(a.Inputs, in)
	}
	if a.Outputs, err = q.createdBy(d); err != nil {
		return err
	}
	q.Answer = a
	return nil
}

// resolve returns the outputs of references, without outputs that are unknown. A node accepts no such reference: inputs,
// collateral and reference inputs must all be unspent outputs, also in transactions without scripts and in those whose
// scripts fail (rule UTXO since Alonzo: validateBadInputsUTxO, of all inputs). Collateral and reference inputs are not
// resolved while a block is indexed, which does not validate it.
func (q *request) resolve(refs []model.OutputReference) (pks []model.UtxoPk, err error) {
	in := make([]model.Input, len(refs))
	for i, r := range refs {
		tx, ok := exchange.ReadHash(r.Tx)
		if !ok {
			return nil, fmt.Errorf("reference to output %d of %q", r.Index, r.Tx)
		}
		in[i] = model.Input{Tx: tx, Index: uint32(r.Index)}
	}
	found, err := q.Q.Prevouts(in)
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		if p != nil {
			pks = append(pks, p.Pk)
		}
	}
	return pks, nil
}

// createdBy returns the outputs of a transaction, and after them the collateral return that it did not create.
func (q *request) createdBy(d *exchange.Decoded) ([]outputJSON, error) {
	all := []outputJSON{}
	created, err := q.Q.OutputsOf(d.Pk)
	if err != nil {
		return nil, err
	}
	outputs, _, err := q.Outputs(created, nil)
	if err != nil {
		return nil, err
	}
	spenders, err := q.Q.SpendersOf(created)
	if err != nil {
		return nil, err
	}
	var by []model.TxPk
	for _, s := range spenders {
		if s != nil {
			by = append(by, s.Tx())
		}
	}
	ids, err := q.Q.TxIDs(by)
	if err != nil {
		return nil, err
	}
	for i := range outputs {
		o := q.outputJSON(&outputs[i])
		o.OutputIndex = outputs[i].Pk.Index()
		if spenders[i] != nil {
			o.ConsumedByTx = exchange.Text(ids[0].String())
			ids = ids[1:]
		}
		all = append(all, o)
	}
	if d.Parts.CollateralReturn == nil || d.Failed {
		return all, nil
	}
	returned, err := utxo.ReadOutput(d.Parts.CollateralReturn)
	if err != nil {
		return nil, err
	}
	o := q.outputJSON(returned)
	o.OutputIndex, o.Collateral, o.Amount = len(outputs), true, o.Amount[:1] // without assets, as at Blockfrost
	return append(all, o), nil
}

func (q *request) outputJSON(o *utxo.Output) outputJSON {
	j := outputJSON{createdJSON: createdJSON{Address: o.Owner.Text, Amount: amountsOf(o), ReferenceScriptHash: scriptHashOf(o)}}
	j.DataHash, j.InlineDatum = datumOf(o)
	return j
}

func txCBOR(q *request) error {
	pk, err := q.PathTx()
	if err != nil {
		return err
	}
	raws, err := q.Q.RawTxs([]model.TxPk{pk})
	if err != nil {
		return err
	}
	q.Answer = struct {
		CBOR string `json:"cbor"`
	}{hex.EncodeToString(raws[0])}
	return nil
}
