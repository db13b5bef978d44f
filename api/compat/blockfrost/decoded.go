package blockfrost

import (
	"fmt"

	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// decoded is a transaction, as far as it is in its block, with its parts that no row has.
type decoded struct {
	Pk    model.TxPk
	Bytes []byte    // the whole transaction
	Parts body.Body // of its body
	*utxo.Tx
	Details *model.TxDescription
}

// decodeTx reads a raw transaction.
func (v *view) decodeTx(pk model.TxPk) (*decoded, error) {
	raws, err := v.Q.RawTxs([]model.TxPk{pk})
	if err != nil {
		return nil, err
	}
	d, err := v.decodeRaw(raws[0])
	if err != nil {
		return nil, fmt.Errorf("raw transaction %v: %w", pk, err)
	}
	d.Pk = pk
	return d, nil
}

// decodeRaw decodes a raw transaction.
func (v *view) decodeRaw(raw []byte) (*decoded, error) {
	t, err := ledger.ReadRaw(raw)
	if err != nil {
		return nil, err
	}
	d := &decoded{Bytes: raw, Tx: &utxo.Tx{RawTx: t}}
	d.Details, err = v.Chain.Model.(model.TxDescriber).DescribeTx(raw, nil, nil)
	if err == nil {
		d.Parts, err = body.Read(t.Body)
	}
	if err != nil {
		return nil, err
	}
	if t.Failed {
		d.fail()
	}
	return d, nil
}

// fail removes the parts that do not count if scripts failed: all but the spent collateral and its return. Its reference
// inputs, its collateral as such, metadata, required signers and redeemers do not count either: cardano-db-sync, which
// Blockfrost reads, stores them for valid transactions only (Era/Universal/Insert/Tx.hs: insertTxRest, prepareTxGrouped).
func (d *decoded) fail() {
	d.Parts.Mints, d.Details.Certificates, d.Details.Withdrawals = nil, nil, nil
	d.Parts.Donation, d.Parts.Votes, d.Parts.Proposals = 0, nil, nil
	d.Details.ReferenceInputs, d.Details.Collateral, d.Details.RequiredSigners = nil, nil, nil
	d.Auxiliary = nil
}

// redeemers returns the redeemers; none if scripts failed.
func (d *decoded) redeemers() []ledger.Redeemer {
	if d.Failed {
		return nil
	}
	return d.Witnessed().Redeemers
}

// hashes returns the hashes of transactions.
func (v *view) hashes(txs []model.TxPk) ([]string, error) {
	ids, err := v.Q.TxIDs(txs)
	return texts(ids), err
}

// hashOf returns the hash of a transaction.
func (v *view) hashOf(tx model.TxPk) (string, error) {
	ids, err := v.Q.TxIDs([]model.TxPk{tx})
	if err != nil {
		return "", err
	}
	return ids[0].String(), nil
}
