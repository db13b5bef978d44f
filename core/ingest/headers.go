package ingest

import (
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// CheckHeaders calls the chain's header checks for the blocks of the last batch. The chain can read earlier headers
// from the uncommitted batches, which are all in batches, oldest first, and from the database.
func CheckHeaders(chain model.Chain, r storage.Reader, batches []*Batch) error {
	c, ok := chain.(model.HeaderChecker)
	if !ok {
		return nil
	}
	at := func(h model.HeightPk) ([]byte, error) {
		for _, b := range slices.Backward(batches) {
			blocks := b.Blocks
			if first := blocks[0].Height; h >= first && int(h-first) < len(blocks) {
				return blocks[h-first].Header, nil
			}
		}
		return schema.Header(r, h)
	}
	for _, b := range batches[len(batches)-1].Blocks {
		if err := c.CheckHeader(b, at); err != nil {
			return err
		}
	}
	return nil
}
