package core

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"birthmark/core/cache"
	"birthmark/core/ingest"
	"birthmark/core/ledger"
	"birthmark/core/query"
	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Options control how a database is opened.
type Options struct {
	Chain model.Chain

	// Indexes are the names of the required indexes. nil means the indexes of an existing database, or the chain's
	// defaults for a new one. An existing database maintains all of its indexes, whether they are named or not; Open
	// fails with index_mismatch if it lacks a named one.
	Indexes []string

	// Keep are the optional features of indexes, by name. Open fails with index_mismatch if an existing database lacks
	// one of them.
	Keep map[string]model.IndexOptions
	// Raw stores raw transactions ([model.Tx.Raw]); blocks must contain them. Open fails with no_raw if an existing
	// database does not store them.
	Raw bool
	// RawFiles stores the places of raw transactions in the files of a node ([model.Block.Place]), which the chain must
	// be able to read. Open fails with no_raw if an existing database does not store them.
	RawFiles bool

	CacheBytes int64 // bytes of memory for the caches of inputs and values; 0: none
	IDBytes    int64 // bytes of memory for hashes of transactions that queries have read; 0: a few MiB
	// Room is [model.SourceOptions.Room]. It limits the derived assets of a block.
	Room     func(bytes int64) error
	NoLabels bool // queries cache no hashes, texts and births, for measurements
	ReadOnly bool

	// Damaged opens a database whose store lost rows, for [DB.Check] and [DB.Dump]. Otherwise Open returns damaged.
	Damaged bool
}

// DB is the database of one chain in one store. Queries may run concurrently with each other and with one writer;
// Append, Rollback and [Sync] exclude each other.
type DB struct {
	query.Queries
	store         storage.Store
	opened        model.Chain                   // until there is a layout
	currentLayout atomic.Pointer[schema.Layout] // see layout
	locks

	indexChange *schema.IndexChange // an index that is being added or dropped; nil if there is none

	states schema.StateReader
	labels pointers.Labels
	raws   atomic.Pointer[pointers.RawAccess] // see SetRawAccess

	write        sync.Mutex // held by Append, Rollback, Sync
	stateUnknown bool       // a write failed since tip and totals were read: see ensureStateKnown
	revised      bool       // the values are of the chain's revision: see ensureRevision
	cache        *cache.Caches
	room         ingest.Room
	active       ledger.Active // used by commit

	mu      sync.Mutex
	tip     model.Point     // committed
	totals  schema.Totals   // committed
	head    model.Point     // prepared: the tip of the newest pending batch
	pending []*ingest.Batch // prepared and not committed, oldest first
	moved   chan struct{}   // closed when tip changes

	inTransit bool                    // the last transit has not ended
	transit   atomic.Pointer[transit] // the last one

	rollbackRows int // see defaultRollbackRows
}

// Open opens the database in s, and creates it if s is empty. It returns an error of kind [model.Refused] if the
// database is of another chain, network or format (wrong_chain, wrong_network, wrong_format), lacks a requested index
// (index_mismatch) or raw transactions (no_raw), or lost rows (damaged).
func Open(ctx context.Context, s storage.Store, o Options) (*DB, error) {
	db := &DB{store: s, opened: o.Chain, locks: locks{noWaiters: make(chan struct{})}, moved: make(chan struct{}), rollbackRows: defaultRollbackRows, room: ingest.Room{Block: o.Room}}
	db.Queries = query.New(snapshots{db}, &db.labels)
	db.SetRawAccess(pointers.RawAccess{})
	if o.IDBytes > 0 {
		db.labels.LimitIDs(o.IDBytes)
	}
	if o.NoLabels {
		db.labels.Disable()
	}
	if err := db.openMeta(ctx, o); err != nil {
		return nil, err
	}
	if !o.Damaged {
		if err := db.spotCheck(ctx); err != nil {
			return nil, err
		}
	}
	layout := db.layout()
	db.cache = cache.New(o.CacheBytes, layout.Indexes)
	if f, ok := s.(storage.CacheFolder); ok && !o.ReadOnly {
		db.cache.SetFolder(f.CacheFolder())
	}
	if by := layout.Traits.SpendIndex; by != "" && (layout.SpendIndex == nil || layout.SpendIndex.Kind != model.OneToOne) {
		return nil, fmt.Errorf("inputs of %s refer to values of %s, expected a one-to-one index of the database", o.Chain.Name(), by)
	}
	if !o.ReadOnly {
		if err := db.resumeDrop(ctx); err != nil {
			return nil, err
		}
	}
	if db.tip.IsOrigin() {
		db.cache.StartEmpty()
	}
	return db, nil
}

// Chain returns the chain that the database was opened with, with the rules that were added since then.
func (db *DB) Chain() model.Chain {
	if l := db.layout(); l != nil {
		return l.Chain
	}
	return db.opened
}

// Tip returns the last committed block; the origin before the first.
func (db *DB) Tip() model.Point {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.tip
}

// Moved returns the tip and a channel that is closed when the tip or the indexes change. While the channel is open, the
// answers of queries do not change.
func (db *DB) Moved() (tip model.Point, moved <-chan struct{}) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.inTransit {
		return db.transit.Load().from, db.moved
	}
	return db.tip, db.moved
}

// setTip sets the committed tip. mu is held.
func (db *DB) setTip(tip model.Point) {
	if tip == db.tip {
		return
	}
	db.tip = tip
	if !db.inTransit {
		db.notifyMoved()
	}
}

// notifyMoved notifies the receivers of Moved's channel. mu is held.
func (db *DB) notifyMoved() {
	close(db.moved)
	db.moved = make(chan struct{})
}

// layout returns the current layout. A change replaces it as a whole while no query and no write is running, so a
// query or a write loads it once.
func (db *DB) layout() *schema.Layout { return db.currentLayout.Load() }

// Indexes returns the names of the active indexes, in the order that [model.Key.Index] refers to. It may be called at
// any time.
func (db *DB) Indexes() []string { return db.layout().Names() }

// snapshots implements [query.Database].
type snapshots struct{ db *DB }

// Snapshot reads the state of the database in one snapshot of its store.
func (s snapshots) Snapshot(ctx context.Context, fn func(query.Snapshot) error) error {
	raws := s.db.raws.Load()
	for {
		last, err := s.db.arrived(ctx)
		if err != nil {
			return err
		}
		err = s.db.view(ctx, func(r storage.Reader, l *schema.Layout) error {
			if s.db.transit.Load() != last {
				return errInTransit
			}
			state, err := s.db.states.Read(r, l)
			if err != nil {
				return err
			}
			sizer, _ := s.db.store.(storage.Sizer)
			return fn(query.Snapshot{Layout: l, State: state, Reader: r, Sizer: sizer, Raws: raws})
		})
		if err != errInTransit {
			return err
		}
	}
}

// errInTransit is returned for a snapshot that may have been taken during a transit.
var errInTransit = errors.New("a reorganization is being written")

// view calls fn with a snapshot of the store and its layout, which does not change until fn returns.
func (db *DB) view(ctx context.Context, fn func(storage.Reader, *schema.Layout) error) error {
	db.layoutMu.RLock()
	defer db.layoutMu.RUnlock()
	return db.store.View(ctx, func(r storage.Reader) error { return fn(r, db.layout()) })
}

// contents returns the source of the caches' content. write is held.
func (db *DB) contents() cache.Contents {
	return cache.Contents{Store: db.store, Layout: db.layout(), Tip: db.tip, Totals: db.totals}
}

// keepSnapshot writes a snapshot of the caches. It writes none while they may contain entries of removed blocks.
func (db *DB) keepSnapshot() error {
	if db.stateUnknown || db.reopenRequired {
		return nil
	}
	return db.cache.WriteSnapshot(db.store, db.layout(), db.Tip())
}

// Header returns [model.Block.Header] of the block at height h, nil if there is none.
func (db *DB) Header(ctx context.Context, h model.HeightPk) (raw []byte, err error) {
	err = db.store.View(ctx, func(r storage.Reader) error {
		row, err := schema.Header(r, h)
		raw = bytes.Clone(row)
		return err
	})
	return raw, err
}
