package core

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"birthmark/core/ingest"
	"birthmark/internal/guard"
	"birthmark/model"
	"birthmark/storage"
)

// SyncOptions control a sync. They do not change what is stored.
type SyncOptions struct {
	Indexes     []string        // of the source: if the database has others, Sync ends with ErrIndexesChange; nil: unchecked
	To          *model.HeightPk // the last block to sync; nil: no limit
	BatchWeight int             // maximum transactions, inputs, outputs and assets per batch; 0: DefaultBatchWeight
	BatchBytes  int64           // maximum bytes of blocks per batch; 0: DefaultBatchBytes
	BulkWeight  int             // minimum weight of a batch for a bulk write; 0: DefaultBulkWeight; negative: never
	// Progress is called after the source has answered, then at most every 200 ms, and once at the end. Calls do not
	// overlap and do not block the sync.
	Progress func(Progress)
	Log      *slog.Logger // nil: no log
}

// last returns the last block to sync from a source with the given tip.
func (o *SyncOptions) last(tip model.HeightPk) model.HeightPk {
	if o.To != nil {
		return min(*o.To, tip)
	}
	return tip
}

// The default limits of a batch: large enough for efficient sorting, small enough for two batches to fit in memory with
// the caches. Batches reach them only while the source is ahead of the writer.
const (
	DefaultBatchWeight       = 2_000_000
	DefaultBatchBytes  int64 = 32 << 20
)

// DefaultBulkWeight is the weight from which the fixed cost of one table per family pays off. Full batches of little
// memory are written in bulk from 1/leastBulk of it on.
const (
	DefaultBulkWeight = 50_000
	leastBulk         = 8
)

// A sync of a database that records its updates for replicas records all of them, in batches of recordedWeight, if the
// source is at most recordedBlocks ahead. Otherwise it records those from the source's tip on.
const (
	recordedBlocks = 1000
	recordedWeight = 300_000
)

// Sync brings db to the tip of src, or to o.To, and returns. If src follows its chain, Sync runs until ctx ends.
// Reading, resolving and writing run concurrently, with one batch per stage. When Sync returns, including after an
// error and after the end of ctx (ctx.Err()), everything written is durable, and db contains whole blocks: a prefix of
// what src yielded.
//
// Sync returns [ErrIndexesChange] if an index was added or dropped meanwhile.
func Sync(ctx context.Context, db *DB, src model.Source, o SyncOptions) error {
	sctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := db.sync(sctx, src, o, func() { stop(ErrIndexesChange) })
	if ctx.Err() != nil || context.Cause(sctx) != ErrIndexesChange {
		return err
	}
	return cmp.Or(db.waitForExclusive(ctx), ErrIndexesChange)
}

// sync implements Sync; interrupt ends it.
func (db *DB) sync(ctx context.Context, src model.Source, o SyncOptions, interrupt func()) error {
	db.write.Lock()
	defer db.write.Unlock()
	return db.guarded(func() error { return db.syncLocked(ctx, src, o, interrupt) })
}

// guarded calls do, whose changes of the caches may be incomplete after a panic. Then nothing is written until the database
// is opened again.
func (db *DB) guarded(do func() error) error {
	err := guard.Call(do)
	if errors.Is(err, guard.ErrPanic) {
		db.reopenRequired = true
	}
	return err
}

// syncLocked is sync with db.write held.
func (db *DB) syncLocked(ctx context.Context, src model.Source, o SyncOptions, interrupt func()) error {
	db.mu.Lock()
	db.interruptSync = interrupt
	if db.exclusiveWaiters > 0 {
		interrupt()
	}
	db.mu.Unlock()
	defer func() {
		db.mu.Lock()
		defer db.mu.Unlock()
		db.interruptSync = nil
	}()
	if o.Indexes != nil && !slices.Equal(o.Indexes, db.Indexes()) {
		interrupt()
		return ErrIndexesChange
	}
	if err := db.ensureRevision(ctx); err != nil {
		return err
	}
	if o.BatchWeight <= 0 {
		o.BatchWeight = DefaultBatchWeight
	}
	if o.BatchBytes <= 0 {
		o.BatchBytes = DefaultBatchBytes
	}
	if o.BulkWeight == 0 {
		o.BulkWeight = DefaultBulkWeight
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := db.ensureStateKnown(ctx); err != nil {
		return err
	}
	target, err := src.Tip(ctx)
	if err != nil {
		return err
	}
	if db.recording() && target.Height <= db.Tip().Height+recordedBlocks {
		o.BulkWeight, o.BatchWeight = -1, min(o.BatchWeight, recordedWeight)
	}
	if err := db.cache.Warm(ctx, db.contents(), o.last(target.Height), o.Log); err != nil {
		return err
	}
	known, err := db.Locator(ctx)
	if err != nil {
		return err
	}
	s := &syncer{
		db: db, src: src, o: o, known: known,
		events: make(chan model.Event), batches: make(chan job), resolved: make(chan job),
		target:       target.Height,
		began:        time.Now(),
		lastSnapshot: time.Now(),
		meter:        newMeter(o.Progress, db.Tip().Height, target.Height, o.To, db.extent(ctx, src, target, o.To)),
	}
	s.meter.pagesBefore = db.cache.RunStats().Pages
	err = db.guarded(func() error { return s.run(ctx) })
	db.endTransit()
	if err != nil {
		db.discardPending(ctx) // discards resolved batches that were not written
	}
	s.endReorg()
	if f, ok := db.store.(storage.Flusher); ok {
		err = errors.Join(err, f.Flush(context.WithoutCancel(ctx)))
	}
	if err == nil || ctx.Err() != nil && context.Cause(ctx) != ErrIndexesChange {
		err = errors.Join(err, db.keepSnapshot())
	}
	s.meter.finish(db.Tip().Height)
	return err
}

// job is one step of a sync: blocks to write, a point to roll back to, or neither.
type job struct {
	blocks   []*model.Block
	bytes    int64 // of the blocks, as SyncOptions.BatchBytes counts them
	batch    *ingest.Batch
	rollback *model.Point
	transit  bool          // blocks follow the rollback at once
	done     chan struct{} // closed when the job is done; nil for blocks
}

type syncer struct {
	db    *DB
	src   model.Source
	o     SyncOptions
	known []model.Point // the locator passed to the source

	events       chan model.Event
	batches      chan job
	resolved     chan job
	ended        bool // the source has no more events; set before events is closed
	meter        *meter
	target       model.HeightPk // the source's tip when the sync began
	began        time.Time
	lastSnapshot time.Time
	snapshotTook time.Duration
	bulkTxs      int         // transactions written in bulk
	caughtUp     atomic.Bool // bulkTxs was sent
	reorg        *reorg      // the reorganization in progress, until the next batch is written; nil if there is none
}

// run writes the events of the source, and compacts the database after it has caught up with the source. It returns an
// error of the source after everything before it is written, and does not compact the database then.
func (s *syncer) run(ctx context.Context) error {
	var sourceErr error
	caughtUp, written := make(chan int, 1), make(chan struct{})
	all, actx := errgroup.WithContext(ctx)
	begin := func(g *errgroup.Group, do func() error) { g.Go(func() error { return guard.Call(do) }) }
	begin(all, func() error {
		g, gctx := errgroup.WithContext(actx)
		begin(g, func() error { defer close(s.events); sourceErr = s.read(gctx); return nil })
		begin(g, func() error { defer close(s.batches); return s.batch(gctx) })
		begin(g, func() error { defer close(s.resolved); return s.resolve(gctx) })
		begin(g, func() error { return s.commit(gctx, caughtUp) })
		if err := g.Wait(); err != nil || actx.Err() != nil {
			return err
		}
		if sourceErr == nil {
			s.sendCaughtUp(caughtUp)
			close(written)
		}
		if sourceErr == nil && s.ended {
			s.db.cache.Settle()
		}
		err := s.db.keepSnapshot() // while the store compacts
		return cmp.Or(sourceErr, err)
	})
	begin(all, func() error { return s.complete(actx, caughtUp, written) })
	err := all.Wait()
	if ctx.Err() != nil && !errors.Is(err, guard.ErrPanic) {
		return ctx.Err()
	}
	return err
}

// sendCaughtUp sends the number of transactions written in bulk, on its first call.
func (s *syncer) sendCaughtUp(caughtUp chan<- int) {
	if !s.caughtUp.Swap(true) {
		caughtUp <- s.bulkTxs
	}
}

func send[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read reads events from the source until it ends, fails, or reaches SyncOptions.To.
func (s *syncer) read(ctx context.Context) error {
	started := time.Now()
	for e, err := range s.src.Follow(ctx, s.known) {
		s.meter.busy(stageRead, started)
		if err != nil {
			return err
		}
		if b := e.Block; b != nil && s.o.To != nil && b.Height > *s.o.To {
			return nil
		}
		if err := send(ctx, s.events, e); err != nil {
			return err
		}
		if b := e.Block; b != nil && s.o.To != nil && b.Height == *s.o.To {
			return nil
		}
		started = time.Now()
	}
	s.ended = true
	return nil
}

func (s *syncer) resolve(ctx context.Context) error {
	for j := range s.batches {
		if j.done != nil {
			if err := send(ctx, s.resolved, j); err != nil {
				return err
			}
			continue
		}
		if err := s.resolveBlocks(ctx, j); err != nil {
			return err
		}
	}
	return nil
}

// entries returns the maximum number of derived asset entries of a batch of several blocks: they need at most six times
// the memory of the blocks.
func (o *SyncOptions) entries() int { return max(1, min(o.BatchWeight, int(o.BatchBytes/100))) }

// resolveBlocks resolves the blocks of a job and sends them to commit. If they have too many derived assets for one batch,
// it sends several. If one block has too many, the blocks before it are written when the error returns.
func (s *syncer) resolveBlocks(ctx context.Context, j job) error {
	if s.caughtUp.Load() {
		s.db.cache.Settle()
	}
	started := time.Now()
	batch, err := s.db.prepare(ctx, j.blocks, s.o.entries())
	s.meter.busy(stageResolve, started)
	tooLarge := (*ingest.BatchTooLarge)(nil)
	if kind, _ := model.KindOf(err); kind == model.Machine || errors.As(err, &tooLarge) {
		written := job{done: make(chan struct{})}
		if err := send(ctx, s.resolved, written); err != nil {
			return err
		}
		select {
		case <-written.done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if tooLarge != nil {
		s.db.discardPending(ctx)
		if err := s.db.ensureStateKnown(ctx); err != nil {
			return err
		}
		at := max(1, tooLarge.At)
		for _, blocks := range [2][]*model.Block{j.blocks[:at:at], j.blocks[at:]} {
			part := job{blocks: blocks, bytes: j.bytes * int64(len(blocks)) / int64(len(j.blocks))}
			if err := s.resolveBlocks(ctx, part); err != nil {
				return err
			}
		}
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.db.cache.RunError(); err != nil {
		s.o.Log.Warn("cannot use files for caches beyond memory: the sync continues with lookups in the database, which are slower", "error", err)
	}
	s.meter.overflows(s.db.cache.RunStats())
	j.batch = batch
	if err := s.keepSnapshot(); err != nil {
		return err
	}
	return send(ctx, s.resolved, j)
}

// A snapshot of the caches is written at the end and every snapshotEvery; during a first sync, which writes many rows
// that a restart would have to read, every firstSyncSnapshots, the first ones after firstSnapshot, twice and four times
// that. It takes at most 1/snapshotFraction (2%) of the run time.
const (
	snapshotEvery      = 10 * time.Minute
	firstSyncSnapshots = 20 * time.Second
	firstSnapshot      = 3 * time.Second
	snapshotFraction   = 50
)
