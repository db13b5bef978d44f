package blockfrost

import (
	"encoding/hex"
	"math/big"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/chains/cardano/address"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

func oneAsset(v *view) (any, error) {
	id, birth, err := v.asset()
	if err != nil {
		return nil, err
	}
	totals, err := v.Q.Many(schema.FamilyAssetTotals, [][]byte{birth.AppendTo(nil)})
	if err != nil {
		return nil, err
	}
	t, err := schema.ParseAssetTotalsRow(totals[0])
	if err != nil {
		return nil, err
	}
	text := hex.EncodeToString(id)
	a := &assetValue{
		Asset: text, PolicyID: text[:2*address.PolicySize], Fingerprint: address.Fingerprint.Format(address.Fingerprint.Of(id, nil)),
		Quantity: new(big.Int).Sub(&t.Minted, &t.Burned).String(), MintOrBurnCount: t.Mints + t.Burns,
	}
	if name := text[2*address.PolicySize:]; name != "" {
		a.AssetName = &name
	}
	first, err := v.firstMint(birth)
	if err != nil {
		return nil, err
	}
	if a.InitialMintTxHash, err = v.hashOf(first); err != nil {
		return nil, err
	}
	if a.Onchain, err = v.describe(id, birth); err != nil {
		return nil, err
	}
	return a, nil
}

// firstMint returns the transaction that first minted an asset.
func (v *view) firstMint(birth model.AssetBirthPk) (model.TxPk, error) {
	prefix := birth.AppendTo(nil)
	for row, err := range schema.Rows(v.Q.R, schema.FamilyAssetSupply, prefix, schema.PrefixEnd(prefix), false, schema.ParseSupplyRow) {
		return row.Tx, err
	}
	return birth.Utxo.Tx(), nil // of the genesis
}

// maxMints bounds the mints that are searched for metadata, newest first.
const maxMints = 100

// describe returns the metadata of an asset: by CIP-68 if a reference token has them, else by CIP-25 of the latest mint
// with label 721, also if that mint describes other assets.
func (v *view) describe(id []byte, birth model.AssetBirthPk) (contents.Onchain, error) {
	if o, found, err := v.describeByReference(id); found || err != nil {
		return o, err
	}
	prefix, n := birth.AppendTo(nil), 0
	for row, err := range schema.Rows(v.Q.R, schema.FamilyAssetSupply, prefix, schema.PrefixEnd(prefix), true, schema.ParseSupplyRow) {
		if err != nil {
			return contents.Onchain{}, err
		}
		if row.Amount.Sign() < 0 {
			continue
		}
		if n++; n > maxMints {
			break
		}
		d, err := v.decodeTx(row.Tx)
		if err != nil {
			return contents.Onchain{}, err
		}
		if _, items := contents.Labels(d.Auxiliary); items[contents.LabelMints] != nil {
			return contents.ByLabel(id, d.Details.Metadata[decimal(contents.LabelMints)], items[contents.LabelMints]), nil
		}
	}
	return contents.Onchain{}, nil
}

// maxReferences bounds the outputs with a reference token that are searched for a datum, newest first.
const maxReferences = 100

// describeByReference returns the metadata in the datum of the newest output with the reference token of an asset that
// has one, inline or by its hash.
func (v *view) describeByReference(id []byte) (o contents.Onchain, found bool, err error) {
	name := id[address.PolicySize:]
	referrer, ok := v.Chain.Model.(model.AssetReferrer)
	if !ok || !contents.HasReference(name) {
		return o, false, nil
	}
	_, birth, err := v.Q.Asset(hex.EncodeToString(referrer.ReferenceAsset(id)))
	if err != nil {
		return o, false, ifInternal(err)
	}
	tried := 0
	for pk, err := range v.Q.AssetOccurrences(birth, setops.Everywhere, true) {
		if err != nil {
			return o, false, err
		}
		outputs, _, err := v.Outputs([]model.UtxoPk{pk}, nil)
		if err != nil {
			return o, false, err
		}
		datum := outputs[0].Datum
		if datum == nil && outputs[0].DatumHash != "" {
			hash, err := hex.DecodeString(outputs[0].DatumHash)
			if err == nil {
				datum, err = v.FindDatum(hash)
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
