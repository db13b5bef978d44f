package schema

import (
	"encoding/binary"
	"fmt"
	"maps"

	"birthmark/model"
	"birthmark/storage"
)

var MetaChange = []byte("work")

// IndexChange is the progress of adding or dropping an index.
type IndexChange struct {
	Index *Index

	// Adding: the last block that the index contains (the origin before the first), the number of rows by family, and of
	// raw transactions their sum for [Totals.RawChecksum]. If rules are added, Rows has the asset entries as those of
	// FamilyMeta, and RawChecksum is a part of [Totals.Checksum]: see Totals.
	BuiltTo     model.Point
	Rows        map[storage.Family]uint64
	RawChecksum uint64

	// Dropping: outputs below this pointer no longer refer to the index.
	CleanedTo model.UtxoPk
}

// AppendTo appends uvarint number|utxo_pk CleanedTo|BuiltTo in the format of meta's tip|uvarint RawChecksum|
// [uvarint family|uvarint rows].
func (w *IndexChange) AppendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(w.Index.Number))
	b = AppendTip(w.CleanedTo.AppendTo(b), w.BuiltTo)
	return appendCounts(binary.AppendUvarint(b, w.RawChecksum), w.Rows)
}

func (l *Layout) parseChange(b []byte) (*IndexChange, error) {
	r := reader{b: b}
	number := r.uvarint("index number")
	w := &IndexChange{Index: l.ByNumber(number)}
	if r.err == nil && w.Index == nil {
		r.fail(fmt.Sprintf("the database has no index with number %d", number))
	}
	w.CleanedTo, w.BuiltTo, w.RawChecksum, w.Rows = r.utxo(), r.point(), r.uvarint("checksum"), r.counts()
	return w, r.err
}

// ReadChange reads the index change in progress from the snapshot of r; nil if there is none.
func (l *Layout) ReadChange(r storage.Reader) (*IndexChange, error) {
	b, err := find(r, FamilyMeta, MetaChange)
	if b == nil || err != nil {
		return nil, err
	}
	w, err := l.parseChange(b)
	if err != nil {
		return nil, fmt.Errorf("meta work: %w", err)
	}
	return w, nil
}

func (w *IndexChange) Clone() *IndexChange {
	if w == nil {
		return nil
	}
	c := *w
	c.Rows = maps.Clone(w.Rows)
	return &c
}

// Covers reports whether the index that is being added contains the block at height h.
func (w *IndexChange) Covers(h model.HeightPk) bool {
	return w != nil && w.Index.Building != 0 && !w.BuiltTo.IsOrigin() && h <= w.BuiltTo.Height
}

// OfRules reports whether rules that derive assets are being added or dropped. The families of assets then have rows of
// some blocks, which no answer shows.
func (w *IndexChange) OfRules() bool { return w != nil && w.Index.IsRules() }

// Totals returns totals that count the rows in w.Rows, to which a step of the change adds. SetTotals stores the rest of
// them in w.
func (w *IndexChange) Totals() *Totals {
	t := &Totals{Rows: w.Rows, RawChecksum: w.RawChecksum}
	if w.Index.IsRules() {
		t.RawChecksum, t.Checksum, t.Assets = 0, w.RawChecksum, w.Rows[FamilyMeta]
	}
	return t
}

// SetTotals is the inverse of Totals.
func (w *IndexChange) SetTotals(t *Totals) {
	w.RawChecksum = t.RawChecksum
	if w.Index.IsRules() {
		w.RawChecksum, w.Rows[FamilyMeta] = t.Checksum, t.Assets
	}
}

// AddTo adds the change, which is complete, to the totals of the database.
func (w *IndexChange) AddTo(t *Totals) {
	for f, n := range w.Rows {
		if f != FamilyMeta {
			t.Rows[f] = n
		}
	}
	if !w.Index.IsRules() {
		t.RawChecksum += w.RawChecksum
		return
	}
	t.Checksum += w.RawChecksum
	t.Assets = w.Rows[FamilyMeta]
}
