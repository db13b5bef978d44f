package schema

import (
	"errors"
	"fmt"

	"birthmark/model"
	"birthmark/storage"
)

// BlockAt reads the block at height h. Error: unknown_block (NotFound) if there is none.
func BlockAt(r storage.Reader, h model.HeightPk) (BlockRow, error) {
	b, err := r.Get(FamilyBlock, h.AppendTo(nil))
	if errors.Is(err, storage.ErrNotFound) {
		tip, err := readTip(r)
		if err != nil {
			return BlockRow{}, err
		}
		if tip.IsOrigin() {
			return BlockRow{}, model.Errorf(model.NotFound, "unknown_block", "no block at height %d: the database has no blocks yet", h)
		}
		return BlockRow{}, model.Errorf(model.NotFound, "unknown_block", "no block at height %d: the tip is %d", h, tip.Height)
	}
	if err != nil {
		return BlockRow{}, err
	}
	row, err := ParseBlockRow(b)
	if err != nil {
		return row, fmt.Errorf("block at height %d: %w", h, err)
	}
	return row, nil
}

// Header reads the header of the block at height h, nil if there is none.
func Header(r storage.Reader, h model.HeightPk) ([]byte, error) {
	row, err := BlockAt(r, h)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		return nil, nil
	}
	return row.Header, err
}

// PointAt reads the point of the block at height h. Error: unknown_block (NotFound) if there is none.
func PointAt(r storage.Reader, h model.HeightPk) (model.Point, error) {
	row, err := BlockAt(r, h)
	return model.Point{Height: h, Hash: row.Hash, Slot: row.Slot}, err
}
