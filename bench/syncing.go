package bench

import (
	"context"
	"errors"

	"birthmark/core"
	"birthmark/model"
)

// Arriving is a compacted database of the first recorded blocks, which is served while the others arrive.
type Arriving struct {
	db     *database
	blocks *Recording
	txs    int
	o      Options
}

// NewArriving creates the database of the first txs transactions in an empty folder; 0: half of the blocks.
func NewArriving(ctx context.Context, blocks *Recording, txs int, o Options) (_ *Arriving, err error) {
	if txs == 0 {
		if txs, err = blocks.half(); err != nil {
			return nil, err
		}
	}
	db, err := build(ctx, blocks, txs, o)
	if err != nil {
		return nil, err
	}
	return &Arriving{db: db, blocks: blocks, txs: txs, o: o}, nil
}

// half returns the number of transactions in about the first half of a recording, in whole blocks.
func (r *Recording) half() (txs int, err error) {
	s, err := r.Replay(0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	n := s.until(r.Made.Txs / 2)
	if n == s.count {
		return 0, model.Errorf(model.Usage, "bad_value", "too few blocks: %d transactions are in %d blocks, expected at least two blocks", r.Made.Txs, s.count)
	}
	_, txs = s.head(n - 1)
	return txs, nil
}

// DB returns the database, which can be queried during Sync.
func (a *Arriving) DB() *core.DB { return a.db.DB }

// Sync indexes the other blocks at full speed.
func (a *Arriving) Sync(ctx context.Context) (txsPerSecond float64, err error) {
	took, err := a.db.sync(ctx, a.blocks, 0, core.SyncOptions{BatchBytes: a.o.WindowBytes, Progress: a.o.Progress})
	if err != nil {
		return 0, err
	}
	txs, err := a.db.txs(ctx)
	if err != nil {
		return 0, err
	}
	if txs != a.blocks.Made.Txs {
		return 0, errors.New("the sync ended before the last block")
	}
	return float64(txs-a.txs) / took.Seconds(), nil
}

// Close closes the database.
func (a *Arriving) Close() error { return a.db.store.Close() }
