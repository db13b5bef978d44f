package blockfrost

import (
	"encoding/hex"
	"math/big"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/chains/cardano/address"
	"birthmark/core/schema"
	"birthmark/model"
)

// assetJSON is an asset with its metadata.
type assetJSON struct {
	Asset             string  `json:"asset"`
	PolicyID          string  `json:"policy_id"`
	AssetName         *string `json:"asset_name"` // null: it has none
	Fingerprint       string  `json:"fingerprint"`
	Quantity          string  `json:"quantity"`
	InitialMintTxHash string  `json:"initial_mint_tx_hash"`
	MintOrBurnCount   uint64  `json:"mint_or_burn_count"`
	contents.Onchain
	Metadata any `json:"metadata"` // of a registry outside of the chain: always null
}

func oneAsset(q *request) error {
	id, birth, err := q.asset()
	if err != nil {
		return err
	}
	totals, err := q.Q.Many(schema.FamilyAssetTotals, [][]byte{birth.AppendTo(nil)})
	if err != nil {
		return err
	}
	t, err := schema.ParseAssetTotalsRow(totals[0])
	if err != nil {
		return err
	}
	text := hex.EncodeToString(id)
	a := assetJSON{
		Asset: text, PolicyID: text[:2*address.PolicySize], Fingerprint: address.Fingerprint.Format(address.Fingerprint.Of(id)),
		Quantity: new(big.Int).Sub(&t.Minted, &t.Burned).String(), MintOrBurnCount: t.Mints + t.Burns,
	}
	if name := text[2*address.PolicySize:]; name != "" {
		a.AssetName = &name
	}
	first, err := q.firstMint(birth)
	if err != nil {
		return err
	}
	if a.InitialMintTxHash, err = q.HashOf(first); err != nil {
		return err
	}
	if a.Onchain, err = q.describe(id, birth); err != nil {
		return err
	}
	q.Answer = a
	return nil
}

// firstMint returns the transaction that first minted an asset.
func (q *request) firstMint(birth model.AssetBirthPk) (model.TxPk, error) {
	prefix := birth.AppendTo(nil)
	for row, err := range schema.Rows(q.Q.R, schema.FamilyAssetSupply, prefix, schema.PrefixEnd(prefix), false, schema.ParseSupplyRow) {
		return row.Tx, err
	}
	return birth.Utxo.Tx(), nil // of the genesis
}

// maxMints bounds the mints that are searched for metadata, newest first.
const maxMints = 100

// describe returns the metadata of an asset: by CIP-68 if a reference token has them, else by CIP-25 of the latest mint
// with label 721, also if that mint describes other assets.
func (q *request) describe(id []byte, birth model.AssetBirthPk) (contents.Onchain, error) {
	if o, found, err := q.describeByReference(id); found || err != nil {
		return o, err
	}
	prefix, n := birth.AppendTo(nil), 0
	for row, err := range schema.Rows(q.Q.R, schema.FamilyAssetSupply, prefix, schema.PrefixEnd(prefix), true, schema.ParseSupplyRow) {
		if err != nil {
			return contents.Onchain{}, err
		}
		if row.Amount.Sign() < 0 {
			continue
		}
		if n++; n > maxMints {
			break
		}
		d, err := q.DecodeTx(row.Tx)
		if err != nil {
			return contents.Onchain{}, err
		}
		if _, items := contents.Labels(d.Auxiliary); items[contents.LabelMints] != nil {
			return contents.ByLabel(id, d.Details.Metadata[exchange.Decimal(contents.LabelMints)], items[contents.LabelMints]), nil
		}
	}
	return contents.Onchain{}, nil
}

// maxReferences bounds the outputs with a reference token that are searched for a datum, newest first.
const maxReferences = 100

// describeByReference returns the metadata in the datum of the newest output with the reference token of an asset that has
// one, inline or by its hash.
func (q *request) describeByReference(id []byte) (o contents.Onchain, found bool, err error) {
	name := id[address.PolicySize:]
	referrer, ok := q.Chain.Model.(model.AssetReferrer)
	if !ok || !contents.HasReference(name) {
		return o, false, nil
	}
	_, birth, err := q.Q.Asset(hex.EncodeToString(referrer.ReferenceAsset(id)))
	if err != nil {
		return o, false, exchange.UnlessInternalNil(err)
	}
	tried := 0
	for pk, err := range q.Q.AssetOccurrences(birth, everywhere, true) {
		if err != nil {
			return o, false, err
		}
		outputs, _, err := q.Outputs([]model.UtxoPk{pk}, nil)
		if err != nil {
			return o, false, err
		}
		datum := outputs[0].Datum
		if datum == nil && outputs[0].DatumHash != "" {
			hash, err := hex.DecodeString(outputs[0].DatumHash)
			if err == nil {
				datum, err = q.FindDatum(hash)
			}
			if err != nil {
				return o, false, err
			}
		}
		if datum != nil {
			o, found = contents.ByReference(name, datum)
			return o, found, nil
		}
		if tried++; tried == maxReferences {
			break
		}
	}
	return o, false, nil
}
