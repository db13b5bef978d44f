package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"birthmark/model"
	"birthmark/storage"
)

// SyncOptions say how a sync goes about it. None of them changes what is stored.
type SyncOptions struct {
	Indexes      []string        // what the source was opened with: where the database has others by now, Sync ends with ErrIndexesChange; nil: what it has
	To           *model.HeightPk // the last block wanted; nil: whatever the source has
	WindowWeight int             // a window is closed at this many transactions, inputs, outputs and assets; 0: DefaultWindowWeight
	WindowBytes  int64           // or at this many bytes of blocks; 0: DefaultWindowBytes
	BulkWeight   int             // a window of so much is written in bulk, where the store can; 0: DefaultBulkWeight; less: none is
	Progress     func(Progress)  // called every 200 ms or less often, and once at the end
	Log          *slog.Logger    // nil: no log
}

// Windows of this size are large enough for sorting to pay and small enough for two of them to fit beside the caches.
// They get as large where the source has more than can be written: far from the tip.
const (
	DefaultWindowWeight       = 2_000_000
	DefaultWindowBytes  int64 = 32 << 20
)

// DefaultBulkWeight is where the work that comes with a table for each family begins to pay.
const DefaultBulkWeight = 50_000

// lull is how long a source may be silent before an unfinished window is written: what is at the tip should be seen.
const lull = 20 * time.Millisecond

// Sync brings db to the tip of src, or to o.To, and returns. A source that follows its chain makes it stay until ctx
// ends. Blocks are read, resolved and written at the same time, a window in each stage. When it returns, all that was
// written is durable, and db holds whole blocks, a prefix of what src yielded: also after an error, and after the end
// of ctx, which is returned as ctx.Err().
//
// It ends with [ErrIndexesChange] where an index was added or dropped meanwhile.
func Sync(ctx context.Context, db *DB, src model.Source, o SyncOptions) error {
	sctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	err := db.sync(sctx, src, o, func() { stop(ErrIndexesChange) })
	if ctx.Err() != nil || context.Cause(sctx) != ErrIndexesChange {
		return err
	}
	return cmp.Or(db.giveWay(ctx), ErrIndexesChange)
}

// sync is Sync, which interrupt ends.
func (db *DB) sync(ctx context.Context, src model.Source, o SyncOptions, interrupt func()) error {
	db.write.Lock()
	defer db.write.Unlock()
	db.mu.Lock()
	db.interrupt = interrupt
	if db.waiting > 0 {
		interrupt()
	}
	db.mu.Unlock()
	defer func() {
		db.mu.Lock()
		defer db.mu.Unlock()
		db.interrupt = nil
	}()
	if o.Indexes != nil && !slices.Equal(o.Indexes, db.Indexes()) {
		interrupt()
		return ErrIndexesChange
	}
	if o.WindowWeight <= 0 {
		o.WindowWeight = DefaultWindowWeight
	}
	if o.WindowBytes <= 0 {
		o.WindowBytes = DefaultWindowBytes
	}
	if o.BulkWeight == 0 {
		o.BulkWeight = DefaultBulkWeight
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if err := db.settle(ctx); err != nil {
		return err
	}
	if err := db.warm(ctx); err != nil {
		return err
	}
	target, err := src.Tip(ctx)
	if err != nil {
		return err
	}
	known, err := db.Locator(ctx)
	if err != nil {
		return err
	}
	s := &syncer{
		db: db, src: src, o: o,
		events: make(chan model.Event), windows: make(chan job), resolved: make(chan job),
		target:   target.Height,
		nextNote: time.Now().Add(noteEvery),
		meter:    newMeter(o.Progress, db.Tip().Height, target.Height, o.To),
	}
	if err = s.run(ctx, known); err != nil {
		db.abandon(ctx) // what was resolved and not written
	}
	s.endFork()
	if f, ok := db.store.(storage.Flusher); ok {
		err = errors.Join(err, f.Flush(context.WithoutCancel(ctx)))
	}
	if err == nil || ctx.Err() != nil && context.Cause(ctx) != ErrIndexesChange {
		err = errors.Join(err, db.keepNote(db.Tip()))
	}
	s.meter.finish(db.Tip().Height)
	return err
}

// Locator is points of the database's chain, newest first: those that a fork can take off it, or the last ten, then
// thinning out towards its beginning.
func (db *DB) Locator(ctx context.Context) ([]model.Point, error) {
	tip := db.Tip()
	if tip.IsOrigin() {
		return nil, nil
	}
	return db.ancestors(ctx, tip, max(10, db.chain.Traits().DeepestFork))
}

// ancestors are points of the chain, newest first: p, the dense ones below it, then thinning out.
func (db *DB) ancestors(ctx context.Context, p model.Point, dense int) ([]model.Point, error) {
	points := []model.Point{p}
	step := model.HeightPk(1)
	for h := p.Height; h >= step; {
		h -= step
		p, err := db.PointAt(ctx, h)
		if kind, _ := model.KindOf(err); kind == model.NotFound {
			break // the chain begins above h
		}
		if err != nil {
			return nil, err
		}
		if points = append(points, p); len(points) > dense {
			step *= 2
		}
	}
	return points, nil
}

// job is one step of a sync: blocks to write, or a point to go back to.
type job struct {
	blocks   []*model.Block
	window   *window
	rollback *model.Point
	done     chan struct{} // closed when the rollback is done
}

type syncer struct {
	db  *DB
	src model.Source
	o   SyncOptions

	events   chan model.Event
	windows  chan job
	resolved chan job
	meter    *meter
	target   model.HeightPk // the source's tip when the sync began
	nextNote time.Time
	fork     *fork // since the last rollback nothing was written; nil: none is under way
}

func (s *syncer) run(ctx context.Context, known []model.Point) error {
	var sourceErr error // told once everything before it is written
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { defer close(s.events); sourceErr = s.read(gctx, known); return nil })
	g.Go(func() error { defer close(s.windows); return s.gather(gctx) })
	g.Go(func() error { defer close(s.resolved); return s.resolve(gctx) })
	caughtUp := make(chan int, 1)
	g.Go(func() error { return s.commit(gctx, caughtUp) })
	g.Go(func() error { return s.settle(gctx, caughtUp) })
	err := g.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	return sourceErr
}

func send[T any](ctx context.Context, to chan<- T, v T) error {
	select {
	case to <- v:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// read takes events from the source until it ends, has said all that is wanted, or fails.
func (s *syncer) read(ctx context.Context, known []model.Point) error {
	started := time.Now()
	for e, err := range s.src.Follow(ctx, known) {
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
	return nil
}

// gather puts blocks together to windows: as large as they may be while the source has more, what there is when it
// pauses.
func (s *syncer) gather(ctx context.Context) error {
	g := gatherer{syncer: s, part: firstPart, meeting: true, tip: s.db.Tip()}
	pause := time.NewTimer(lull)
	defer pause.Stop()
	for {
		pause.Reset(lull)
		select {
		case e, ok := <-s.events:
			if !ok {
				return g.flush(ctx)
			}
			if err := g.add(ctx, e); err != nil {
				return err
			}
		case <-pause.C:
			if err := g.flush(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// firstPart makes the first window an eighth of the largest, the next a quarter: the stages behind need not wait for so
// much to be read.
const firstPart = 8

type gatherer struct {
	*syncer
	blocks []*model.Block
	weight int
	bytes  int64
	part   int // of the largest window that this one may be

	// meeting: the source has not yet said anything we do not have. The rollback it may begin with then only says
	// where it looks for the place where its chain and ours part: what both have is skipped, and nothing is undone
	// before a block that differs has come. So a source that is behind us, or looks far back, costs nothing. One that
	// says it has our tip has met us: it goes back only where its chain does.
	meeting bool
	tip     model.Point // of the database, while meeting
}

func (g *gatherer) add(ctx context.Context, e model.Event) error {
	if e.Rollback != nil {
		if g.meeting {
			g.meeting = *e.Rollback != g.tip
			return nil
		}
		if err := g.flush(ctx); err != nil {
			return err
		}
		return g.goBack(ctx, *e.Rollback)
	}
	b := e.Block
	if g.meeting {
		had, err := g.meet(ctx, b)
		if had || err != nil {
			return err
		}
	}
	weight, size := b.Weight(), int64(b.Size)
	if g.db.raw {
		size *= 2 // its rows have all of it
	}
	if len(g.blocks) > 0 && (g.weight+weight > g.o.WindowWeight/g.part || g.bytes+size > g.o.WindowBytes/int64(g.part)) {
		if err := g.flush(ctx); err != nil {
			return err
		}
		g.part = max(1, g.part/2)
	}
	g.blocks = append(g.blocks, b)
	g.weight += weight
	g.bytes += size
	return nil
}

// meet reports whether the database has b already. Where it has another block at b's height it goes back below that.
func (g *gatherer) meet(ctx context.Context, b *model.Block) (had bool, err error) {
	if g.tip.IsOrigin() || b.Height > g.tip.Height {
		g.meeting = false
		return false, nil
	}
	at, err := g.db.PointAt(ctx, b.Height)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		// Below where our chain begins: it is another one altogether.
		at, err = model.Point{}, nil
	}
	if err != nil {
		return false, err
	}
	if at.Hash == b.Hash {
		return true, nil
	}
	g.meeting = false
	below := model.Point{}
	if b.Height > 0 {
		if below, err = g.db.PointAt(ctx, b.Height-1); err != nil {
			if kind, _ := model.KindOf(err); kind != model.NotFound {
				return false, err
			}
			below = model.Point{}
		}
	}
	if below.IsOrigin() {
		hash := g.db.chain.FormatHash
		return false, model.Errorf(model.Refused, "wrong_chain", "the source has another chain: its first block is %s, the database's is %s", hash(b.Hash), hash(at.Hash))
	}
	return false, g.goBack(ctx, below)
}

func (g *gatherer) goBack(ctx context.Context, to model.Point) error {
	done := make(chan struct{})
	if err := send(ctx, g.windows, job{rollback: &to, done: done}); err != nil {
		return err
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gatherer) flush(ctx context.Context) error {
	if len(g.blocks) == 0 {
		return nil
	}
	j := job{blocks: g.blocks}
	g.blocks, g.weight, g.bytes = nil, 0, 0
	return send(ctx, g.windows, j)
}

func (s *syncer) resolve(ctx context.Context) error {
	for j := range s.windows {
		if j.rollback == nil {
			started := time.Now()
			w, err := s.db.prepare(ctx, j.blocks)
			s.meter.busy(stageResolve, started)
			if err != nil {
				return err
			}
			j.window = w
			if err := s.keepNote(w); err != nil {
				return err
			}
		}
		if err := send(ctx, s.resolved, j); err != nil {
			return err
		}
	}
	return nil
}

// A note of the caches is kept at the end, and this often on the way; on large databases more seldom, so that it takes one
// part in so many of the time.
const (
	noteEvery = 10 * time.Minute
	notePart  = 50
)

// keepNote keeps the caches as they are after w, where it is time to.
func (s *syncer) keepNote(w *window) error {
	if time.Now().Before(s.nextNote) {
		return nil
	}
	started := time.Now()
	if err := s.db.keepNote(w.blocks[len(w.blocks)-1].Point()); err != nil {
		return err
	}
	s.nextNote = time.Now().Add(max(noteEvery, notePart*time.Since(started)))
	return nil
}

// commit writes windows. Once it is where the source was when the sync began, or at its end, it says how many transactions
// it has written in bulk.
func (s *syncer) commit(ctx context.Context, caughtUp chan<- int) error {
	bulkTxs := 0
	tell := sync.OnceFunc(func() { caughtUp <- bulkTxs })
	for j := range s.resolved {
		started := time.Now()
		if j.rollback != nil {
			if err := s.rollback(ctx, *j.rollback); err != nil {
				return err
			}
			close(j.done)
			continue
		}
		bulk := s.db.inBulk(j.window, s.o.BulkWeight)
		if err := s.db.commit(ctx, j.window, s.o.BulkWeight); err != nil {
			return err
		}
		if bulk {
			bulkTxs += len(j.window.txs)
		} else if s.db.Tip().Height >= s.target {
			tell()
		}
		s.meter.busy(stageWrite, started)
		s.meter.wrote(j.blocks)
		s.endFork()
	}
	tell()
	return nil
}

// settle has the store bring its rows into their final shape once the sync has caught up: at its end, or where it follows
// the source beside the blocks that come. It is for databases most of which this sync has written in bulk; others
// settle by themselves, as they grow.
func (s *syncer) settle(ctx context.Context, caughtUp <-chan int) error {
	var bulkTxs int
	select {
	case bulkTxs = <-caughtUp:
	case <-ctx.Done():
		return nil
	}
	c, can := s.db.store.(storage.Compactor)
	s.db.mu.Lock()
	all := s.db.totals.rows[familyTxHash]
	s.db.mu.Unlock()
	if !can || bulkTxs == 0 || 2*uint64(bulkTxs) < all {
		return nil
	}
	started := time.Now()
	s.o.Log.Info("settling: all blocks are written, their rows are being merged; to interrupt it harms nothing")
	err := c.Compact(ctx)
	if err == nil {
		s.o.Log.Info("settled", "took", time.Since(started))
	}
	return err
}

func (s *syncer) rollback(ctx context.Context, to model.Point) error {
	if s.fork == nil || s.fork.depth == 0 {
		s.fork = &fork{began: time.Now(), from: s.db.Tip()}
	}
	if err := s.db.rollback(ctx, to, s.fork); err != nil {
		return fmt.Errorf("follow the source back to block %d: %w", to.Height, err)
	}
	s.meter.rolledBack(to.Height)
	return nil
}

// endFork tells of the fork under way, if there is one: from the rollback on until the first window of the other branch
// is written, or the sync has ended without one.
func (s *syncer) endFork() {
	f, tip, hash := s.fork, s.db.Tip(), s.db.chain.FormatHash
	s.fork = nil
	if f == nil || f.depth == 0 {
		return
	}
	s.o.Log.Info("fork", "depth", f.depth, "old_tip", f.from.Height, "old_tip_hash", hash(f.from.Hash),
		"ancestor", f.to.Height, "ancestor_hash", hash(f.to.Hash), "new_tip", tip.Height, "new_tip_hash", hash(tip.Hash),
		"took", time.Since(f.began))
}
