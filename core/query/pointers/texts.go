package pointers

import (
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Hashes returns the hashes of transactions. It sorts pks in place.
func (q *Reader) Hashes(pks []model.TxPk) (map[model.TxPk]string, error) {
	l, hashes := q.NewLoad(), make(map[model.TxPk]string, len(pks))
	l.Hashes(hashes, pks)
	return hashes, l.Read()
}

// AssetIDs returns the formatted ids of assets, which are in order and without duplicates.
func (q *Reader) AssetIDs(births []model.AssetBirthPk) (map[model.AssetBirthPk]string, error) {
	l := q.NewLoad()
	texts := l.AssetIDs(births)
	err := l.Read()
	ids := make(map[model.AssetBirthPk]string, len(births))
	for i := range texts {
		ids[births[i]] = texts[i]
	}
	return ids, err
}

// BlockTimes returns the times of the blocks at heights, which must exist. They are cached as labels.
func (q *Reader) BlockTimes(heights []model.HeightPk) (map[model.HeightPk]int64, error) {
	l := q.NewLoad()
	times := l.BlockTimes(heights)
	return times, l.Read()
}

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
	l := q.NewLoad()
	texts := l.Texts(space, f, wide, ats, format)
	return texts, l.Read()
}
