package pointers

import (
	"encoding/binary"
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Hashes returns the hashes of transactions. It sorts pks in place.
func (q *Reader) Hashes(pks []model.TxPk) (map[model.TxPk]string, error) {
	slices.Sort(pks)
	pks = slices.Compact(pks)
	ids, err := q.TxIDs(pks)
	if err != nil {
		return nil, err
	}
	hashes := make(map[model.TxPk]string, len(pks))
	for i, pk := range pks {
		hashes[pk] = q.Chain.FormatHash(ids[i])
	}
	return hashes, nil
}

// AssetIDs returns the formatted ids of assets, which are in order and without duplicates.
func (q *Reader) AssetIDs(births []model.AssetBirthPk) (map[model.AssetBirthPk]string, error) {
	ats := make([]model.BirthPk, len(births))
	for i, b := range births {
		ats[i] = model.BirthPk{Utxo: b.Utxo, Ordinal: b.Index}
	}
	format := func(row []byte) (string, error) { return q.Chain.FormatAsset(row), nil }
	texts, err := q.TextsOf(schema.AssetSpace, schema.FamilyAssetID, true, ats, format)
	ids := make(map[model.AssetBirthPk]string, len(births))
	for i := range texts {
		ids[births[i]] = texts[i]
	}
	return ids, err
}

// BlockTimes returns the times of the blocks at heights, which must exist. They are cached as labels.
func (q *Reader) BlockTimes(heights []model.HeightPk) (map[model.HeightPk]int64, error) {
	times := make(map[model.HeightPk]int64, min(len(heights), 64))
	var unknown []model.HeightPk
	for _, h := range heights {
		if _, known := times[h]; known {
			continue
		}
		text, cached := q.text(schema.TimeSpace, timeOf(h))
		if times[h] = 0; !cached {
			unknown = append(unknown, h)
			continue
		}
		times[h] = int64(binary.BigEndian.Uint64([]byte(text)))
	}
	rows, err := q.Many(schema.FamilyBlock, schema.Keys(unknown))
	if err != nil {
		return nil, err
	}
	for i, h := range unknown {
		row, err := schema.ParseBlockRow(rows[i])
		if err != nil {
			return nil, fmt.Errorf("block at height %d: %w", h, err)
		}
		times[h] = row.Time
		q.CacheText(schema.TimeSpace, timeOf(h), string(binary.BigEndian.AppendUint64(nil, uint64(row.Time))))
	}
	return times, nil
}

// timeOf returns the pointer of the label with the time of a block.
func timeOf(h model.HeightPk) model.BirthPk { return model.BirthPk{Utxo: model.UtxoPk(h.First())} }

// FormatValue returns the text of a value with this birth, nil if no output has the value.
func (q *Reader) FormatValue(x *schema.Index, value []byte, birth *model.BirthPk) string {
	if birth == nil {
		return x.Format(value)
	}
	text, cached := q.text(x.Number, *birth)
	if !cached {
		text = x.Format(value)
		q.CacheText(x.Number, *birth, text)
	}
	return text
}

// TextsOf returns the texts of pointers, in their order. All pointers must exist. Texts that are not cached are read
// from family f in one batch and formatted by format.
func (q *Reader) TextsOf(
	space int, f storage.Family, wide bool, ats []model.BirthPk, format func(row []byte) (string, error),
) ([]string, error) {
	texts := make([]string, len(ats))
	var unknown []int
	for i, at := range ats {
		known := false
		if texts[i], known = q.text(space, at); !known {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) == 0 {
		return texts, nil
	}
	slices.SortFunc(unknown, func(i, j int) int { return schema.CompareBirths(ats[i], ats[j]) })
	var keys [][]byte
	for k, i := range unknown {
		if k == 0 || ats[i] != ats[unknown[k-1]] {
			keys = append(keys, ats[i].AppendTo(nil, wide))
		}
	}
	rows, err := q.Many(f, keys)
	if err != nil {
		return nil, err
	}
	for k, i := range unknown {
		if k > 0 && ats[i] == ats[unknown[k-1]] {
			texts[i] = texts[unknown[k-1]]
			continue
		}
		if texts[i], err = format(rows[0]); err != nil {
			return nil, fmt.Errorf("text of pointer %v: %w", ats[i], err)
		}
		rows = rows[1:]
		q.CacheText(space, ats[i], texts[i])
	}
	return texts, nil
}
