package ingest

import (
	"errors"
	"fmt"
	"math"

	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// undoneSpend is a removed input and the output that becomes unspent.
type undoneSpend struct {
	input model.InputPk
	utxo  model.UtxoPk
	schema.UtxoRow
}

// readSpends starts to read the inputs of the block and the rows of their outputs. It reads them while the rest of the
// block is removed, because lookups of old outputs take longer than all the rows of the block.
func (u *Undo) readSpends() (wait func() ([]undoneSpend, error)) {
	return async(func() (spends []undoneSpend, err error) {
		var keys [][]byte
		for kv, err := range u.rows.of(schema.FamilySpentUtxo) {
			if err != nil {
				return nil, err
			}
			input, err1 := model.ParseInputPk(kv.Key)
			utxo, err2 := model.ParseUtxoPk(kv.Value)
			if err := errors.Join(err1, err2); err != nil {
				return nil, err
			}
			spends, keys = append(spends, undoneSpend{input: input, utxo: utxo}), append(keys, kv.Value)
		}
		rows, err := u.r.GetMany(schema.FamilyUtxo, keys)
		for i := range rows {
			s := &spends[i]
			if s.UtxoRow, err = u.Layout.ParseUtxoRow(s.utxo, rows[i]); err != nil {
				return nil, fmt.Errorf("output %v that input %v spends: %w", s.utxo, s.input, err)
			}
		}
		return spends, err
	})
}

// inputs removes the inputs of the block and returns the outputs that become unspent.
func (u *Undo) inputs(read func() ([]undoneSpend, error)) ([]undoneSpend, error) {
	spends, err := read()
	if err != nil {
		return nil, err
	}
	for i := range spends {
		s := &spends[i]
		for _, o := range s.Occurrences {
			for _, d := range u.deltasOf(o.Index) {
				d.AddSpend(o.Birth, s.input.Tx(), s.utxo, s.Value)
			}
		}
		u.t.UnspentValue += s.Value
		u.remove(schema.FamilySpentUtxo, s.input.AppendTo(nil))
		u.remove(schema.FamilySpentInput, s.utxo.AppendTo(nil))
	}
	return spends, u.restoreRepeated(spends)
}

// restoreRepeated puts outputs that become unspent into the caches if an earlier transaction has the same hash (BIP 30):
// an overflow run may have the output of the earlier one, and would answer for it. Other outputs are not put back.
func (u *Undo) restoreRepeated(spends []undoneSpend) error {
	if u.SpendIndex != nil || !u.cache.HasOutputRuns() {
		return nil
	}
	txs := make([]model.TxPk, len(spends))
	for i := range spends {
		txs[i] = spends[i].utxo.Tx()
	}
	rows, err := u.r.GetMany(schema.FamilyTxHash, schema.Keys(txs))
	if err != nil {
		return err
	}
	hashes := make([]model.Hash, len(rows))
	for i := range rows {
		if hashes[i], _, err = schema.ParseTxHashRow(rows[i]); err != nil {
			return fmt.Errorf("transaction %v: %w", txs[i], err)
		}
	}
	same, err := schema.TxPks(u.r, hashes)
	for i := range same {
		if s := &spends[i]; len(same[i]) > 1 {
			u.cache.PutOutput(u.cache.Fingerprints.Outpoints(&hashes[i]).Output(uint32(s.utxo.Index())), uint64(s.utxo), s.Value)
		}
	}
	return err
}

// outputs removes the outputs of the block; assets are the assets that they hold.
func (u *Undo) outputs(assets map[model.UtxoPk]ledger.OutputAssets) error {
	holders := u.Layout.Holders()
	for kv, err := range u.rows.of(schema.FamilyUtxo) {
		if err != nil {
			return err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return err
		}
		row, err := u.Layout.ParseUtxoRow(pk, kv.Value)
		if err != nil {
			return fmt.Errorf("output %v: %w", pk, err)
		}
		for _, o := range row.Occurrences {
			for _, d := range u.deltasOf(o.Index) {
				d.AddOutput(o.Birth, pk, row.Value)
				d.AddAssets(o.Birth, assets[pk].Entries, 1)
			}
			// A birth implies its own occurrence and has no relation.
			if !o.BornAt(pk) {
				u.removeOf(o.Index, schema.IndexRelations, schema.AppendRelationKey(nil, o.Index, o.Birth, pk))
			}
		}
		if h, found := assets[pk]; found {
			h.SetHolder(holders, row.Occurrences)
			u.assetDeltas.AddOutput(pk, &h, -1, -1)
		}
		u.t.UnspentValue -= row.Value
		u.t.Checksum -= row.Value
		u.dropOutput(pk)
		u.remove(schema.FamilyUtxo, pk.AppendTo(nil))
	}
	return nil
}

// values removes the values of every index whose birth is in the block.
func (u *Undo) values() error {
	for _, x := range u.Layout.All {
		if err := u.valuesOf(x); err != nil {
			return fmt.Errorf("index %s: %w", x.Name, err)
		}
	}
	return nil
}

// valuesOf removes the values of x whose birth is in the block. Later occurrences come after the birth in the chain, so
// they are already removed, or are removed with this block.
func (u *Undo) valuesOf(x *schema.Index) error {
	if !x.Kind.Valid() || !(x.Active | x.Building).Has(schema.FeatureValues) {
		return nil
	}
	texts := x.Active.Has(schema.FeaturePrefix) || x.Building.Has(schema.FeaturePrefix) && u.change.Covers(u.height)
	for kv, err := range u.rows.of(x.Family(schema.IndexValue)) {
		if err != nil {
			return err
		}
		birth, value := kv.Key, kv.Value
		if err := u.dropValue(x, birth, value); err != nil {
			return err
		}
		u.removeOf(x, schema.IndexValue, birth)
		u.removeOf(x, schema.IndexBirth, schema.AppendBirthKey(nil, value, birth))
		if texts {
			u.removeOf(x, schema.IndexText, schema.AppendTextKey(nil, &x.Index, value, birth))
		}
	}
	return nil
}

// dropValue removes a value from the caches.
func (u *Undo) dropValue(x *schema.Index, birth, value []byte) error {
	at, err := model.ParseBirthPk(birth, x.Kind.HasOrdinal())
	if err != nil {
		return err
	}
	if by := u.Layout.SpendIndex; by != nil && x.Number == by.Number {
		u.cache.DropOutput(u.cache.Fingerprints.Value(x.Number, value), at.Utxo)
	}
	u.cache.DropBirth(x.Number, value, at)
	return nil
}

// removeOf removes a row of an index, active or being added.
func (u *Undo) removeOf(x *schema.Index, which storage.Family, key []byte) {
	u.removeFrom(x.Active.Has(schema.FeatureOf(which)), x.Family(which), key)
}

// removeFrom removes a row of a family that is active or being added.
func (u *Undo) removeFrom(active bool, f storage.Family, key []byte) {
	if active {
		u.remove(f, key)
		return
	}
	u.b.Delete(f, key)
	u.change.Rows[f]--
	u.Removed++
}

// deltasOf returns the deltas that an occurrence in the current block changes.
func (u *Undo) deltasOf(x *schema.Index) (ds []*ledger.Deltas) {
	if d := ledger.DeltasOf(u.deltas, x); d != nil {
		ds = append(ds, d)
	}
	if u.building != nil && u.building.Index == x && u.change.Covers(u.height) {
		ds = append(ds, u.building)
	}
	return ds
}

// undoBuilding reverts the index that is being added to tip.
func (u *Undo) undoBuilding(tip model.Point) error {
	if u.change == nil {
		return nil
	}
	if u.building != nil {
		u.building.Sort()
		t := schema.Totals{Rows: u.change.Rows}
		if err := (&ledger.Applier{Reader: u.r, Batch: u.b, Totals: &t, NewFrom: math.MaxUint64}).ApplyDeltas(u.building); err != nil {
			return err
		}
	}
	if u.change.Covers(schema.HeightAfter(tip)) {
		u.change.BuiltTo = tip
	}
	u.change.CleanedTo = min(u.change.CleanedTo, u.Layout.PkAfter(tip))
	u.b.Put(schema.FamilyMeta, schema.MetaChange, u.change.AppendTo(nil))
	return nil
}
