package daemon

import (
	"context"
	"errors"
	"os"
	"sync/atomic"

	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/segment"
	"birthmark/internal/config"
	"birthmark/internal/progress"
	"birthmark/model"
	"birthmark/storage/memory"
	"birthmark/storage/rocks"
)

// BlockSync appends the blocks of a source to a database. It can be interrupted and resumed, with another source if the
// indexes changed.
type BlockSync struct {
	*Host
	DB *Database // nil before Open

	Served bool // the database is also served, which compares it with the settings

	set         *config.Chain
	src         model.Source // nil: not open
	has         []string     // the indexes that the source was opened with
	to          *model.HeightPk
	follow      bool
	patient     bool                               // an unreachable source is retried instead of reported
	handle      atomic.Pointer[handle]             // nil: the database is not served
	last        atomic.Pointer[core.Progress]      // of the current run
	preparation atomic.Pointer[served.Preparation] // nil: the source has a tip
	total       core.Progress                      // counts and time of all runs
}

// NewBlockSync returns a sync of the chain of set up to a height, nil for the tip; with follow it stays at the tip.
func (h *Host) NewBlockSync(set *config.Chain, to *model.HeightPk, follow bool) *BlockSync {
	b := &BlockSync{Host: h, set: set, to: to, follow: follow}
	b.last.Store(new(core.Progress))
	return b
}

// Run appends blocks until there are no more, ctx ends, or the indexes change.
func (b *BlockSync) Run(ctx context.Context) (err error) {
	if b.src == nil {
		if b.src, err = b.source(ctx); err != nil {
			return err
		}
	}
	b.last.Store(&core.Progress{Height: b.DB.Tip().Height, Target: b.last.Load().Target})
	err = core.Sync(ctx, b.DB.DB, b.src, core.SyncOptions{
		Indexes:    b.has,
		To:         b.to,
		BatchBytes: config.Divide(b.set.Memory).WindowBytes(),
		Progress:   b.advance,
		Log:        b.Log,
	})
	now := b.last.Load()
	b.total.Blocks += now.Blocks
	b.total.Txs += now.Txs
	b.total.Entities += now.Entities
	b.total.Elapsed += now.Elapsed
	return errors.Join(err, b.Close())
}

// Total returns the counts and the time of all runs.
func (b *BlockSync) Total() core.Progress { return b.total }

// Progress returns the progress of the current run.
func (b *BlockSync) Progress() *core.Progress { return b.last.Load() }

// Reading returns the progress of the current run for a bar.
func (b *BlockSync) Reading() progress.Reading {
	if p := b.preparation.Load(); p != nil {
		return progress.Reading{Done: p.Done, Total: p.Total, Phase: p.What}
	}
	return SyncReading(b.last.Load())
}

// preparing records what the source does before it has a tip.
func (b *BlockSync) preparing(what string, done, total uint64) {
	p := &served.Preparation{What: what, Done: done, Total: total}
	b.preparation.Store(p)
	if s := b.handle.Load(); s != nil {
		s.prepare(p)
	}
}

func (b *BlockSync) advance(now core.Progress) {
	b.preparation.Store(nil)
	b.last.Store(&now)
	if s := b.handle.Load(); s != nil {
		s.advance(now)
	}
}

// outage receives the errors that the source retries; nil when it is back.
func (b *BlockSync) outage(err error) {
	if s := b.handle.Load(); s != nil {
		s.fail(err)
	}
}

// source opens the source for the indexes that the database has now.
func (b *BlockSync) source(ctx context.Context) (model.Source, error) {
	known, err := b.DB.Locator(ctx)
	if err != nil {
		return nil, err
	}
	b.has = b.DB.Indexes()
	return b.OpenSource(ctx, b.set, b.DB.Chain(), model.SourceOptions{
		Indexes: b.has, Raw: b.DB.KeepsRaw(), Places: b.DB.HasRawFiles(), Known: known, Header: b.DB.Header, To: b.to, Follow: b.follow, Outage: b.outage,
		Preparing: b.preparing,
	})
}

// Close closes the source if it is open.
func (b *BlockSync) Close() error {
	if b.src == nil {
		return nil
	}
	err := b.src.Close()
	b.src = nil
	return err
}

// Open opens the database and the source. It creates a database only after the source answered, so that a wrong source
// leaves nothing on disk; a patient sync only needs a source that can be opened.
func (b *BlockSync) Open(ctx context.Context) (err error) {
	defer func() {
		if err == nil {
			b.last.Store(&core.Progress{Height: b.DB.Tip().Height})
		}
	}()
	dir, err := Folder(b.set)
	if err != nil {
		return err
	}
	if b.set.Source == "" {
		return usageError("missing_flag", "missing --source URI, the source of the blocks (or source in the settings, or BIRTHMARK_SOURCE)")
	}
	found, err := HoldsDatabase(dir)
	if err != nil {
		return err
	}
	if found {
		if found, err = b.openExisting(ctx, dir); err != nil {
			return err
		}
	}
	if found {
		if err := b.compareSettings(ctx, b.DB.Chain()); err != nil {
			return errors.Join(err, b.DB.Close())
		}
		if b.src, err = b.source(ctx); err != nil && !b.retries(err) {
			return errors.Join(err, b.DB.Close())
		}
		return nil
	}

	chain, err := b.Chain(b.set)
	if err != nil {
		return err
	}
	names, err := IndexesOf(b.set, chain)
	if err != nil {
		return err
	}
	if err := b.compareSettings(ctx, chain); err != nil {
		return err
	}
	blank, err := core.Open(ctx, memory.New(), core.Options{Chain: chain, Indexes: names, Keep: b.set.IndexOptions(),
		Raw: b.set.Raw == config.RawKeep, RawFiles: b.set.Raw == config.RawFiles})
	if err != nil {
		return err
	}
	b.has = blank.Indexes()
	b.src, err = b.OpenSource(ctx, b.set, chain, model.SourceOptions{
		Indexes: b.has, Raw: blank.KeepsRaw(), Places: blank.HasRawFiles(), To: b.to, Follow: b.follow, Outage: b.outage,
		Preparing: b.preparing,
	})
	if err != nil && !b.retries(err) {
		return err
	}
	if b.DB, err = b.create(ctx, dir); err != nil {
		return errors.Join(err, b.Close())
	}
	b.has = b.DB.Indexes()
	return nil
}

// openExisting opens the database in dir. If the database has no block, since an earlier sync failed before its first
// one, and it does not suit the settings, openExisting removes its identity, and ok is false: it must be created.
func (b *BlockSync) openExisting(ctx context.Context, dir string) (ok bool, err error) {
	b.DB, err = b.write(ctx, b.set, dir)
	if _, code := model.KindOf(err); err != nil {
		if code != "wrong_chain" && code != "wrong_network" && code != "index_mismatch" && code != "wrong_assets" {
			return false, err
		}
	} else {
		if !b.DB.Tip().IsOrigin() {
			return true, nil
		}
		l, err := b.lacks(ctx, b.set, b.DB.Chain(), b.DB, false)
		if err == nil && len(l.Missing)+len(l.Optional) == 0 {
			return true, nil
		}
		db := b.DB
		b.DB = nil
		if err = errors.Join(err, db.Close()); err != nil {
			return false, err
		}
	}
	blank, failed := b.forget(ctx, b.set, dir)
	switch {
	case failed != nil || !blank && err != nil:
		return false, errors.Join(err, failed)
	case !blank: // a replica
		b.DB, err = b.write(ctx, b.set, dir)
		return true, err
	}
	b.Log.Info("the database has no block, and is created again with the settings", "db", dir)
	return false, nil
}

// forget removes the identity of a database without blocks, so that it can be created again. done is false if it has
// blocks.
func (h *Host) forget(ctx context.Context, set *config.Chain, dir string) (done bool, err error) {
	store, err := h.openUnlocked(ctx, dir, rocks.Options{WAL: true, Compression: set.Compression, Holder: h.holder()})
	if err != nil {
		return false, cannotOpen(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	// As an upgrade, this is nothing that replicas can apply.
	numbered, err := segment.Attach(ctx, store, segment.Options{Dir: dir, Mode: segment.Ignore, Log: h.Log})
	if err != nil {
		return false, err
	}
	return core.Forget(ctx, numbered)
}

// compareSettings compares the settings with the database, or with the one that they create. A server compares an existing
// one itself. It returns an error if the database lacks an index, an option or raw transactions of the settings, or if a
// new database that is served at once lacks something that its APIs need. Other syncs log the needs of the settings of a
// server that the database lacks.
func (b *BlockSync) compareSettings(ctx context.Context, chain model.Chain) error {
	if b.DB != nil && b.Served || b.DB == nil && b.patient { // compared by the server
		return nil
	}
	if b.DB != nil {
		l, err := b.lacks(ctx, b.set, chain, b.DB, false)
		if err != nil {
			return err
		}
		if err := missing(l); err != nil {
			return err
		}
	}
	l, err := b.lacks(ctx, b.set, chain, b.DB, true)
	if err != nil {
		return err
	}
	if !b.Served && len(l.Missing) > 0 {
		b.Log.Warn("birthmark serve will refuse these settings: " + LacksError{l}.Error())
		l.Missing = nil
	}
	return b.checkLacks([]*Lacks{l})
}

func (b *BlockSync) create(ctx context.Context, dir string) (*Database, error) {
	if !b.patient {
		if _, err := b.src.Tip(ctx); err != nil {
			return nil, err
		}
	}
	if open, err := remoteOpener(dir); err != nil {
		return nil, err
	} else if open == nil {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, cannotOpen(err)
		}
	}
	return b.write(ctx, b.set, dir)
}

// retries reports whether a source that failed with err is opened again later.
func (b *BlockSync) retries(err error) bool {
	kind, _ := core.Classify(err)
	return b.patient && kind == model.BadSource
}

// OpenSource opens the source that is set for a chain.
func (h *Host) OpenSource(ctx context.Context, set *config.Chain, chain model.Chain, o model.SourceOptions) (model.Source, error) {
	if _, err := set.ReadPassword(); err != nil {
		return nil, err
	}
	o.URI, o.Password, o.Wait, o.Proxy = set.Source, set.ReadPassword, set.Patience(), set.Proxy
	if o.Memory == 0 {
		o.Memory = config.Divide(set.Memory).Source
	}
	o.Room = set.Memory.Room(chain.Traits().Pointers == model.WidePointers)
	src, err := chain.Open(ctx, o)
	if err != nil {
		return nil, err // a nil pointer in src would not be a nil interface
	}
	return src, nil
}

// SyncReading returns the progress of a sync as a bar or a log line shows it.
func SyncReading(now *core.Progress) progress.Reading {
	r := progress.Reading{
		Fraction: now.Fraction(), Done: uint64(now.Height), Total: uint64(max(now.Target, now.Height)), Left: now.Left, Bottleneck: now.Bottleneck,
		Rates:    []progress.Rate{{Name: "blocks", PerSecond: now.BlocksPerSecond}, {Name: "txs", PerSecond: now.TxsPerSecond}, {Name: "entities", PerSecond: now.EntitiesPerSecond}},
		Overflow: progress.Overflow{Bytes: now.Overflow.Bytes, ReadsPerTx: now.OverflowReads},
	}
	switch {
	case now.Compacting:
		r.Phase = "compacting the database (safe to interrupt)"
	case r.Total == 0:
		r.Phase = "waiting for the source"
	case r.Done == r.Total:
		r.Phase = "at the tip"
	}
	return r
}
