package core

import (
	"birthmark/model"
	"birthmark/storage"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
)

var metaWork = []byte("work")

// work on an index: how far it has come.
type indexWork struct {
	x *index

	// What is added: the last block that it has, the origin before the first, and the rows of its families.
	tip  model.Point
	rows map[storage.Family]uint64

	// What is dropped: the outputs below have no trace of it any more.
	clean model.UtxoPk
}

// appendTo appends uvarint number|utxo_pk clean|tip as meta has it|[uvarint family|uvarint rows].
func (w *indexWork) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(w.x.number))
	b = appendTip(w.clean.AppendTo(b), w.tip)
	for _, f := range sortedFamilies(w.rows) {
		b = binary.AppendUvarint(b, uint64(f))
		b = binary.AppendUvarint(b, w.rows[f])
	}
	return b
}

func (c *catalogue) parseWork(b []byte) (*indexWork, error) {
	r := reader{b: b}
	number := r.uvarint("index number")
	w := &indexWork{x: c.indexByNumber(number), rows: map[storage.Family]uint64{}}
	if r.err == nil && w.x == nil {
		r.fail(fmt.Sprintf("index number %d is in no catalogue", number))
	}
	clean, err1 := model.ParseUtxoPk(r.take(model.PkSize, "utxo_pk"))
	h, err2 := model.ParseHeightPk(r.take(model.HeightPkSize, "height"))
	w.clean, w.tip = clean, model.Point{Height: h, Hash: r.hash("hash"), Slot: r.uvarint("slot")}
	for len(r.b) > 0 {
		f := r.ordinal("family")
		w.rows[storage.Family(f)] = r.uvarint("rows")
	}
	return w, errors.Join(r.err, err1, err2)
}

// readWork is what is under way in the snapshot of r; nil where nothing is.
func (c *catalogue) readWork(r storage.Reader) (*indexWork, error) {
	b, err := r.Get(familyMeta, metaWork)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	w, err := c.parseWork(b)
	if err != nil {
		return nil, fmt.Errorf("meta work: %w", err)
	}
	return w, nil
}

func (w *indexWork) clone() *indexWork {
	if w == nil {
		return nil
	}
	c := *w
	c.rows = maps.Clone(w.rows)
	return &c
}

// has reports whether a block at h is in what is being added.
func (w *indexWork) has(h model.HeightPk) bool {
	return w != nil && w.x.coming != 0 && !w.tip.IsOrigin() && h <= w.tip.Height
}
