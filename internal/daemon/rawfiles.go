package daemon

import (
	"context"
	"errors"

	"birthmark/internal/config"
	"birthmark/model"
)

// placesAtOnce limits the transactions whose places are written at once.
const placesAtOnce = 200_000

// AddRawFiles makes the database store places of raw transactions in files, and adds those of its blocks in the files
// that are the source of set, from the first block without a place on; again: from the first block. It returns the
// number of places added, also after an error. progress receives heights.
func (h *Host) AddRawFiles(
	ctx context.Context, set *config.Chain, db *Database, again bool, progress func(model.HeightPk),
) (added int, err error) {
	if err := db.AddRawFiles(ctx); err != nil {
		return 0, err
	}
	last, err := db.PlaceTo(ctx)
	if err != nil {
		return 0, err
	}
	var known []model.Point
	if !again && !last.IsOrigin() {
		known = []model.Point{last}
	}
	tip := db.Tip()
	if tip.IsOrigin() || !again && last == tip {
		return 0, nil
	}
	src, err := h.OpenSource(ctx, set, db.Chain(), model.SourceOptions{Places: true, Known: known, To: &tip.Height})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	var blocks []*model.Block
	txs := 0
	flush := func() error {
		n, err := db.AddPlaces(ctx, blocks)
		if added += n; err == nil && len(blocks) > 0 {
			progress(blocks[len(blocks)-1].Height)
		}
		blocks, txs = blocks[:0], 0
		return err
	}
	for e, err := range src.Follow(ctx, known) {
		if err != nil {
			return added, errors.Join(err, ctx.Err())
		}
		if e.Block == nil {
			continue // places of blocks of another branch are ignored
		}
		b := e.Block
		blocks = append(blocks, &model.Block{Height: b.Height, Hash: b.Hash, Place: b.Place})
		if txs += len(b.Txs); txs >= placesAtOnce {
			if err := flush(); err != nil {
				return added, err
			}
		}
	}
	return added, flush()
}
