package core

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// An index can be added to and dropped from a running database. A new index has its own tip and is backfilled
// concurrently with sync (build.go); when both tips meet, it becomes active. Dropping an index deletes its families at
// once, and removes it from the rows of outputs step by step. One change runs at a time, and one row of meta holds its
// state, so that it resumes after any interruption.

// ErrIndexesChange is the error that ends Sync if the indexes of the database have changed: open the source again, with
// [DB.Indexes], and call Sync again.
var ErrIndexesChange = errors.New("the indexes of the database have changed")

// alone runs fn while nothing else writes to the database. It ends a running sync with ErrIndexesChange.
func (db *DB) alone(ctx context.Context, fn func() error) error {
	db.mu.Lock()
	db.waiting++
	if db.interrupt != nil {
		db.interrupt()
	}
	db.mu.Unlock()
	db.write.Lock()
	defer func() {
		db.write.Unlock()
		db.mu.Lock()
		defer db.mu.Unlock()
		if db.waiting--; db.waiting == 0 {
			close(db.quiet)
			db.quiet = make(chan struct{})
		}
	}()
	if err := db.settle(ctx); err != nil {
		return err
	}
	return fn()
}

// giveWay returns when no call of alone is waiting.
func (db *DB) giveWay(ctx context.Context) error {
	for {
		db.mu.Lock()
		waiting, quiet := db.waiting, db.quiet
		db.mu.Unlock()
		if waiting == 0 {
			return nil
		}
		select {
		case <-quiet:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// change stores the layout c and the index change w, with the rows that put adds, and makes c the current layout. No
// query runs meanwhile, since it would read rows of one layout with the other. building is held. If the write fails, it
// is unknown which layout the store has: further writes fail with open_again until the database is opened again.
func (db *DB) change(ctx context.Context, c *schema.Layout, w *schema.IndexChange, put func(b storage.Batch)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	const patience, pause = 5 * time.Second, time.Millisecond
	for began := time.Now(); !db.asking.TryLock(); time.Sleep(pause) {
		if time.Since(began) > patience { // new queries wait from now on
			db.asking.Lock()
			break
		}
	}
	defer db.asking.Unlock()
	err := db.store.Update(context.WithoutCancel(ctx), func(_ storage.Reader, b storage.Batch) error {
		b.Put(schema.FamilyMeta, schema.MetaIndexes, c.AppendTo(nil))
		if w == nil {
			b.Delete(schema.FamilyMeta, schema.MetaChange)
		} else {
			b.Put(schema.FamilyMeta, schema.MetaChange, w.AppendTo(nil))
		}
		if put != nil {
			put(b)
		}
		return nil
	})
	if err != nil {
		db.stale = true
		return err
	}
	db.indexed.Store(c)
	db.work = w
	db.mu.Lock()
	defer db.mu.Unlock()
	db.tellMoved()
	return nil
}

// AddIndex adds an index, or features of an existing one; [DB.Build] then backfills them. Errors of kind [model.Usage]:
// exists, unknown_index, bad_option, bad_value, busy.
func (db *DB) AddIndex(ctx context.Context, name string, keep model.IndexOptions) error {
	return db.alone(ctx, func() error {
		db.building.Lock()
		defer db.building.Unlock()
		old := db.catalogue()
		c, x := old.Copy(old.Entry(name))
		if err := db.idle(); err != nil {
			if x != nil && x.Building != 0 && schema.FeaturesOf(keep)&^(x.Active|x.Building) == 0 {
				return nil // this change is already in progress
			}
			return err
		}
		if x == nil {
			i := slices.IndexFunc(db.chain.Indexes(), func(x model.Index) bool { return x.Name == name })
			if i < 0 {
				return schema.UnknownIndex(db.chain, name)
			}
			if err := c.Add(db.chain.Indexes()[i], 0, schema.FeatureValues|schema.FeaturesOf(keep)); err != nil {
				return err
			}
			x = c.Entry(name)
		} else {
			lacks := schema.FeaturesOf(keep) &^ x.Active
			if lacks == 0 {
				return model.Errorf(model.Usage, "exists", "the database has index %s, with all that is asked for (%v)", name, x.Active)
			}
			if err := x.CheckFeatures(lacks); err != nil {
				return err
			}
			x.Building = lacks
		}
		w := &schema.IndexChange{Index: x, Rows: map[storage.Family]uint64{}}
		for _, d := range x.DeclarationsOf(x.Building) {
			w.Rows[d.Family] = 0
		}
		if err := db.store.Declare(x.DeclarationsOf(x.Building)...); err != nil {
			return err
		}
		if db.tip.IsOrigin() { // nothing to backfill
			return db.arrived(ctx, c, w)
		}
		return db.change(ctx, c, w, nil)
	})
}

// recallWork reads the index change in progress from the store: a failed write may have been applied.
func (db *DB) recallWork(ctx context.Context) error {
	return db.store.View(context.WithoutCancel(ctx), func(r storage.Reader) (err error) {
		db.work, err = db.catalogue().ReadChange(r)
		return err
	})
}

// idle returns busy if an index is being added or dropped.
func (db *DB) idle() error {
	if w := db.work; w != nil {
		doing := "added"
		if w.Index.Dropped() {
			doing = "dropped"
		}
		return model.Errorf(model.Usage, "busy", "index %s is being %s: one at a time, let that end first", w.Index.Name, doing)
	}
	return nil
}

// DropIndex drops an index: its families at once, its occurrences in the rows of outputs later, by [DB.Build]. Errors
// of kind [model.Usage]: unknown_index, always_on, needed, busy.
func (db *DB) DropIndex(ctx context.Context, name string) error {
	return db.alone(ctx, func() error {
		db.building.Lock()
		defer db.building.Unlock()
		cat := db.catalogue()
		old := cat.Entry(name)
		switch {
		case old == nil:
			return model.Errorf(model.Usage, "unknown_index", "the database has no index %s; it has %v", name, db.Indexes())
		case old.Always || old == cat.SpendIndex:
			return model.Errorf(model.Usage, "always_on", "index %s cannot be dropped: inputs of %s are found by it", name, db.chain.Name())
		case old == cat.Holders() && db.totals.Rows[schema.FamilyAssetID] > 0:
			return model.Errorf(model.Usage, "needed", "index %s cannot be dropped: the holders of assets are its values", name)
		}
		if db.work == nil || db.work.Index != old { // an index that is being added can be dropped
			if err := db.idle(); err != nil {
				return err
			}
		}
		families := old.DeclarationsOf(old.Active | old.Building)
		c, x := cat.Copy(old)
		x.Active, x.Building = 0, 0
		c.Arrange()
		t := db.totals.Clone()
		for _, d := range families {
			delete(t.Rows, d.Family)
		}
		w := &schema.IndexChange{Index: x}
		err := db.change(ctx, c, w, func(b storage.Batch) { b.Put(schema.FamilyMeta, schema.MetaTotals, t.AppendTo(nil)) })
		if err != nil {
			return err
		}
		db.mu.Lock()
		db.totals = t
		db.mu.Unlock()
		return db.dropFamilies(ctx, x)
	})
}

// goOnDropping resumes an interrupted drop of families. It creates the index change of an index that an earlier version
// left half dropped.
func (db *DB) goOnDropping(ctx context.Context) error {
	db.building.Lock()
	defer db.building.Unlock()
	c, w := db.catalogue(), db.work
	if w == nil {
		if w = c.HalfDropped(); w == nil {
			return nil
		}
		if err := db.change(ctx, c, w, nil); err != nil {
			return err
		}
	}
	for _, x := range c.All {
		if x.Dropped() {
			if err := db.dropFamilies(ctx, x); err != nil {
				return err
			}
		}
	}
	return nil
}

// dropFamilies deletes the families of a dropped index that still exist.
func (db *DB) dropFamilies(ctx context.Context, x *schema.Index) error {
	return db.store.Drop(ctx, x.DeclarationsOf(schema.AllFeatures)...)
}

// locks coordinate index changes with queries and writes: see alone, change and Build.
type locks struct {
	waiting   int           // number of waiting calls of alone
	quiet     chan struct{} // closed when none is waiting
	interrupt func()        // ends the running sync; nil if there is none

	stale    bool         // the stored layout may differ from the current one: see change
	asking   sync.RWMutex // held shared by queries, exclusively by a change of the layout
	building sync.Mutex   // guards work: held by backfill steps, rollbacks, AddIndex and DropIndex
	builder  sync.Mutex   // held by Build: one runs at a time
}
