package pointers

import (
	"encoding/binary"
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Load collects rows of several families, which [Load.Read] reads in one call. The results of the other methods are set
// when Read returns, and the rows must exist unless the method says otherwise.
type Load struct {
	q     *Reader
	parts []part
	after []func() error
	few   [3]part // space for the first parts
}

// part is rows of one family.
type part struct {
	storage.Read
	must   bool // all rows exist
	values func(rows [][]byte) error
	rows   func(rows [][]storage.KV) error
}

// NewLoad returns an empty load.
func (q *Reader) NewLoad() *Load {
	l := &Load{q: q}
	l.parts = l.few[:0]
	return l
}

// Read reads everything that was added since the last Read.
func (l *Load) Read() error {
	reads := make([]*storage.Read, len(l.parts))
	for i := range l.parts {
		reads[i] = &l.parts[i].Read
	}
	if err := storage.ReadTogether(l.q.R, reads...); err != nil {
		return err
	}
	for i := range l.parts {
		if err := l.finish(&l.parts[i]); err != nil {
			return err
		}
	}
	for _, finish := range l.after {
		if err := finish(); err != nil {
			return err
		}
	}
	clear(l.parts)
	l.parts, l.after = l.parts[:0], l.after[:0]
	return nil
}

// finish hands over the rows of a part.
func (l *Load) finish(p *part) error {
	if p.rows != nil {
		return p.rows(p.Rows)
	}
	for i, row := range p.Values {
		if p.must && row == nil {
			return fmt.Errorf("row %x of %s is missing: run check", p.Keys[i], l.q.FamilyName(p.Family))
		}
	}
	return p.values(p.Values)
}

func (l *Load) add(p part) {
	if !p.Empty() {
		l.parts = append(l.parts, p)
	}
}

// Found adds rows that may not exist: the value of such a key is nil.
func (l *Load) Found(f storage.Family, keys [][]byte, done func(rows [][]byte) error) {
	l.add(part{Read: storage.Read{Family: f, Keys: keys}, values: done})
}

// Rows adds the rows of keys.
func (l *Load) Rows(f storage.Family, keys [][]byte, done func(rows [][]byte) error) {
	l.add(part{Read: storage.Read{Family: f, Keys: keys}, values: done, must: true})
}

// Ranges adds the rows of ranges.
func (l *Load) Ranges(f storage.Family, ranges []storage.Range, done func(rows [][]storage.KV) error) {
	l.add(part{Read: storage.Read{Family: f, Ranges: ranges}, rows: done})
}

// TxIDs adds the hashes of transactions that are not cached.
func (l *Load) TxIDs(pks []model.TxPk) []model.Hash {
	q, hashes := l.q, make([]model.Hash, len(pks))
	var unknown []int
	for i, pk := range pks {
		if !q.labels.ids.find(pk, q.epoch, &hashes[i]) {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) == 0 {
		return hashes
	}
	missing := make([]model.TxPk, len(unknown))
	for k, i := range unknown {
		missing[k] = pks[i]
	}
	l.Rows(schema.FamilyTxHash, schema.Keys(missing), func(rows [][]byte) (err error) {
		for k, i := range unknown {
			if hashes[i], _, err = schema.ParseTxHashRow(rows[k]); err != nil {
				return fmt.Errorf("transaction %v: %w", pks[i], err)
			}
			q.CacheID(pks[i], hashes[i])
		}
		return nil
	})
	return hashes
}

// Hashes adds the formatted hashes of transactions to hashes, unless it has them. It sorts pks in place.
func (l *Load) Hashes(hashes map[model.TxPk]string, pks []model.TxPk) {
	slices.Sort(pks)
	pks = slices.DeleteFunc(slices.Compact(pks), func(pk model.TxPk) bool {
		_, known := hashes[pk]
		return known
	})
	ids := l.TxIDs(pks)
	l.after = append(l.after, func() error {
		for i, pk := range pks {
			hashes[pk] = l.q.Chain.FormatHash(ids[i])
		}
		return nil
	})
}

// Texts adds the texts of pointers that are not cached, in the order of ats. They are read from family f and formatted
// by format.
func (l *Load) Texts(
	space int, f storage.Family, wide bool, ats []model.BirthPk, format func(row []byte) (string, error),
) []string {
	q, texts := l.q, make([]string, len(ats))
	var unknown []int
	for i, at := range ats {
		known := false
		if texts[i], known = q.text(space, at); !known {
			unknown = append(unknown, i)
		}
	}
	if len(unknown) == 0 {
		return texts
	}
	slices.SortFunc(unknown, func(i, j int) int { return schema.CompareBirths(ats[i], ats[j]) })
	var keys [][]byte
	for k, i := range unknown {
		if k == 0 || ats[i] != ats[unknown[k-1]] {
			keys = append(keys, ats[i].AppendTo(nil, wide))
		}
	}
	l.Rows(f, keys, func(rows [][]byte) (err error) {
		for k, i := range unknown {
			if k > 0 && ats[i] == ats[unknown[k-1]] {
				texts[i] = texts[unknown[k-1]]
				continue
			}
			if texts[i], err = format(rows[0]); err != nil {
				return fmt.Errorf("text of pointer %v: %w", ats[i], err)
			}
			rows = rows[1:]
			q.CacheText(space, ats[i], texts[i])
		}
		return nil
	})
	return texts
}

// ValueTexts adds the texts of values of an index with these births, which must exist.
func (l *Load) ValueTexts(x *schema.Index, births []model.BirthPk) []string {
	format := func(value []byte) (string, error) { return x.Format(value), nil }
	return l.Texts(x.Number, x.Family(schema.IndexValue), x.Kind.HasOrdinal(), births, format)
}

// StoredValues adds the values of an index with these births, which must exist. visit receives them by position.
func (l *Load) StoredValues(x *schema.Index, births []model.BirthPk, visit func(i int, value []byte)) {
	keys := make([][]byte, len(births))
	for i, b := range births {
		keys[i] = b.AppendTo(nil, x.Kind.HasOrdinal())
	}
	l.Rows(x.Family(schema.IndexValue), keys, func(rows [][]byte) error {
		for i, value := range rows {
			visit(i, value)
		}
		return nil
	})
}

// AssetIDs adds the formatted ids of assets, which are in order and without duplicates. The ids are in their order.
func (l *Load) AssetIDs(births []model.AssetBirthPk) []string {
	ats := make([]model.BirthPk, len(births))
	for i, b := range births {
		ats[i] = model.BirthPk{Utxo: b.Utxo, Ordinal: b.Index}
	}
	format := func(row []byte) (string, error) { return l.q.Chain.FormatAsset(row), nil }
	return l.Texts(schema.AssetSpace, schema.FamilyAssetID, true, ats, format)
}

// BlockTimes adds the times of the blocks at heights. They are cached as labels.
func (l *Load) BlockTimes(heights []model.HeightPk) map[model.HeightPk]int64 {
	q, times := l.q, make(map[model.HeightPk]int64, min(len(heights), 64))
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
	l.Rows(schema.FamilyBlock, schema.Keys(unknown), func(rows [][]byte) error {
		for i, h := range unknown {
			row, err := schema.ParseBlockRow(rows[i])
			if err != nil {
				return fmt.Errorf("block at height %d: %w", h, err)
			}
			times[h] = row.Time
			q.CacheText(schema.TimeSpace, timeOf(h), string(binary.BigEndian.AppendUint64(nil, uint64(row.Time))))
		}
		return nil
	})
	return times
}

// timeOf returns the pointer of the labels with the time and the point of a block.
func timeOf(h model.HeightPk) model.BirthPk { return model.BirthPk{Utxo: model.UtxoPk(h)} }

// Points adds the points and the times of the blocks at heights, which exist. They are cached as labels.
func (l *Load) Points(heights []model.HeightPk) []BlockPoint {
	q, points := l.q, make([]BlockPoint, len(heights))
	var unknown []int
	for i, h := range heights {
		text, cached := q.text(schema.PointSpace, timeOf(h))
		if !cached {
			unknown = append(unknown, i)
			continue
		}
		p := &points[i]
		p.Height, p.Hash = h, model.Hash([]byte(text[:hashSize]))
		p.Slot = binary.BigEndian.Uint64([]byte(text[hashSize:]))
		p.Time = int64(binary.BigEndian.Uint64([]byte(text[hashSize+8:])))
	}
	keys := make([][]byte, len(unknown))
	for k, i := range unknown {
		keys[k] = heights[i].AppendTo(nil)
	}
	l.Rows(schema.FamilyBlock, keys, func(rows [][]byte) error {
		for k, i := range unknown {
			h := heights[i]
			row, err := schema.ParseBlockRow(rows[k])
			if err != nil {
				return fmt.Errorf("block at height %d: %w", h, err)
			}
			points[i] = BlockPoint{row.Point(h), row.Time}
			text := binary.BigEndian.AppendUint64(row.Hash[:], row.Slot)
			q.CacheText(schema.PointSpace, timeOf(h), string(binary.BigEndian.AppendUint64(text, uint64(row.Time))))
		}
		return nil
	})
	return points
}

const hashSize = len(model.Hash{})

// BlockPoint is a block and its time in unix seconds.
type BlockPoint struct {
	model.Point
	Time int64
}

// UtxoRows adds the rows of outputs, which are copied to rows undecoded.
func (l *Load) UtxoRows(pks []model.UtxoPk, rows [][]byte) {
	l.Rows(schema.FamilyUtxo, schema.Keys(pks), func(found [][]byte) error {
		copy(rows, found)
		return nil
	})
}

// Spenders adds the inputs that spend outputs; nil for an unspent output.
func (l *Load) Spenders(pks []model.UtxoPk) []*model.InputPk {
	spenders := make([]*model.InputPk, len(pks))
	l.Found(schema.FamilySpentInput, schema.Keys(pks), func(rows [][]byte) (err error) {
		inputs := make([]model.InputPk, len(rows))
		for i, row := range rows {
			if row == nil {
				continue
			}
			if inputs[i], err = model.ParseInputPk(row); err != nil {
				return fmt.Errorf("spender of output %v: %w", pks[i], err)
			}
			spenders[i] = &inputs[i]
		}
		return nil
	})
	return spenders
}

// Assets adds the assets that outputs hold.
func (l *Load) Assets(pks []model.UtxoPk) [][]schema.AssetEntry {
	return l.assetEntries(pks, schema.Holdings)
}

// AssetEntries adds the asset entries of outputs: also entries that only name an asset whose supply the
// transaction changes.
func (l *Load) AssetEntries(pks []model.UtxoPk) [][]schema.AssetEntry {
	return l.assetEntries(pks, func(all []schema.AssetEntry) []schema.AssetEntry { return all })
}

func (l *Load) assetEntries(pks []model.UtxoPk, of func([]schema.AssetEntry) []schema.AssetEntry) [][]schema.AssetEntry {
	entries := make([][]schema.AssetEntry, len(pks))
	l.Found(schema.FamilyAssets, schema.Keys(pks), func(rows [][]byte) (err error) {
		for i, row := range rows {
			all, err := schema.ParseAssetsRow(pks[i], row)
			if err != nil {
				return fmt.Errorf("assets of output %v: %w", pks[i], err)
			}
			entries[i] = of(all)
		}
		return nil
	})
	return entries
}

// Blocks adds the blocks of transactions by height. Genesis transactions may have none.
func (l *Load) Blocks(pks []model.TxPk) map[model.HeightPk]schema.BlockRow {
	blocks := map[model.HeightPk]schema.BlockRow{}
	var heights []model.HeightPk
	for _, pk := range pks {
		h := pk.Height()
		if _, known := blocks[h]; !known && !l.q.IsGenesis(pk) {
			blocks[h] = schema.BlockRow{}
			heights = append(heights, h)
		}
	}
	l.Rows(schema.FamilyBlock, schema.Keys(heights), func(rows [][]byte) error {
		for i, h := range heights {
			row, err := schema.ParseBlockRow(rows[i])
			if err != nil {
				return fmt.Errorf("block at height %d: %w", h, err)
			}
			blocks[h] = row
		}
		return nil
	})
	return blocks
}
