package core

import (
	"bytes"
	"context"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// checkHeaders lets the chain check the headers of a window against those before them: of the window itself, of the
// pending windows, and of the database.
func (db *DB) checkHeaders(r storage.Reader, before []*window, w *window) error {
	c, ok := db.chain.(model.HeaderChecker)
	if !ok {
		return nil
	}
	windows := append(before[:len(before):len(before)], w)
	at := func(h model.HeightPk) ([]byte, error) {
		for i := len(windows) - 1; i >= 0; i-- {
			blocks := windows[i].blocks
			if first := blocks[0].Height; h >= first && int(h-first) < len(blocks) {
				return blocks[h-first].Header, nil
			}
		}
		return schema.Header(r, h)
	}
	for _, b := range w.blocks {
		if err := c.CheckHeader(b, at); err != nil {
			return err
		}
	}
	return nil
}

// Header is [model.Block.Header] of the block at a height, nil if the database has none.
func (db *DB) Header(ctx context.Context, h model.HeightPk) (raw []byte, err error) {
	err = db.store.View(ctx, func(r storage.Reader) error {
		row, err := schema.Header(r, h)
		raw = bytes.Clone(row)
		return err
	})
	return raw, err
}
