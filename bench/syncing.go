package bench

import (
	"context"
	"errors"

	"birthmark/core"
	"birthmark/model"
)

// Arriving is a settled database of the first half of recorded blocks, to which the other half is to come: what is served
// while a sync runs.
type Arriving struct {
	db     *database
	blocks *Recording
	txs    int
	o      Options
}

// NewArriving makes one in an empty folder.
func NewArriving(ctx context.Context, blocks *Recording, o Options) (*Arriving, error) {
	txs, err := blocks.half()
	if err != nil {
		return nil, err
	}
	db, err := build(ctx, blocks, txs, o)
	if err != nil {
		return nil, err
	}
	return &Arriving{db: db, blocks: blocks, txs: txs, o: o}, nil
}

// half is about half of the transactions of a recording: those of whole blocks, one at least.
func (r *Recording) half() (txs int, err error) {
	s, err := r.Replay(0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	n, err := r.until(s.heads, r.Made.Txs/2)
	if err != nil {
		return 0, err
	}
	if n == s.count {
		return 0, model.Errorf(model.Usage, "bad_value", "%d transactions stand in %d blocks: expected more blocks, half of them to arrive later", r.Made.Txs, s.count)
	}
	_, txs, err = r.head(s.heads, n-1)
	return txs, err
}

// DB is the database. It may be asked while blocks arrive.
func (a *Arriving) DB() *core.DB { return a.db.DB }

// Sync has the other half arrive, as a sync from a source does that is as fast as can be, and says how fast that was.
func (a *Arriving) Sync(ctx context.Context) (txsPerSecond float64, err error) {
	took, err := a.db.sync(ctx, a.blocks, 0, core.SyncOptions{WindowBytes: a.o.WindowBytes, Progress: a.o.Progress})
	if err != nil {
		return 0, err
	}
	txs, err := a.db.txs(ctx)
	if err != nil {
		return 0, err
	}
	if txs != a.blocks.Made.Txs {
		return 0, errors.New("not all blocks arrived")
	}
	return float64(txs-a.txs) / took.Seconds(), nil
}

// Close closes the database.
func (a *Arriving) Close() error { return a.db.store.Close() }
