package verify

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

const missing = "missing"

// block compares a block of the source with the database. Ingest derives the block's rows again, and each is compared
// with the stored one. Rows of the block's range that were not derived are differences too.
func (v *verifier) block(b *model.Block) error {
	if err := v.header(b); err != nil {
		return err
	}
	v.result.Blocks++
	for _, t := range slices.Concat(b.Genesis, b.Txs) {
		v.result.Txs++
		v.result.Inputs += uint64(len(t.Inputs))
		v.result.Outputs += uint64(len(t.Outputs))
	}
	from, to := v.Layout.FirstPk(b.Height), v.Layout.FirstPk(b.Height+1)
	if len(b.Genesis) > 0 {
		from = 0
	}
	var err error
	if v.derived, err = v.derive(b, from); err != nil {
		v.report(Difference{Height: uint32(b.Height), What: "validity of the block"}, "valid", err.Error())
		return v.ctx.Err()
	}
	return v.compare(from, to)
}

// header compares the row of a block, and that of its hash, field by field.
func (v *verifier) header(b *model.Block) error {
	at := func(what string) Difference { return Difference{Height: uint32(b.Height), What: what} }
	hash := v.Chain.FormatHash(b.Hash)
	if b.Height == v.Tip.Height {
		v.report(at("hash of the tip"), hash, v.Chain.FormatHash(v.Tip.Hash))
	}
	row, err := schema.BlockAt(v.r, b.Height)
	if err != nil {
		v.report(at("block by height"), hash, err.Error())
		return v.ctx.Err()
	}
	v.report(at("hash of the block"), hash, v.Chain.FormatHash(row.Hash))
	v.report(at("parent of the block"), v.Chain.FormatHash(b.Parent), v.Chain.FormatHash(row.Parent))
	v.report(at("time of the block"), fmt.Sprint(b.Time), fmt.Sprint(row.Time))
	v.report(at("slot of the block"), fmt.Sprint(b.Slot), fmt.Sprint(row.Slot))
	v.report(at("size of the block"), fmt.Sprint(b.Size), fmt.Sprint(row.Size))
	v.report(at("number of transactions"), fmt.Sprint(len(b.Txs)), fmt.Sprint(row.TxCount))
	v.report(at("header of the block"), hex.EncodeToString(b.Header), hex.EncodeToString(row.Header))

	place := missing
	back, err := v.r.Get(schema.FamilyHeight, b.Hash[:])
	if err == nil {
		var h model.HeightPk
		var time int64
		if h, time, err = schema.ParseHeightRow(back); err == nil {
			place = fmt.Sprintf("height %d, time %d", h, time)
		}
	}
	if err != nil && !errors.Is(err, storage.ErrNotFound) {
		place = err.Error()
	}
	v.report(at("block by hash"), fmt.Sprintf("height %d, time %d", b.Height, b.Time), place)
	return v.ctx.Err()
}

// compare compares the rows of the block, whose pointers are in a range, with the stored ones.
func (v *verifier) compare(from, to model.TxPk) error {
	stored, err := v.stored(from, to)
	if err != nil {
		return err
	}
	for _, row := range v.derived.rows {
		value := stored.value(row.family, row.key)
		switch {
		case row.family == schema.FamilyBlock || row.family == schema.FamilyHeight: // header compares them
		case value != nil && bytes.Equal(value, row.value):
		case value != nil && row.family == schema.FamilyUtxo && bytes.Equal(v.active(row.key, value), row.value):
		default:
			v.reportRow(row, value)
		}
	}
	for _, row := range stored.rows {
		if v.derived.value(row.family, row.key) == nil {
			v.reportExtra(row)
		}
	}
	return v.ctx.Err()
}

// stored returns the stored rows with the keys of derived rows, and those of other rows that belong to the block.
func (v *verifier) stored(from, to model.TxPk) (*blockRows, error) {
	families := []storage.Family{schema.FamilyTxHash, schema.FamilyUtxo, schema.FamilySpentUtxo, schema.FamilySpentInput,
		schema.FamilyAssets, schema.FamilyAssetID, schema.FamilyAssetInfo}
	if v.Raw {
		families = append(families, schema.FamilyRaw)
	}
	for _, x := range v.Indexes {
		families = append(families, x.Family(schema.IndexValue))
	}
	stored := &blockRows{values: map[rowKey][]byte{}}
	for _, f := range families {
		for kv, err := range v.r.Scan(f, from.AppendTo(nil), to.AppendTo(nil), false) {
			if err != nil {
				return nil, err
			}
			stored.Put(f, kv.Key, kv.Value)
		}
	}
	lookups := map[storage.Family][][]byte{}
	for _, row := range v.derived.rows {
		if stored.value(row.family, row.key) == nil {
			lookups[row.family] = append(lookups[row.family], row.key)
		}
	}
	mints, err := v.mintKeys()
	if err != nil {
		return nil, err
	}
	lookups[schema.FamilyAssetSupply] = mints
	for f, keys := range lookups {
		values, err := v.r.GetMany(f, keys)
		if err != nil {
			return nil, err
		}
		for i, value := range values {
			if value != nil {
				stored.Put(f, keys[i], value)
			}
		}
	}
	return stored, nil
}

// mintKeys returns the keys that mints and burns of the block can have: of the assets in the outputs that a transaction
// spends or creates.
func (v *verifier) mintKeys() (keys [][]byte, err error) {
	var outputs []model.UtxoPk
	var txs []model.TxPk // for each of outputs
	for _, row := range v.derived.rows {
		at, _ := model.ParseUtxoPk(row.key)
		switch row.family {
		case schema.FamilySpentUtxo:
			spent, _ := model.ParseUtxoPk(row.value)
			outputs, txs = append(outputs, spent), append(txs, at.Tx())
		case schema.FamilyUtxo:
			outputs, txs = append(outputs, at), append(txs, at.Tx())
		case schema.FamilyAssetSupply:
			keys = append(keys, row.key)
		}
	}
	rows, err := v.r.GetMany(schema.FamilyAssets, schema.Keys(outputs))
	for i, row := range rows {
		entries, _ := schema.ParseAssetsRow(outputs[i], row) // a difference of its own block if it cannot be parsed
		for _, e := range entries {
			keys = append(keys, schema.AppendSupplyKey(nil, e.Birth, txs[i]))
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	return slices.CompactFunc(keys, bytes.Equal), err
}

// reportRow reports how the stored value of a row differs from the derived one; nil: there is no such row.
func (v *verifier) reportRow(row blockRow, stored []byte) {
	at, source := v.describe(row)
	if stored == nil {
		v.report(at, source, missing)
		return
	}
	_, database := v.describe(blockRow{row.family, row.key, stored})
	if source == database {
		source, database = "row "+hex.EncodeToString(row.value), "row "+hex.EncodeToString(stored)
	}
	if less, fewer := without(source, database), without(database, source); less != fewer {
		source, database = less, fewer
	}
	v.report(at, source, database)
}

// without returns the parts of a list that another list does not have.
func without(list, other string) string {
	others := strings.Split(other, ", ")
	left := slices.DeleteFunc(strings.Split(list, ", "), func(s string) bool { return slices.Contains(others, s) })
	return strings.Join(left, ", ")
}

// active returns the row of an output without the values of an index that is being added or dropped.
func (v *verifier) active(key, value []byte) []byte {
	pk, _ := model.ParseUtxoPk(key) // of a row that was derived
	row, err := v.ParseUtxoRow(pk, value)
	if err != nil {
		return nil
	}
	row.Occurrences = slices.DeleteFunc(row.Occurrences, func(o schema.Occurrence) bool {
		return !o.Index.Active.Has(schema.FeatureValues)
	})
	return schema.AppendUtxoRow(nil, pk, &row)
}

// reportExtra reports a stored row that was not derived.
func (v *verifier) reportExtra(row blockRow) {
	at, text := v.describe(row)
	if row.family == schema.FamilySpentInput {
		if spent, err := v.r.Get(schema.FamilySpentUtxo, row.value); err == nil && bytes.Equal(spent, row.key) {
			return // by an input of another block
		}
		text += ", which does not spend it"
	} else {
		at.What = "not in the block: " + at.What
	}
	v.report(at, "", text)
}
