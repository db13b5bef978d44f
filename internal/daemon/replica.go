package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"birthmark/api/segments"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/internal/config"
	"birthmark/internal/control"
	"birthmark/internal/progress"
	"birthmark/internal/replica"
	"birthmark/internal/snapshot"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// Replica is a database that applies the segments of a primary.
type Replica struct {
	*Host
	DB   *Database
	Feed replica.Feed

	set    *config.Chain
	from   string // for people
	marked bool
	began  time.Time
	handle *handle // nil: not served

	mu        sync.Mutex // also guards the core of DB, which only Run replaces
	at        schema.Position
	newest    uint64         // update of the primary
	target    model.HeightPk // its height
	equal     time.Time      // when the replica was last known to be equal to the primary
	heard     time.Time      // when the last frame arrived
	delay     time.Duration
	segments  uint64 // applied
	connected bool
}

// OpenReplica opens the database of a replica. A missing one is restored from a snapshot of the primary if the settings
// name a storage of snapshots, or else created from the first segment. It creates nothing on disk before the primary
// answered.
func (h *Host) OpenReplica(ctx context.Context, set *config.Chain, from string, feed replica.Feed) (r *Replica, err error) {
	dir, err := Folder(set)
	if err != nil {
		return nil, err
	}
	err = h.bootstrap(ctx, set, func(ctx context.Context, s *snapshot.Snapshot) error { return follows(ctx, s, feed) })
	if err != nil {
		return nil, err
	}
	found, err := HoldsDatabase(dir)
	if err != nil {
		return nil, err
	}
	r = &Replica{Host: h, Feed: feed, set: set, from: from, began: h.Now(), equal: h.Now()}
	var first *segment.Segment
	if !found {
		if first, err = r.firstSegment(ctx); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, cannotOpen(err)
		}
	}
	store, err := h.replicaStore(set, dir)
	if err != nil {
		return nil, err
	}
	if err := r.open(ctx, store, first); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return r, nil
}

// replicaStore opens the store of a replica.
func (h *Host) replicaStore(set *config.Chain, dir string) (storage.Store, error) {
	memory := config.Divide(set.Memory)
	store, err := rocks.Open(dir, rocks.Options{
		WAL: set.WAL, BlockCache: memory.BlockCache + memory.Caches, WriteBuffers: memory.WriteBuffers, Compression: set.Compression,
		Holder: h.holder(),
	})
	if err != nil {
		return nil, cannotOpen(err)
	}
	return store, nil
}

// open opens the database in a store; an empty one is created from the first segment.
func (r *Replica) open(ctx context.Context, store storage.Store, first *segment.Segment) error {
	at, known, empty, err := segment.Position(ctx, store)
	if err != nil {
		return err
	}
	if !empty && !known {
		return model.Errorf(model.Refused, "no_replica", "the database in %s is neither a replica nor a copy of a primary that "+
			"records segments: use a copy, or an empty folder", r.set.DB)
	}
	if empty {
		if first == nil { // an earlier start ended before it was written
			if first, err = r.firstSegment(ctx); err != nil {
				return err
			}
		}
		if err := r.create(ctx, store, first); err != nil {
			return err
		}
		at, r.segments = first.Position, 1
	}
	memory := config.Divide(r.set.Memory)
	r.DB, err = r.opened(ctx, r.set, store, memory.Go(), core.Options{IDBytes: memory.TxIDs})
	r.at = at
	return err
}

// errFirst ends a feed after its first segment.
var errFirst = errors.New("the first segment")

// firstSegment returns the first segment of the primary.
func (r *Replica) firstSegment(ctx context.Context) (first *segment.Segment, err error) {
	err = r.Feed.Follow(ctx, schema.Position{}, false, func(f segments.Frame) error {
		if f.Segment == nil {
			return nil
		}
		if first, err = segment.Decode(f.Segment); err != nil {
			return err
		}
		return errFirst
	})
	if err == nil {
		err = model.Errorf(model.BadSource, "unreachable", "%s has no segment yet", r.from)
	}
	if errors.Is(err, errFirst) {
		err = nil
	}
	return first, err
}

// create writes the first segment to an empty store.
func (r *Replica) create(ctx context.Context, store storage.Store, first *segment.Segment) error {
	id, err := schema.ParseIdentity(first.Meta(schema.MetaFormat), first.Meta(schema.MetaChain), first.Meta(schema.MetaNetwork),
		first.Meta(schema.MetaIndexes), first.Meta(schema.MetaAssets))
	if err != nil {
		return model.Errorf(model.BadSource, "bad_segment", "the first segment of %s: %w", r.from, err)
	}
	if id.Format != schema.FormatVersion {
		return model.Errorf(model.Refused, "wrong_format", "the primary has format %d, this program reads and writes format %d", id.Format, schema.FormatVersion)
	}
	set := *r.set
	chain, err := r.chainFor(&set, id, true)
	if err != nil {
		return err
	}
	if chain.Name() != id.Chain || chain.Network() != id.Network {
		return model.Errorf(model.Refused, "wrong_chain", "the primary has %s %s, not %s %s", id.Chain, id.Network, chain.Name(), chain.Network())
	}
	if err := core.Create(ctx, store, chain, first); err != nil {
		return err
	}
	return r.mark(ctx, store)
}

// mark records in the store that it is a replica.
func (r *Replica) mark(ctx context.Context, store storage.Store) error {
	if r.marked {
		return nil
	}
	err := segment.MarkReplica(ctx, store, r.from)
	r.marked = err == nil
	return err
}

// Pauses before a feed that failed is followed again.
const (
	feedRetryFirst = 250 * time.Millisecond
	feedRetryMost  = 10 * time.Second
)

// Run applies segments until ctx ends or, without follow, the replica has the newest one. A feed that fails is retried
// if follow is set. Errors of kind Refused are final: the replica has to be restored, or the settings changed.
func (r *Replica) Run(ctx context.Context, follow bool) error {
	for pause := feedRetryFirst; ; pause = min(2*pause, feedRetryMost) {
		before, err := r.position(ctx)
		if err != nil {
			return err
		}
		err = r.Feed.Follow(ctx, before, follow, func(f segments.Frame) error { return r.frame(ctx, f) })
		r.mu.Lock()
		r.connected = false
		r.mu.Unlock()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if !follow {
			return err
		}
		if err != nil {
			if kind, _ := core.Classify(err); kind == model.Refused {
				return err
			}
			r.Log.Warn("no segments from the primary, retrying", "from", r.from, "error", err, "in", pause)
			if r.handle != nil {
				r.handle.fail(err)
			}
		}
		if r.State().Seq != before.Seq {
			pause = feedRetryFirst
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// position reads the position of the database: a segment whose write failed may have been applied.
func (r *Replica) position(ctx context.Context) (schema.Position, error) {
	at, _, _, err := segment.Position(ctx, r.DB.Store)
	if err != nil {
		return at, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = at
	return at, nil
}

// frame applies a frame of the feed.
func (r *Replica) frame(ctx context.Context, f segments.Frame) error {
	if err := r.mark(ctx, r.DB.Store); err != nil {
		return err
	}
	var s *segment.Segment
	if f.Segment != nil {
		var err error
		if s, err = segment.Decode(f.Segment); err != nil {
			return err
		}
		r.mu.Lock()
		r.newest = max(r.newest, s.Seq)
		r.mu.Unlock()
		if err := r.apply(ctx, s); err != nil {
			return err
		}
	}
	now := r.Now()
	r.mu.Lock()
	if s != nil {
		r.at, r.segments = s.Position, r.segments+1
		r.delay = max(0, now.Sub(s.Made))
		r.target = max(r.target, s.To.Height)
	} else {
		r.newest, r.target = f.Seq, f.Height
	}
	if r.heard, r.connected = now, true; r.at.Seq >= r.newest {
		r.equal = now
	}
	at := core.Progress{
		Height: r.DB.Tip().Height, Target: max(r.target, r.DB.Tip().Height), Blocks: r.segments, Elapsed: now.Sub(r.began) + 1,
	}
	r.mu.Unlock()
	if r.handle != nil {
		r.handle.advance(at)
	}
	return nil
}

// apply applies a segment, with a chain that has its custom indexes.
func (r *Replica) apply(ctx context.Context, s *segment.Segment) error {
	ctx = context.WithoutCancel(ctx)
	err := r.DB.Apply(ctx, s)
	if _, code := model.KindOf(err); code != "open_again" && !errors.Is(err, core.ErrNewIndex) {
		return err
	}
	var defined []model.Definition
	if row := s.Meta(schema.MetaIndexes); row != nil {
		if defined, err = schema.ParseDefinitions(row); err != nil {
			return err
		}
	}
	if err := r.reopen(ctx, defined); err != nil {
		return err
	}
	if at, err := r.position(ctx); err != nil || at == s.Position {
		return err
	}
	return r.DB.Apply(ctx, s)
}

// reopen opens the core again on the same store, with a chain that also offers custom indexes.
func (r *Replica) reopen(ctx context.Context, defined []model.Definition) error {
	id, known, err := core.Identify(ctx, r.DB.Store)
	if err != nil {
		return err
	}
	set := *r.set
	set.Indexes, set.Stored = nil, defined
	chain, err := r.chainFor(&set, id, known)
	if err != nil {
		return err
	}
	db, err := core.Open(ctx, r.DB.Store, core.Options{Chain: chain, IDBytes: config.Divide(r.set.Memory).TxIDs})
	if err != nil {
		return err
	}
	db.SetRawAccess(pointers.RawAccess{Folder: r.set.RawFolder, Node: r.DB.raws, Ask: asksNode(r.set, db)})
	r.mu.Lock()
	r.DB.DB = db
	r.mu.Unlock()
	if r.handle != nil {
		r.handle.replace(db) // running requests finish on the old one
	}
	return nil
}

// current returns the database for goroutines other than Run, which replaces it.
func (r *Replica) current() *core.DB {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.DB.DB
}

// fresh is the age of a frame after which the state of the primary is unknown.
const fresh = 3 * time.Second

// State returns the state of the replica.
func (r *Replica) State() served.Replica {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := served.Replica{Primary: r.from, Seq: r.at.Seq, Newest: max(r.newest, r.at.Seq), Delay: r.delay}
	now := r.Now()
	if !r.connected || r.at.Seq < r.newest || now.Sub(r.heard) > fresh {
		s.Lag = now.Sub(r.equal)
	}
	return s
}

// Applied returns the number of segments that this process applied.
func (r *Replica) Applied() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.segments
}

// Reading returns the progress for a bar.
func (r *Replica) Reading() progress.Reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	height := r.DB.Tip().Height
	reading := progress.Reading{Done: uint64(height), Total: uint64(max(r.target, height))}
	switch {
	case !r.connected:
		reading.Phase = "waiting for the primary"
	case r.at.Seq >= r.newest:
		reading.Phase = "at the tip of the primary"
	}
	return reading
}

// Control answers requests of other processes for the database until it is closed.
func (r *Replica) Control() (*control.Server, error) {
	return control.Serve(r.DB.Dir, func(ctx context.Context, q control.Request) (reply control.Reply, err error) {
		switch q.Do {
		case control.State:
		case control.Checkpoint:
			return reply, checkpoint(ctx, r.DB.Store, r.DB.Dir)
		default:
			return reply, model.Errorf(model.Refused, "replica", "the database is a replica of %s: its indexes are those of the primary", r.from)
		}
		s := r.State()
		reply.Replica = &control.Replica{Primary: s.Primary, Seq: s.Seq, Newest: s.Newest, Lag: s.Lag.Seconds()}
		reply.States, err = r.current().IndexStatesWithRaw(ctx)
		return reply, err
	})
}

// ServeReplica serves a replica until Run returns.
func (s *Server) ServeReplica(ctx context.Context, r *Replica) (err error) {
	h := newHandle(s.h, r.DB.DB)
	h.replica = func() *served.Replica { state := r.State(); return &state }
	h.advance(core.Progress{Height: r.DB.Tip().Height}) // ready when the primary has answered
	r.handle = h
	defer func() { h.replace(nil)() }()
	if err := h.openNode(ctx, r.set, r.DB); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, h.closeNode()) }()
	chain := h.chain(r.DB.Chain())
	s.Protocols = map[string]*config.Chain{chain.Name: r.set}
	return s.during(ctx, []*served.Chain{chain}, func(ctx context.Context) error {
		defer h.followMempool(ctx)()
		defer s.h.createSnapshots(ctx, r.set, h)()
		defer s.h.exportTables(ctx, r.set, h)()
		if err := s.Announce(); err != nil {
			return err
		}
		return r.Run(ctx, true)
	})
}

// Close closes the database.
func (r *Replica) Close() error { return r.DB.Close() }

// PromoteReplica turns the database of a replica into an independent one.
func (h *Host) PromoteReplica(ctx context.Context, set *config.Chain) (at schema.Position, err error) {
	dir, err := ExistingFolder(set)
	if err != nil {
		return at, err
	}
	store, err := h.replicaStore(set, dir)
	if err != nil {
		return at, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return segment.Promote(ctx, store, segment.Options{Dir: dir, Log: h.Log})
}

// holder names this process in the lock of a database.
func (h *Host) holder() string {
	return fmt.Sprintf("pid %d, %s, since %s", os.Getpid(), h.Command, h.Now().UTC().Format(time.RFC3339))
}
