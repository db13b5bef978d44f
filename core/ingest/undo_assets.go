package ingest

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// forgetAssets removes assets whose birth is in the removed block, with their fingerprints and infos.
func (u *Undo) forgetAssets(births [][]byte) error {
	ids, err := u.r.GetMany(schema.FamilyAssetID, births)
	if err != nil {
		return err
	}
	infos, err := u.r.GetMany(schema.FamilyAssetInfo, births)
	if err != nil {
		return err
	}
	for i, birth := range births {
		if ids[i] == nil {
			return fmt.Errorf("asset born at %x has no id", birth)
		}
		at, err := model.ParseBirthPk(birth, true)
		if err != nil {
			return err
		}
		u.cache.DropBirth(schema.AssetSpace, ids[i], at)
		u.remove(schema.FamilyAssetID, birth)
		u.remove(schema.FamilyAssetBirth, schema.AppendBirthKey(nil, ids[i], birth))
		if fp := u.Layout.Traits.Fingerprint; fp != nil {
			if name := fp.Of(ids[i], infos[i]); name != nil {
				u.remove(schema.FamilyFingerprint, name)
			}
		}
		if u.Traits.Tokens != nil {
			u.assetDeltas.AddBirth(model.AssetBirthPk{Utxo: at.Utxo, Index: at.Ordinal}, -1)
		}
		if infos[i] != nil {
			u.t.Checksum -= schema.InfoChecksum(infos[i])
			u.remove(schema.FamilyAssetInfo, birth)
		}
	}
	return nil
}

// assets removes the asset entries, mints and burns of the block, and returns the removed entries by output.
func (u *Undo) assets(spends []undoneSpend) (map[model.UtxoPk]ledger.OutputAssets, error) {
	if !u.hasAssets() {
		return nil, nil
	}
	// A minted asset occurs in an output of its transaction, a burned asset in an input.
	touched := map[model.TxPk][]model.AssetBirthPk{}
	removed := map[model.UtxoPk]ledger.OutputAssets{}
	var born [][]byte
	for kv, err := range u.rows.of(schema.FamilyAssets) {
		if err != nil {
			return nil, err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return nil, err
		}
		entries, err := schema.ParseAssetsRow(pk, kv.Value)
		if err != nil {
			return nil, fmt.Errorf("assets of output %v: %w", pk, err)
		}
		holdings := schema.Holdings(entries)
		if len(holdings) > 0 {
			removed[pk] = ledger.OutputAssets{Entries: holdings}
		}
		related := len(schema.Related(holdings))
		for i, e := range entries {
			at := model.AssetPk{Utxo: pk, Index: uint16(i)}
			switch {
			case i >= related:
			case u.Traits.Tokens == nil && e.Birth == model.AssetBirthPk(at):
				born = append(born, e.Birth.AppendTo(nil))
			default:
				u.remove(schema.FamilyAssetRelations, schema.AppendAssetRelationKey(nil, e.Birth, at))
			}
			touched[pk.Tx()] = append(touched[pk.Tx()], e.Birth)
			u.t.Checksum -= schema.AmountChecksum(e.Amount)
		}
		u.t.Assets -= uint64(len(holdings))
		u.remove(schema.FamilyAssets, pk.AppendTo(nil))
	}
	if u.Traits.Tokens != nil {
		for kv, err := range u.rows.of(schema.FamilyAssetID) {
			if err != nil {
				return nil, err
			}
			born = append(born, kv.Key)
		}
	}
	utxos := make([]model.UtxoPk, len(spends))
	for i, s := range spends {
		utxos[i] = s.utxo
	}
	spent, err := readHeld(u.Layout, u.r, utxos, nil)
	if err != nil {
		return nil, err
	}
	for _, s := range spends {
		h := spent[s.utxo]
		u.assetDeltas.AddOutput(s.utxo, &h, 0, 1)
		for _, o := range s.Occurrences {
			for _, d := range u.deltasOf(o.Index) {
				d.AddAssets(o.Birth, h.Entries, -1)
			}
		}
		for _, e := range h.Entries {
			touched[s.input.Tx()] = append(touched[s.input.Tx()], e.Birth)
		}
	}
	if err := u.supply(touched); err != nil {
		return nil, err
	}
	return removed, u.forgetAssets(born)
}

// supply removes the mints and burns of the assets in touched.
func (u *Undo) supply(touched map[model.TxPk][]model.AssetBirthPk) error {
	var keys [][]byte
	var assets []model.AssetBirthPk
	for tx, births := range touched {
		slices.SortFunc(births, schema.CompareAssetBirths)
		for _, birth := range slices.Compact(births) {
			keys, assets = append(keys, schema.AppendSupplyKey(nil, birth, tx)), append(assets, birth)
		}
	}
	there, err := u.r.GetMany(schema.FamilyAssetSupply, keys)
	if err != nil {
		return err
	}
	for i, key := range keys {
		if there[i] == nil {
			continue
		}
		row, err := schema.ParseSupplyRow(key, there[i])
		if err != nil {
			return fmt.Errorf("supply of the asset born at %v: %w", assets[i], err)
		}
		u.assetDeltas.AddMint(assets[i], row.Supply, -1)
		u.remove(schema.FamilyAssetSupply, key)
	}
	return nil
}

// onlyAssets removes the assets of the block at h, whose transactions have pointers from <= pointer < to, and no other
// rows. spends are the inputs of the block.
func (u *Undo) onlyAssets(h model.HeightPk, from, to []byte, spends []undoneSpend) error {
	u.height = h
	u.rows = readBlockRows(u.r, []storage.Family{schema.FamilyAssets, schema.FamilyAssetID}, from, to)
	defer u.rows.wait()
	removed, err := u.assets(spends)
	if err != nil {
		return err
	}
	pks := slices.Collect(maps.Keys(removed))
	rows, err := u.r.GetMany(schema.FamilyUtxo, schema.Keys(pks))
	if err != nil {
		return err
	}
	holders := u.Layout.Holders()
	for i, pk := range pks {
		row, err := u.Layout.ParseUtxoRow(pk, rows[i])
		if err != nil {
			return fmt.Errorf("output %v: %w", pk, err)
		}
		held := removed[pk]
		for _, o := range row.Occurrences {
			for _, d := range u.deltasOf(o.Index) {
				d.AddAssets(o.Birth, held.Entries, 1)
			}
		}
		held.SetHolder(holders, row.Occurrences)
		u.assetDeltas.AddOutput(pk, &held, -1, -1)
	}
	return nil
}

// finishAssets writes the changes of holdings that onlyAssets collected.
func (u *Undo) finishAssets() error {
	for _, d := range u.deltas {
		d.Sort()
	}
	s := ledger.Applier{Reader: u.r, Batch: u.b, Totals: u.t, NewFrom: math.MaxUint64, Derived: true}
	return s.Apply(&u.assetDeltas, u.deltas)
}
