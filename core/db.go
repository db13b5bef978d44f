package core

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"birthmark/core/cache"
	"birthmark/core/ingest"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Options say how a database is opened.
type Options struct {
	Chain model.Chain

	// Indexes by name; nil: what the database was made with, or the chain's defaults where it is new. An old
	// database keeps all of its indexes up to date whether they are named or not; naming one it does not have is
	// refused (index_mismatch).
	Indexes []string

	// Keep is what is kept for indexes besides, by name. An old database keeps what it was made with; asking it for more is
	// refused (index_mismatch).
	Keep map[string]model.IndexOptions
	// Raw: transactions' own bytes are kept ([model.Tx.Raw]); blocks have to come with them. An old database keeps them
	// or not, as it was made; asking one for them that does not is refused (no_raw).
	Raw bool

	CacheBytes int64 // memory for resolving inputs and values without reading; 0: none
	ReadOnly   bool

	// Damaged opens the database also if its store lost rows, for [DB.Check] and [DB.Dump]. Open refuses it otherwise.
	Damaged bool
}

// DB is the index of one chain in one store. Queries may run at any time; one of Append, Rollback and [Sync] at a time.
type DB struct {
	query.Queries
	store   storage.Store
	chain   model.Chain
	indexed atomic.Pointer[schema.Layout] // see catalogue
	locks

	work *schema.IndexChange // an index that is being added or dropped; nil: none is

	states schema.StateReader
	labels query.Labels

	write sync.Mutex // held by Append, Rollback, Sync
	doubt bool       // something failed since tip and totals were read: see settle
	cache *cache.Caches

	mu      sync.Mutex
	tip     model.Point     // committed
	totals  schema.Totals   // committed
	head    model.Point     // prepared: tip of the newest pending window
	pending []*ingest.Batch // prepared and not committed, oldest first
	moved   chan struct{}   // closed when tip changes
}

// Open opens the database in s, making a new one where s is empty. It refuses (kind [model.Refused]) a database of
// another chain, network or format, one without an index that is asked for, and one that lost rows (damaged).
func Open(ctx context.Context, s storage.Store, o Options) (*DB, error) {
	db := &DB{store: s, chain: o.Chain, locks: locks{quiet: make(chan struct{})}, moved: make(chan struct{})}
	db.Queries = query.New(snapshots{db}, &db.labels)
	if err := db.openMeta(ctx, o); err != nil {
		return nil, err
	}
	if !o.Damaged {
		if err := db.spotCheck(ctx); err != nil {
			return nil, err
		}
	}
	cat := db.catalogue()
	db.cache = cache.New(o.CacheBytes, cat.Indexes)
	if by := cat.Traits.SpendIndex; by != "" && (cat.SpendIndex == nil || cat.SpendIndex.Kind != model.OneToOne) {
		return nil, fmt.Errorf("inputs of %s name values of %s, which is no one-to-one index of the database", o.Chain.Name(), by)
	}
	if !o.ReadOnly {
		if err := db.goOnDropping(ctx); err != nil {
			return nil, err
		}
	}
	if db.tip.IsOrigin() {
		db.cache.StartEmpty()
	}
	return db, nil
}

func (db *DB) declare() error { return db.store.Declare(db.catalogue().Declarations()...) }

// Chain is the chain the database was opened with.
func (db *DB) Chain() model.Chain { return db.chain }

// Tip is the last block written by this process or found when it opened; the origin before the first.
func (db *DB) Tip() model.Point {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.tip
}

// Moved is the tip and a channel that is closed when it is another one, or the indexes are others: while it is open, questions
// have the answers they had.
func (db *DB) Moved() (tip model.Point, moved <-chan struct{}) {
	db.mu.Lock()
	defer db.mu.Unlock()
	return db.tip, db.moved
}

// move makes tip the committed one. mu is held.
func (db *DB) move(tip model.Point) {
	if tip == db.tip {
		return
	}
	db.tip = tip
	db.tellMoved()
}

// tellMoved tells those who wait. mu is held.
func (db *DB) tellMoved() {
	close(db.moved)
	db.moved = make(chan struct{})
}

// catalogue is the indexes the database has now. A change replaces it as a whole, while no query runs and nothing is
// written: what does either loads it once.
func (db *DB) catalogue() *schema.Layout { return db.indexed.Load() }

// Indexes are the names of the database's indexes, in the order [model.Key.Index] counts in, without one that is being
// added. It may be called at any time.
func (db *DB) Indexes() []string { return db.catalogue().Names() }

// KeepsRaw reports whether the database keeps transactions' own bytes ([Options.Raw]). What writes to it or is compared
// with it has to come with them ([model.SourceOptions.Raw]).
func (db *DB) KeepsRaw() bool { return db.catalogue().Raw }

// snapshots implements [Database].
type snapshots struct{ db *DB }

// Snapshot reads the state of the database in one snapshot of its store. The layout does not change until fn returns.
func (s snapshots) Snapshot(ctx context.Context, fn func(query.Snapshot) error) error {
	db := s.db
	db.asking.RLock()
	defer db.asking.RUnlock()
	return db.store.View(ctx, func(r storage.Reader) error {
		state, err := db.states.Read(r, db.catalogue())
		if err != nil {
			return err
		}
		sizer, _ := db.store.(storage.Sizer)
		return fn(query.Snapshot{Layout: db.catalogue(), State: state, Reader: r, Sizer: sizer})
	})
}

// contents are what the caches are filled from. write is held.
func (db *DB) contents() cache.Contents {
	return cache.Contents{Store: db.store, Layout: db.catalogue(), Tip: db.tip, Totals: db.totals}
}

// keepSnapshot writes a snapshot of the caches, which have the entries of all blocks up to at. It writes none while they may have
// entries of other blocks.
func (db *DB) keepSnapshot(at model.Point) error {
	if db.doubt {
		return nil
	}
	return db.cache.WriteSnapshot(db.store, db.catalogue(), at)
}

// Header is [model.Block.Header] of the block at a height, nil if the database has none.
func (db *DB) Header(ctx context.Context, h model.HeightPk) (raw []byte, err error) {
	err = db.store.View(ctx, func(r storage.Reader) error {
		row, err := schema.Header(r, h)
		raw = bytes.Clone(row)
		return err
	})
	return raw, err
}
