package blockfrost

import (
	"encoding/hex"
	"iter"
	"math/big"
	"slices"
	"strings"

	"birthmark/api/compat/utxo"
	"birthmark/chains/cardano"
	"birthmark/chains/cardano/address"
	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

const maxAssetName = 32 // bytes

// asset returns the asset of the path.
func (v *view) asset() (id []byte, birth model.AssetBirthPk, err error) {
	if id, birth, err = v.Q.Asset(v.arg("asset")); query.UnknownAsset(err) {
		err = errNotFound
	}
	return id, birth, err
}

// supplies returns assets with their supplies.
func (v *view) supplies(births []model.AssetBirthPk) ([]supplyValue, error) {
	ids, err := v.assetIDs(births)
	if err != nil {
		return nil, err
	}
	rows, err := v.Q.Many(schema.FamilyAssetTotals, schema.Keys(births))
	if err != nil {
		return nil, err
	}
	all := make([]supplyValue, len(births))
	for i := range births {
		t, err := schema.ParseAssetTotalsRow(rows[i])
		if err != nil {
			return nil, err
		}
		all[i] = supplyValue{ids[i], new(big.Int).Sub(&t.Minted, &t.Burned).String()}
	}
	return all, nil
}

// assetIDs returns the ids of assets in any order.
func (v *view) assetIDs(births []model.AssetBirthPk) ([]string, error) {
	rows, err := v.Q.Many(schema.FamilyAssetID, schema.Keys(births))
	all := make([]string, len(rows))
	for i, id := range rows {
		all[i] = hex.EncodeToString(id)
	}
	return all, err
}

// assets answers all assets in the order of their first mint, burned ones with 0.
func assets(v *view) (any, error) {
	p := v.page
	births, err := pageOf(v, func(after *model.AssetBirthPk) iter.Seq2[model.AssetBirthPk, error] {
		var position []byte
		if after != nil {
			position = after.AppendTo(nil)
		}
		from, to := schema.Between(nil, position, p.descending)
		return schema.Rows(v.Q.R, schema.FamilyAssetID, from, to, p.descending, func(key, _ []byte) (model.AssetBirthPk, error) {
			return model.ParseAssetBirthPk(key)
		})
	})
	if err != nil {
		return nil, err
	}
	return v.supplies(births)
}

// policyAssets answers the assets of a policy in the order of their first mint.
func policyAssets(v *view) (any, error) {
	policy, err := hex.DecodeString(v.arg("policy_id"))
	if err != nil {
		return nil, err
	}
	x, err := v.Q.Index(utxo.PolicyIndex)
	if err != nil {
		return nil, err
	}
	birth, err := v.Q.Birth(x, policy)
	if err != nil || birth == nil {
		return nil, orNotFound(err)
	}
	births, err := pageOf(v, func(after *model.AssetBirthPk) iter.Seq2[model.AssetBirthPk, error] {
		return v.assetsOf(x, *birth, policy, after, v.page.descending)
	})
	if err != nil {
		return nil, err
	}
	return v.supplies(births)
}

// assetsOf yields the assets of a policy: an asset first occurs in an output in which its policy occurs.
func (v *view) assetsOf(
	x *schema.Index, birth model.BirthPk, policy []byte, after *model.AssetBirthPk, descending bool,
) iter.Seq2[model.AssetBirthPk, error] {
	return func(yield func(model.AssetBirthPk, error) bool) {
		span := setops.Everywhere
		if after != nil && descending {
			span.Last = after.Utxo
		} else if after != nil {
			span.First = after.Utxo
		}
		for batch, err := range batches(v, v.Q.Occurrences(x, birth, span, descending)) {
			if err != nil {
				yield(model.AssetBirthPk{}, err)
				return
			}
			born, err := v.born(batch, policy, descending)
			if err != nil {
				yield(model.AssetBirthPk{}, err)
				return
			}
			for _, b := range born {
				if after != nil && (b == *after || (schema.CompareAssetBirths(b, *after) < 0) != descending) {
					continue
				}
				if !yield(b, nil) {
					return
				}
			}
		}
	}
}

// born returns the assets of a policy that first occur in outputs, in order.
func (v *view) born(pks []model.UtxoPk, policy []byte, descending bool) ([]model.AssetBirthPk, error) {
	entries, err := v.Q.AssetEntries(pks)
	if err != nil {
		return nil, err
	}
	var births []model.AssetBirthPk
	for i, pk := range pks {
		for _, e := range entries[i] {
			if e.Birth.Utxo == pk {
				births = append(births, e.Birth)
			}
		}
	}
	slices.SortFunc(births, schema.CompareAssetBirths)
	births = slices.Compact(births)
	if descending {
		slices.Reverse(births)
	}
	ids, err := v.assetIDs(births)
	if err != nil {
		return nil, err
	}
	prefix, of := hex.EncodeToString(policy), births[:0]
	for i, b := range births {
		if strings.HasPrefix(ids[i], prefix) {
			of = append(of, b)
		}
	}
	return of, nil
}

// assetTxs and assetTransactions answer the transactions with an output that holds an asset.
func assetTxs(v *view) (any, error) {
	txs, err := v.assetHistory()
	if err != nil {
		return nil, err
	}
	return v.hashes(txs)
}

func assetTransactions(v *view) (any, error) {
	txs, err := v.assetHistory()
	if err != nil {
		return nil, err
	}
	return v.historyOf(txs)
}

func (v *view) assetHistory() ([]model.TxPk, error) {
	_, birth, err := v.asset()
	if err != nil {
		return nil, err
	}
	s, err := v.span()
	if err != nil {
		return nil, err
	}
	return pageOf(v, func(after *model.TxPk) iter.Seq2[model.TxPk, error] {
		return distinct(v.Q.AssetOccurrences(birth, v.page.afterTx(s, after), v.page.descending))
	})
}

// distinct yields the transactions of outputs, each once.
func distinct(outputs setops.Outputs) iter.Seq2[model.TxPk, error] {
	return func(yield func(model.TxPk, error) bool) {
		var last model.TxPk
		any := false
		for pk, err := range outputs {
			if err == nil && any && pk.Tx() == last {
				continue
			}
			last, any = pk.Tx(), true
			if !yield(last, err) {
				return
			}
		}
	}
}

// assetEvents answers the mints and burns of an asset.
func assetEvents(v *view) (any, error) {
	_, birth, err := v.asset()
	if err != nil {
		return nil, err
	}
	p := v.page
	prefix := birth.AppendTo(nil)
	amounts := map[model.TxPk]*big.Int{}
	txs, err := pageOf(v, func(after *model.TxPk) iter.Seq2[model.TxPk, error] {
		var position []byte
		if after != nil {
			position = after.AppendTo(nil)
		}
		from, to := schema.Between(prefix, position, p.descending)
		return func(yield func(model.TxPk, error) bool) {
			for row, err := range schema.Rows(v.Q.R, schema.FamilyAssetSupply, from, to, p.descending, schema.ParseSupplyRow) {
				if err == nil && len(amounts) < maxCount*maxSkip {
					amounts[row.Tx] = row.Amount
				}
				if !yield(row.Tx, err) {
					return
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	ids, err := v.hashes(txs)
	if err != nil {
		return nil, err
	}
	all := make([]assetEventValue, len(txs))
	for i, tx := range txs {
		all[i] = assetEventValue{ids[i], "minted", amounts[tx].String()}
		if amounts[tx].Sign() < 0 {
			all[i].Action = "burned"
		}
	}
	return all, nil
}

// holding is the amount of an asset that an address has.
type holding struct {
	owner  model.BirthPk
	amount string
}

// assetAddresses answers the addresses that hold an asset, in the order in which the addresses first occurred.
func assetAddresses(v *view) (any, error) {
	_, birth, err := v.asset()
	if err != nil {
		return nil, err
	}
	p := v.page
	x, err := v.Q.Index(schema.HoldersIndex)
	if err != nil {
		return nil, err
	}
	prefix := birth.AppendTo(nil)
	found, err := pageOf(v, func(after *holding) iter.Seq2[holding, error] {
		var position []byte
		if after != nil {
			position = after.owner.AppendTo(nil, x.Kind.HasOrdinal())
		}
		from, to := schema.Between(prefix, position, p.descending)
		return func(yield func(holding, error) bool) {
			for row, err := range schema.Rows(v.Q.R, schema.FamilyHoldings, from, to, p.descending, schema.ParseHoldingRow) {
				if !yield(holding{row.Holder, row.Amount.String()}, err) {
					return
				}
			}
		}
	})
	if err != nil {
		return nil, err
	}
	births := make([]model.BirthPk, len(found))
	for i, h := range found {
		births[i] = h.owner
	}
	values, err := v.Q.StoredValues(x, births)
	if err != nil {
		return nil, err
	}
	all := make([]assetHolderValue, len(found))
	for i, value := range values {
		all[i] = assetHolderValue{address.FormatAny(value), found[i].amount}
	}
	return all, nil
}

// assetUTXOs answers the unspent outputs that hold an asset, in the order of their creation.
func assetUTXOs(v *view) (any, error) {
	_, birth, err := v.asset()
	if err != nil {
		return nil, err
	}
	s, err := v.span()
	if err != nil {
		return nil, err
	}
	pks, err := pageOf(v, func(after *model.UtxoPk) iter.Seq2[model.UtxoPk, error] {
		return v.unspentOf(v.Q.AssetOccurrences(birth, v.page.after(s, after), v.page.descending))
	})
	if err != nil {
		return nil, err
	}
	outputs, _, err := v.Outputs(pks, nil)
	if err != nil {
		return nil, err
	}
	all := make([]assetUTXOValue, len(outputs))
	for i := range outputs {
		o := &outputs[i]
		all[i] = assetUTXOValue{
			Address: o.Owner.Text, TxHash: o.Tx.String(), OutputIndex: o.Pk.Index(), Amount: amountsOf(o), Block: o.Created.Hash.String(),
			BlockHeight: uint32(o.Pk.Height()), BlockTime: o.Created.Time, ReferenceScriptHash: text(o.ScriptHash),
		}
		if all[i].DataHash, all[i].InlineDatum = datumOf(o); o.Inline {
			all[i].InlineDatumJSON = cardano.PlutusJSON(o.Datum)
		}
	}
	return all, nil
}

// unspentOf yields those of outputs that are unspent.
func (v *view) unspentOf(outputs setops.Outputs) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		for batch, err := range batches(v, outputs) {
			var spenders []*model.InputPk
			if err == nil {
				spenders, err = v.Q.SpendersOf(batch)
			}
			if err != nil {
				yield(0, err)
				return
			}
			for i, pk := range batch {
				if spenders[i] == nil && !yield(pk, nil) {
					return
				}
			}
		}
	}
}
