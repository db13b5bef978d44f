package schema

import (
	"errors"
	"fmt"

	"birthmark/model"
	"birthmark/storage"
)

// find returns the value of a row, nil if there is none.
func find(r storage.Reader, f storage.Family, key []byte) ([]byte, error) {
	b, err := r.Get(f, key)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return b, err
}

// FindBlock reads the block at height h; ok is false if there is none.
func FindBlock(r storage.Reader, h model.HeightPk) (row BlockRow, ok bool, err error) {
	b, err := find(r, FamilyBlock, h.AppendTo(nil))
	if b == nil || err != nil {
		return row, false, err
	}
	if row, err = ParseBlockRow(b); err != nil {
		err = fmt.Errorf("block at height %d: %w", h, err)
	}
	return row, true, err
}

// BlockAt reads the block at height h. Error: unknown_block (NotFound) if there is none.
func BlockAt(r storage.Reader, h model.HeightPk) (BlockRow, error) {
	row, ok, err := FindBlock(r, h)
	if ok || err != nil {
		return row, err
	}
	tip, err := readTip(r)
	switch {
	case err != nil:
		return row, err
	case tip.IsOrigin():
		return row, model.Errorf(model.NotFound, "unknown_block", "no block at height %d: the database has no blocks yet", h)
	}
	return row, model.Errorf(model.NotFound, "unknown_block", "no block at height %d: the tip is %d", h, tip.Height)
}

// Header reads the header of the block at height h, nil if there is none.
func Header(r storage.Reader, h model.HeightPk) ([]byte, error) {
	row, _, err := FindBlock(r, h)
	return row.Header, err
}

// Point returns the point of the block, whose height is h.
func (r *BlockRow) Point(h model.HeightPk) model.Point {
	return model.Point{Height: h, Hash: r.Hash, Slot: r.Slot}
}

// PointAt reads the point of the block at height h. Error: unknown_block (NotFound) if there is none.
func PointAt(r storage.Reader, h model.HeightPk) (model.Point, error) {
	row, err := BlockAt(r, h)
	return row.Point(h), err
}
