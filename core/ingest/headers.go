package ingest

import (
	"slices"

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
	batches := append(slices.Clip(before), w)
	at := func(h model.HeightPk) ([]byte, error) {
		for _, b := range slices.Backward(batches) {
			blocks := b.Blocks
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
