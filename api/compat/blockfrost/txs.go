package blockfrost

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"

	"birthmark/api/compat/utxo"
	"birthmark/core/schema"
	"birthmark/model"
)

// pathTx returns the transaction of the path. Transactions that represent outputs before the first block are not found:
// they are in no block.
func (v *view) pathTx() (model.TxPk, error) {
	id, ok := readHash(v.arg("hash"))
	if !ok {
		return 0, errNotFound
	}
	found, err := v.Q.TxPks([]model.Hash{id})
	if err != nil {
		return 0, err
	}
	if len(found[0]) == 0 || v.Q.IsGenesis(found[0][0]) {
		return 0, errNotFound
	}
	return found[0][0], nil
}

// ofTx returns an answer about the transaction of the path.
func ofTx(about func(*view, *decoded) (any, error)) answer {
	return func(v *view) (any, error) {
		pk, err := v.pathTx()
		if err != nil {
			return nil, err
		}
		d, err := v.decodeTx(pk)
		if err != nil {
			return nil, err
		}
		return about(v, d)
	}
}

func oneTx(v *view, d *decoded) (any, error) {
	spent, err := v.Q.SpendsOf(d.Pk)
	if err != nil {
		return nil, err
	}
	created, err := v.Q.OutputsOf(d.Pk)
	if err != nil {
		return nil, err
	}
	at, err := v.Point(d.Pk.Height())
	if err != nil {
		return nil, err
	}
	hash, err := v.hashOf(d.Pk)
	if err != nil {
		return nil, err
	}
	outputs, _, err := v.Outputs(created, nil)
	if err != nil {
		return nil, err
	}
	in, err := v.sum(spent)
	if err != nil {
		return nil, err
	}
	out, assets := new(big.Int), sums{}
	for i := range outputs {
		out.Add(out, bigInt(outputs[i].Value))
		assets.addOutput(&outputs[i])
	}
	t := &txValue{
		Hash: hash, Block: at.Hash.String(), BlockHeight: uint32(d.Pk.Height()), BlockTime: at.Time, Slot: at.Slot,
		Index: v.Q.TxIndex(d.Pk), TreasuryDonation: decimal(d.Parts.Donation), txContents: v.txContents(d, assets, len(spent)+len(created)),
	}
	left := new(big.Int).Sub(in, out)
	fee, err := v.fee(d.Pk, left)
	if err != nil {
		return nil, err
	}
	t.Fees = fee.String()
	t.Deposit = depositOf(d, left.Sub(left, fee)).String()
	return t, nil
}

// txContents returns the contents of a transaction without fee and deposit.
func (v *view) txContents(d *decoded, assets sums, utxos int) txContents {
	c := txContents{
		OutputAmount: assets.amounts(), Size: sizeOf(d), UtxoCount: utxos, ValidContract: !d.Failed,
		InvalidBefore: slotText(d.Details.ValidFrom), InvalidHereafter: slotText(d.Details.ValidTo),
		WithdrawalCount: len(d.Details.Withdrawals), AssetMintOrBurnCount: d.Parts.MintCount(),
		RedeemerCount: len(d.redeemers()),
	}
	v.countCertificates(d, &c)
	return c
}

// depositOf returns the deposits that the transaction pays; negative if they are returned. left is the sum of its
// inputs minus its outputs and its fee.
func depositOf(d *decoded, left *big.Int) *big.Int {
	for _, w := range d.Details.Withdrawals {
		n, _ := new(big.Int).SetString(w.Amount, 10)
		left.Add(left, n)
	}
	return left.Sub(left, bigInt(d.Parts.Donation))
}

// sizeOf returns the size of the transaction as fees count it: without the byte that states whether its scripts
// succeeded.
func sizeOf(d *decoded) int {
	if d.Alonzo {
		return len(d.Bytes) - 1
	}
	return len(d.Bytes)
}

func slotText(slot *uint64) *string {
	if slot == nil {
		return nil
	}
	return new(decimal(*slot))
}

// sum returns the sum of the lovelace of outputs.
func (v *view) sum(pks []model.UtxoPk) (*big.Int, error) {
	values, err := v.Q.Amounts(pks)
	sum := new(big.Int)
	for _, n := range values {
		sum.Add(sum, bigInt(n))
	}
	return sum, err
}

// fee returns the stated fee of a transaction, else the sum of its inputs minus its outputs.
func (v *view) fee(pk model.TxPk, left *big.Int) (*big.Int, error) {
	rows, err := v.Q.Many(schema.FamilyTxHash, [][]byte{pk.AppendTo(nil)})
	if err != nil {
		return nil, err
	}
	_, fee, err := schema.ParseTxHashRow(rows[0])
	if err != nil || fee.Stated {
		return bigInt(fee.Amount), err
	}
	return new(big.Int).Set(left), nil
}

// datumOf returns the hash of the datum of an output, and the datum if it is inline.
func datumOf(o *utxo.Output) (hash, inline *string) {
	if o.Inline {
		inline = hexText(o.Datum)
	}
	return text(o.DatumHash), inline
}

// txUTXOs answers inputs and outputs: inputs in the order spent, then reference inputs, then collateral.
func txUTXOs(v *view, d *decoded) (any, error) {
	spent, err := v.Q.SpendsOf(d.Pk)
	if err != nil {
		return nil, err
	}
	a := &txUTXOsValue{Inputs: []inputValue{}}
	if a.Hash, err = v.hashOf(d.Pk); err != nil {
		return nil, err
	}
	reference, err := v.resolve(d.Details.ReferenceInputs)
	if err != nil {
		return nil, err
	}
	collateral, err := v.resolve(d.Details.Collateral)
	if err != nil {
		return nil, err
	}
	inputs, _, err := v.Outputs(slices.Concat(spent, reference, collateral), nil)
	if err != nil {
		return nil, err
	}
	for i := range inputs {
		o := &inputs[i]
		in := inputValue{
			Address: o.Owner.Text, Amount: amountsOf(o), TxHash: o.Tx.String(), OutputIndex: o.Pk.Index(),
			Reference: i >= len(spent) && i < len(spent)+len(reference), Collateral: i >= len(spent)+len(reference),
		}
		in.DataHash, in.InlineDatum = datumOf(o)
		if in.Reference {
			in.ReferenceScriptHash = text(o.ScriptHash)
		}
		if in.Collateral {
			in.Amount = in.Amount[:1] // without assets, as at Blockfrost
		}
		a.Inputs = append(a.Inputs, in)
	}
	a.Outputs, err = v.createdBy(d)
	return a, err
}

// resolve returns the outputs of references, without outputs that are unknown. A node accepts no such reference:
// inputs, collateral and reference inputs must all be unspent outputs, also in transactions without scripts and in
// those whose scripts fail (rule UTXO since Alonzo: validateBadInputsUTxO, of all inputs). Collateral and reference
// inputs are not resolved while a block is indexed, which does not validate it.
func (v *view) resolve(refs []model.OutputReference) (pks []model.UtxoPk, err error) {
	in := make([]model.Input, len(refs))
	for i, r := range refs {
		tx, ok := readHash(r.Tx)
		if !ok {
			return nil, fmt.Errorf("reference to output %d of %q", r.Index, r.Tx)
		}
		in[i] = model.Input{Tx: tx, Index: uint32(r.Index)}
	}
	found, err := v.Q.Prevouts(in)
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
func (v *view) createdBy(d *decoded) ([]outputValue, error) {
	all := []outputValue{}
	created, err := v.Q.OutputsOf(d.Pk)
	if err != nil {
		return nil, err
	}
	outputs, _, err := v.Outputs(created, nil)
	if err != nil {
		return nil, err
	}
	spenders, err := v.Q.SpendersOf(created)
	if err != nil {
		return nil, err
	}
	var by []model.TxPk
	for _, s := range spenders {
		if s != nil {
			by = append(by, s.Tx())
		}
	}
	ids, err := v.Q.TxIDs(by)
	if err != nil {
		return nil, err
	}
	for i := range outputs {
		o := outputValue{createdValue: createdOf(&outputs[i])}
		o.OutputIndex = outputs[i].Pk.Index()
		if spenders[i] != nil {
			o.ConsumedByTx = new(ids[0].String())
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
	o := outputValue{createdValue: createdOf(returned)}
	o.OutputIndex, o.Collateral, o.Amount = len(outputs), true, o.Amount[:1] // without assets, as at Blockfrost
	return append(all, o), nil
}

func createdOf(o *utxo.Output) createdValue {
	c := createdValue{Address: o.Owner.Text, Amount: amountsOf(o), ReferenceScriptHash: text(o.ScriptHash)}
	c.DataHash, c.InlineDatum = datumOf(o)
	return c
}

func txCBOR(v *view) (any, error) {
	pk, err := v.pathTx()
	if err != nil {
		return nil, err
	}
	raws, err := v.Q.RawTxs([]model.TxPk{pk})
	if err != nil {
		return nil, err
	}
	return &cborValue{hex.EncodeToString(raws[0])}, nil
}
