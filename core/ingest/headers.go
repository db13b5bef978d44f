package ingest

import (
	"fmt"
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
	stored := map[model.HeightPk][]byte{}
	at := func(h model.HeightPk) ([]byte, error) {
		for _, b := range slices.Backward(batches) {
			blocks := b.Blocks
			if first := blocks[0].Height; h >= first && int(h-first) < len(blocks) {
				return blocks[h-first].Header, nil
			}
		}
		if header, read := stored[h]; read {
			return header, nil
		}
		err := readHeaders(r, h, stored)
		return stored[h], err
	}
	for _, b := range batches[len(batches)-1].Blocks {
		if err := c.CheckHeader(b, at); err != nil {
			return err
		}
	}
	return nil
}

// headersPerRead is the number of headers that are read at once: rules need the time of several consecutive blocks.
const headersPerRead = 12

// readHeaders adds the header of the block at h, nil if there is none, and those of the blocks before it to headers.
func readHeaders(r storage.Reader, h model.HeightPk, headers map[model.HeightPk][]byte) error {
	headers[h] = nil
	from := h - min(h, headersPerRead-1)
	blocks := storage.Read{Family: schema.FamilyBlock, Ranges: []storage.Range{{From: from.AppendTo(nil), To: (h + 1).AppendTo(nil)}}}
	if err := storage.ReadTogether(r, &blocks); err != nil {
		return err
	}
	for _, kv := range blocks.Rows[0] {
		at, err := model.ParseHeightPk(kv.Key)
		if err != nil {
			return err
		}
		row, err := schema.ParseBlockRow(kv.Value)
		if err != nil {
			return fmt.Errorf("block at height %d: %w", at, err)
		}
		headers[at] = row.Header
	}
	return nil
}
