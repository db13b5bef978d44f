package bench

import (
	"context"
	"errors"
	"time"

	"birthmark/core"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// database is a settled database of recorded blocks, open to be written as near the tip: every block durable.
type database struct {
	*core.DB
	store *parted
	took  time.Duration // indexing
}

// parted is a store that knows how long its updates take.
type parted struct {
	*rocks.Store
	rows, write time.Duration // making the rows, and all else of an update
	last        time.Time     // when the last one was done: durable, where the log is on or it was one in bulk
}

// Update is measured.
func (p *parted) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return p.part(ctx, fn, p.Store.Update)
}

// UpdateBulk is measured.
func (p *parted) UpdateBulk(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return p.part(ctx, fn, p.Store.UpdateBulk)
}

func (p *parted) part(ctx context.Context, fn func(storage.Reader, storage.Batch) error, update func(context.Context, func(storage.Reader, storage.Batch) error) error) error {
	began, rows := time.Now(), p.rows
	err := update(ctx, func(r storage.Reader, b storage.Batch) error {
		called := time.Now()
		defer func() { p.rows += time.Since(called) }()
		return fn(r, b)
	})
	p.last = time.Now()
	p.write += p.last.Sub(began) - (p.rows - rows)
	return err
}

// Build makes a settled database of the first transactions of a recording, so many, in an empty folder, and closes it.
func Build(ctx context.Context, blocks *Recording, txs int, o Options) error {
	db, err := build(ctx, blocks, txs, o)
	if err != nil {
		return err
	}
	return db.store.Close()
}

// build is [Build] and leaves the database open.
func build(ctx context.Context, blocks *Recording, txs int, o Options) (db *database, err error) {
	chain, err := blocks.Adapter()
	if err != nil {
		return nil, err
	}
	store, err := rocks.Open(o.Dir, rocks.Options{WAL: true, BlockCache: o.BlockCache, WriteBuffers: o.WriteBuffers, Holder: "birthmark bench"})
	if err != nil {
		return nil, err
	}
	db = &database{store: &parted{Store: store}}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Close())
		}
	}()
	if db.DB, err = core.Open(ctx, db.store, core.Options{Chain: chain, Indexes: blocks.Chain.Indexes, Keep: blocks.Chain.Keep, Raw: blocks.Chain.Raw, CacheBytes: o.Caches}); err != nil {
		return nil, err
	}
	if db.took, err = db.sync(ctx, blocks, txs, core.SyncOptions{WindowBytes: o.WindowBytes, Progress: o.Progress}); err != nil {
		return nil, err
	}
	return db, store.Compact(ctx)
}

// sync indexes recorded blocks, up to so many transactions, that the database does not have yet. What it took ends with
// the last write: what is done once at the end of a sync takes as long for few blocks as for many.
func (db *database) sync(ctx context.Context, blocks *Recording, txs int, o core.SyncOptions) (took time.Duration, err error) {
	src, err := blocks.Replay(txs)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	began := time.Now()
	err = core.Sync(ctx, db.DB, src, o)
	return db.store.last.Sub(began), err
}

// txs is how many transactions the database has.
func (db *database) txs(ctx context.Context) (int, error) {
	status, err := db.Status(ctx)
	if err != nil {
		return 0, err
	}
	return int(status.Totals.Txs), nil
}

// before is how many transactions a recording has before the last blocks of those with so many transactions. An error of
// kind [model.Usage] where there are no blocks before them.
func (r *Recording) before(txs, last int) (n int, err error) {
	s, err := r.Replay(txs)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if int64(last) >= s.count {
		return 0, model.Errorf(model.Usage, "bad_value", "%d transactions stand in %d blocks: there are no %d blocks that come after others", s.txs, s.count, last)
	}
	_, n, err = r.head(s.heads, s.count-int64(last)-1)
	return n, err
}
