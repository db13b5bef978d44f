package ingest

import (
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// CheckHeaders calls the chain's header checks for the blocks of a batch. The chain can read earlier headers from the
// batch itself, from the uncommitted batches in before, and from the database.
func CheckHeaders(chain model.Chain, r storage.Reader, before []*Batch, w *Batch) error {
	c, ok := chain.(model.HeaderChecker)
	if !ok {
		return nil
	}
	windows := append(before[:len(before):len(before)], w)
	at := func(h model.HeightPk) ([]byte, error) {
		for i := len(windows) - 1; i >= 0; i-- {
			blocks := windows[i].Blocks
			if first := blocks[0].Height; h >= first && int(h-first) < len(blocks) {
				return blocks[h-first].Header, nil
			}
		}
		return schema.Header(r, h)
	}
	for _, b := range w.Blocks {
		if err := c.CheckHeader(b, at); err != nil {
			return err
		}
	}
	return nil
}
