package core

import (
	"birthmark/model"
	"birthmark/storage"
	"errors"
	"fmt"
)

// blockAt reads the block at height h: NotFound (unknown_block) if there is none.
func blockAt(r storage.Reader, h model.HeightPk) (blockRow, error) {
	b, err := r.Get(familyBlock, h.AppendTo(nil))
	if errors.Is(err, storage.ErrNotFound) {
		tip, err := readTip(r)
		if err != nil {
			return blockRow{}, err
		}
		if tip.IsOrigin() {
			return blockRow{}, model.Errorf(model.NotFound, "unknown_block", "no block at height %d: the database has no blocks yet", h)
		}
		return blockRow{}, model.Errorf(model.NotFound, "unknown_block", "no block at height %d: the tip is %d", h, tip.Height)
	}
	if err != nil {
		return blockRow{}, err
	}
	row, err := parseBlockRow(b)
	if err != nil {
		return row, fmt.Errorf("block at height %d: %w", h, err)
	}
	return row, nil
}

// header reads the header of the block at a height, nil if there is none.
func header(r storage.Reader, h model.HeightPk) ([]byte, error) {
	row, err := blockAt(r, h)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		return nil, nil
	}
	return row.header, err
}
