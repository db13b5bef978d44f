package bench

import (
	"context"
	"errors"
	"time"

	"birthmark/bench/linked"
	"birthmark/core"
	"birthmark/core/segment"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// database is a compacted database of recorded blocks, opened with a write-ahead log.
type database struct {
	*core.DB
	store *timedStore
	took  time.Duration // time of indexing

	segments *segment.Log // nil: none are recorded
}

// timedStore measures its updates.
type timedStore struct {
	*rocks.Store
	rows, write time.Duration // encoding rows, and the rest of updates
	last        time.Time     // end of the last update before compaction
	compacts    bool          // compaction has begun
}

// Compact implements [storage.Compactor].
func (p *timedStore) Compact(ctx context.Context) error {
	p.compacts = true
	return p.Store.Compact(ctx)
}

// Update implements [storage.Store].
func (p *timedStore) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return p.timed(ctx, fn, p.Store.Update)
}

// UpdateBulk implements [storage.BulkUpdater].
func (p *timedStore) UpdateBulk(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return p.timed(ctx, fn, p.Store.UpdateBulk)
}

func (p *timedStore) timed(ctx context.Context, fn func(storage.Reader, storage.Batch) error, update func(context.Context, func(storage.Reader, storage.Batch) error) error) error {
	began, rows := time.Now(), p.rows
	err := update(ctx, func(r storage.Reader, b storage.Batch) error {
		called := time.Now()
		defer func() { p.rows += time.Since(called) }()
		return fn(r, b)
	})
	end := time.Now()
	if p.write += end.Sub(began) - (p.rows - rows); !p.compacts {
		p.last = end
	}
	return err
}

// Build creates a compacted database of the first txs transactions of a recording in an empty folder.
func Build(ctx context.Context, blocks *Recording, txs int, o Options) error {
	db, err := build(ctx, blocks, txs, o)
	if err != nil {
		return err
	}
	return db.store.Close()
}

// build is [Build] without closing the database.
func build(ctx context.Context, blocks *Recording, txs int, o Options) (*database, error) {
	db, err := open(ctx, blocks, txs, o)
	if err != nil {
		return nil, err
	}
	if err := db.store.Compact(ctx); err != nil {
		return nil, errors.Join(err, db.store.Close())
	}
	return db, nil
}

// copied opens a copy of the database in from, which has the first txs transactions of a recording, as a sync does
// after a restart.
func copied(ctx context.Context, from string, blocks *Recording, txs int, o Options) (*database, error) {
	if err := linked.Copy(from, o.Dir, !o.EmptyCaches); err != nil {
		return nil, err
	}
	return open(ctx, blocks, txs, o)
}

// open opens a database and indexes the missing blocks of the first txs transactions of a recording.
func open(ctx context.Context, blocks *Recording, txs int, o Options) (db *database, err error) {
	chain, err := blocks.Adapter()
	if err != nil {
		return nil, err
	}
	store, err := openStore(WAL, o)
	if err != nil {
		return nil, err
	}
	db = &database{store: store.(*countedStore).timedStore}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Close())
		}
	}()
	var recorded storage.Store = db.store
	if o.Segments {
		if recorded, err = segment.Attach(ctx, db.store, segment.Options{Dir: o.Dir, Mode: segment.Record}); err != nil {
			return nil, err
		}
		db.segments = recorded.(*segment.Recorder).Log()
	}
	if db.DB, err = core.Open(ctx, recorded, core.Options{Chain: chain, Indexes: blocks.Chain.Indexes, Keep: blocks.Chain.Keep, Raw: blocks.Chain.Raw, CacheBytes: o.Caches}); err != nil {
		return nil, err
	}
	db.took, err = db.sync(ctx, blocks, txs, core.SyncOptions{BatchBytes: o.WindowBytes, Progress: o.Progress})
	return db, err
}

// sync indexes the missing blocks of the first txs transactions. It returns the time until the last write: what a sync
// does once at its end does not depend on the number of blocks.
func (db *database) sync(ctx context.Context, blocks *Recording, txs int, o core.SyncOptions) (took time.Duration, err error) {
	src, err := blocks.Replay(txs)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	began := time.Now()
	db.store.compacts = false
	err = core.Sync(ctx, db.DB, src, o)
	return db.store.last.Sub(began), err
}

// txs returns the number of transactions in the database.
func (db *database) txs(ctx context.Context) (int, error) {
	status, err := db.Status(ctx)
	if err != nil {
		return 0, err
	}
	return int(status.Totals.Txs), nil
}

// Before returns the number of transactions before the last blocks of the first txs transactions. Its errors are of
// kind [model.Usage] if there are no earlier blocks.
func (r *Recording) Before(txs, last int) (n int, err error) {
	s, err := r.Replay(txs)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if last >= s.count {
		return 0, model.Errorf(model.Usage, "bad_value", "cannot take the last %[3]d blocks: %[1]d transactions are in %[2]d blocks", s.txs, s.count, last)
	}
	_, n = s.head(s.count - last - 1)
	return n, nil
}
