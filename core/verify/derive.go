package verify

import (
	"bytes"
	"slices"

	"birthmark/core/ingest"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// blockRow is a row that belongs to a block.
type blockRow struct {
	family     storage.Family
	key, value []byte
}

// blockRows are rows in the order in which they were added. It implements [storage.Batch].
type blockRows struct {
	rows   []blockRow
	values map[rowKey][]byte
}

type rowKey struct {
	family storage.Family
	key    string
}

func (b *blockRows) Put(f storage.Family, key, value []byte) {
	row := blockRow{f, bytes.Clone(key), append([]byte{}, value...)}
	b.rows, b.values[rowKey{f, string(key)}] = append(b.rows, row), row.value
}

// value returns the value of a row, not nil if it is empty; nil if there is no such row.
func (b *blockRows) value(f storage.Family, key []byte) []byte {
	return b.values[rowKey{f, string(key)}]
}

// Delete is not called: a block only adds rows to the families that [ingest.Derive] writes.
func (*blockRows) Delete(storage.Family, []byte) {}

// derive returns the rows of a block. first is the first pointer of its transactions.
func (v *verifier) derive(b *model.Block, first model.TxPk) (*blockRows, error) {
	parent := model.Point{Height: b.Height - 1, Hash: b.Parent}
	if b.Height == v.first {
		parent = model.Point{}
	}
	if b.Height != v.next {
		v.tokens.Clear()
	}
	v.next = b.Height + 1
	d := &blockRows{values: map[rowKey][]byte{}}
	err := ingest.Derive(v.Layout, parentReader{v.r, v.Layout, first.AppendTo(nil)}, parent, []*model.Block{b}, d, &v.tokens)
	if err != nil {
		v.tokens.Clear()
	}
	return d, err
}

// parentReader reads the database as it was before a block: it hides the rows of that block and of later ones. It hides
// all spends, because a spend is compared with the row of its input.
type parentReader struct {
	storage.Reader
	*schema.Layout
	first []byte // the first pointer of the block
}

func (r parentReader) GetMany(f storage.Family, keys [][]byte) ([][]byte, error) {
	values, err := r.Reader.GetMany(f, keys)
	for i := range values {
		pointer := keys[i]
		if f == schema.FamilyFingerprint { // its values are pointers, and its keys are not
			pointer = values[i]
		}
		if f == schema.FamilySpentInput || bytes.Compare(pointer, r.first) >= 0 {
			values[i] = nil
		}
	}
	return values, err
}

// Suffixes hides the pointers of later rows.
func (r parentReader) Suffixes(f storage.Family, prefixes [][]byte) ([][]byte, error) {
	suffixes, err := r.Reader.Suffixes(f, prefixes)
	size := model.PkSize
	if f == schema.FamilyAssetBirth || f >= schema.FirstIndexFamily &&
		r.ByNumber(uint64((f-schema.FirstIndexFamily)/schema.FamiliesPerIndex)).Kind.HasOrdinal() {
		size = model.PkOrdinalSize
	}
	for i, suffix := range suffixes {
		var earlier []byte
		for pointer := range slices.Chunk(suffix, size) {
			if bytes.Compare(pointer, r.first) < 0 {
				earlier = append(earlier, pointer...)
			}
		}
		suffixes[i] = earlier
	}
	return suffixes, err
}
