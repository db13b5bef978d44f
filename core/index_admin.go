package core

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// An index can be added to and dropped from a running database. A new index has its own tip and is backfilled
// concurrently with sync (package backfill); when both tips meet, it becomes active. Dropping an index deletes its
// families at once, and removes it from the rows of outputs step by step. One change runs at a time, and one row of
// meta holds its state, so that it resumes after any interruption.

// ErrIndexesChange is the error that ends Sync if the indexes of the database have changed: open the source again, with
// [DB.Indexes], and call Sync again.
var ErrIndexesChange = errors.New("the indexes of the database have changed")

// withExclusive runs fn while nothing else writes to the database. It ends a running sync with ErrIndexesChange.
func (db *DB) withExclusive(ctx context.Context, fn func() error) error {
	db.mu.Lock()
	db.exclusiveWaiters++
	if db.interruptSync != nil {
		db.interruptSync()
	}
	db.mu.Unlock()
	db.write.Lock()
	defer func() {
		db.write.Unlock()
		db.mu.Lock()
		defer db.mu.Unlock()
		if db.exclusiveWaiters--; db.exclusiveWaiters == 0 {
			close(db.noWaiters)
			db.noWaiters = make(chan struct{})
		}
	}()
	if err := db.ensureStateKnown(ctx); err != nil {
		return err
	}
	return fn()
}

// waitForExclusive returns when no call of withExclusive is waiting.
func (db *DB) waitForExclusive(ctx context.Context) error {
	for {
		db.mu.Lock()
		waiting, done := db.exclusiveWaiters, db.noWaiters
		db.mu.Unlock()
		if waiting == 0 {
			return nil
		}
		select {
		case <-done:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// swapLayout stores the layout l, the index change w and, unless t is nil, the totals t, and makes them current. No
// query runs meanwhile, since it would read rows of one layout with the other. changeMu is held. If the write fails, it
// is unknown which layout the store has: further writes fail with open_again until the database is opened again.
func (db *DB) swapLayout(ctx context.Context, l *schema.Layout, w *schema.IndexChange, t *schema.Totals) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.lockLayout()
	defer db.layoutMu.Unlock()
	err := db.store.Update(context.WithoutCancel(ctx), func(_ storage.Reader, b storage.Batch) error {
		b.Put(schema.FamilyMeta, schema.MetaIndexes, l.AppendTo(nil))
		l.PutRaws(b)
		if w == nil {
			b.Delete(schema.FamilyMeta, schema.MetaChange)
		} else {
			b.Put(schema.FamilyMeta, schema.MetaChange, w.AppendTo(nil))
		}
		if t != nil {
			b.Put(schema.FamilyMeta, schema.MetaTotals, t.AppendTo(nil))
		}
		return nil
	})
	if err != nil {
		db.reopenRequired = true
		return err
	}
	db.currentLayout.Store(l)
	db.indexChange = w
	db.mu.Lock()
	defer db.mu.Unlock()
	if t != nil {
		db.totals = *t
	}
	db.notifyMoved()
	return nil
}

// lockLayout waits until no query runs, and then keeps queries waiting until layoutMu is unlocked.
func (db *DB) lockLayout() {
	const patience, pause = 5 * time.Second, time.Millisecond
	for began := time.Now(); !db.layoutMu.TryLock(); time.Sleep(pause) {
		if time.Since(began) > patience { // new queries wait from now on
			db.layoutMu.Lock()
			return
		}
	}
}

// AddIndex adds an index, or features of an existing one, or raw transactions or their places ([schema.RawName],
// [schema.RawFilesName]); [DB.Build] then backfills them. Errors of kind [model.Usage]:
// exists, unknown_index, bad_option, bad_value, busy.
func (db *DB) AddIndex(ctx context.Context, name string, keep model.IndexOptions) error {
	return db.withExclusive(ctx, func() error {
		db.changeMu.Lock()
		defer db.changeMu.Unlock()
		old := db.layout()
		l, x := old.Copy(old.Entry(name))
		err := db.requireIdle()
		if err != nil {
			if x != nil && x.Building != 0 && schema.FeaturesOf(keep)&^(x.Active|x.Building) == 0 {
				return nil // this change is already in progress
			}
			return err
		}
		if x == nil {
			if x, err = db.newIndex(l, name, keep); err != nil {
				return err
			}
		} else {
			lacks := schema.FeaturesOf(keep) &^ x.Active
			switch {
			case x.IsRules():
				return model.Errorf(model.Usage, "exists", "the database has the assets %s already", x.Name)
			case x.IsPlaces() && name != schema.RawName: // found again: files were replaced, or the source did not provide them
				lacks = schema.FeatureValues
			case x.IsRaw():
				return model.Errorf(model.Usage, "exists", "the database has raw transactions already: to replace them, run birthmark index drop raw first")
			case lacks == 0:
				return model.Errorf(model.Usage, "exists", "the database already has index %s with all requested features (%v)", name, x.Active)
			}
			if err := x.CheckFeatures(lacks); err != nil {
				return err
			}
			x.Building = lacks
		}
		w := &schema.IndexChange{Index: x, Rows: map[storage.Family]uint64{}}
		for _, d := range x.DeclarationsOf(x.Building) {
			if schema.Determined(d.Family) {
				w.Rows[d.Family] = 0
			}
		}
		if err := db.store.Declare(x.DeclarationsOf(x.Building)...); err != nil {
			return err
		}
		if db.tip.IsOrigin() { // nothing to backfill
			return db.activate(ctx, l, w)
		}
		return db.swapLayout(ctx, l, w, nil)
	})
}

// newIndex adds an index that is to be built to the layout l, and returns it.
func (db *DB) newIndex(l *schema.Layout, name string, keep model.IndexOptions) (*schema.Index, error) {
	if c, ok := db.Chain().(model.TokenChain); ok && slices.Contains(c.Tokens(), name) {
		return db.newRules(l, name, keep)
	}
	x := map[string]*schema.Index{schema.RawName: l.RawTxs, schema.RawFilesName: l.RawPlaces}[name]
	if x == nil {
		all := model.AllIndexes(db.Chain())
		i := slices.IndexFunc(all, func(x model.Index) bool { return x.Name == name })
		if i < 0 {
			return nil, schema.UnknownIndex(db.Chain(), name)
		}
		err := l.Add(all[i], 0, schema.FeatureValues|schema.FeaturesOf(keep))
		return l.Entry(name), err
	}
	if keep != (model.IndexOptions{}) {
		return nil, model.Errorf(model.Usage, "bad_option", "index %s has no options", schema.RawName)
	}
	x.Building = schema.FeatureValues
	return x, db.checkRawFiles(l)
}

// newRules adds rules that derive assets to the layout l, and returns the index that stands for them.
func (db *DB) newRules(l *schema.Layout, name string, keep model.IndexOptions) (*schema.Index, error) {
	refuse := func(format string, args ...any) (*schema.Index, error) {
		return nil, model.Errorf(model.Usage, "bad_option", "assets "+name+" "+format, args...)
	}
	switch {
	case !l.Rules.Dropped():
		return refuse("cannot be added: the database has the assets %s", l.Rules.Name)
	case keep != (model.IndexOptions{}):
		return refuse("have no options")
	case db.recording():
		return refuse("cannot be added while replicas follow the database: add them without replicas, and make the replicas again")
	}
	l.Rules.Name, l.Rules.Building = name, schema.FeatureValues
	with, err := l.WithRules()
	if err != nil {
		return nil, err
	}
	if x, holders := l.Holders(), with.Traits.Tokens.Holders; x == nil || x.Name != holders {
		return refuse("need the index %s: run birthmark index add %s first", holders, holders)
	}
	return l.Rules, nil
}

// reloadIndexChange reads the index change in progress from the store: a failed write may have been applied.
func (db *DB) reloadIndexChange(ctx context.Context) error {
	return db.store.View(context.WithoutCancel(ctx), func(r storage.Reader) (err error) {
		db.indexChange, err = db.layout().ReadChange(r)
		return err
	})
}

// requireIdle returns busy if an index is being added or dropped.
func (db *DB) requireIdle() error {
	if w := db.indexChange; w != nil {
		doing := "added"
		if w.Index.Dropped() {
			doing = "dropped"
		}
		return model.Errorf(model.Usage, "busy", "index %s is being %s: wait until that has finished", w.Index.Name, doing)
	}
	return nil
}

// DropIndex drops an index: its families at once, its occurrences in the rows of outputs later, by [DB.Build]. Errors
// of kind [model.Usage]: unknown_index, always_on, needed, busy.
func (db *DB) DropIndex(ctx context.Context, name string) error {
	return db.withExclusive(ctx, func() error {
		db.changeMu.Lock()
		defer db.changeMu.Unlock()
		layout := db.layout()
		old := layout.Entry(name)
		switch {
		case old == nil:
			return model.Errorf(model.Usage, "unknown_index", "the database has no index %s; it has %s", name, strings.Join(db.Indexes(), ", "))
		case old.IsRules() && old.Active != 0:
			return model.Errorf(model.Usage, "always_on", "the assets %s cannot be dropped", name)
		case old.Always || old == layout.SpendIndex:
			return model.Errorf(model.Usage, "always_on", "index %s cannot be dropped: inputs of %s refer to its values", name, db.Chain().Name())
		case old == layout.Holders() && db.totals.Rows[schema.FamilyAssetID] > 0:
			return model.Errorf(model.Usage, "needed", "index %s cannot be dropped: its values are the holders of assets", name)
		}
		if db.indexChange == nil || db.indexChange.Index != old { // an index that is being added can be dropped
			if err := db.requireIdle(); err != nil {
				return err
			}
		}
		families := old.DeclarationsOf(old.Active | old.Building)
		l, x := layout.Copy(old)
		x.Active, x.Building = 0, 0
		l.Arrange()
		t := db.totals.Clone()
		for _, d := range families {
			delete(t.Rows, d.Family)
		}
		if !l.Raw {
			t.RawChecksum = 0
		}
		w := &schema.IndexChange{Index: x}
		if err := db.swapLayout(ctx, l, w, &t); err != nil {
			return err
		}
		return db.dropFamilies(ctx, x)
	})
}

// resumeDrop resumes an interrupted drop of families. It creates the index change of an index that an earlier version
// left half dropped.
func (db *DB) resumeDrop(ctx context.Context) error {
	db.changeMu.Lock()
	defer db.changeMu.Unlock()
	l, w := db.layout(), db.indexChange
	if w == nil {
		if w = l.HalfDropped(); w == nil {
			return nil
		}
		if err := db.swapLayout(ctx, l, w, nil); err != nil {
			return err
		}
	}
	return db.dropAll(ctx, l)
}

// dropAll deletes the families of all dropped indexes of a layout.
func (db *DB) dropAll(ctx context.Context, l *schema.Layout) error {
	for _, x := range l.Dropped() {
		if err := db.dropFamilies(ctx, x); err != nil {
			return err
		}
	}
	return nil
}

// dropFamilies deletes the families of a dropped index that still exist.
func (db *DB) dropFamilies(ctx context.Context, x *schema.Index) error {
	return db.store.Drop(ctx, x.DeclarationsOf(schema.AllFeatures)...)
}

// locks coordinate index changes with queries and writes: see withExclusive, swapLayout and Build.
//
// A goroutine that takes several mutexes of a DB takes them in this order:
//
//	buildMu   for the whole of Build
//	write     for an Append, Rollback or whole Sync, for a segment, and in withExclusive; guards the caches
//	changeMu  for a step of a backfill, a rollback and a change of the indexes; guards indexChange
//	layoutMu  shared for a query, exclusive for a new layout; guards currentLayout with the rows of the store
//	mu        for a few instructions; guards tip, totals, head, pending, moved and the fields of withExclusive
//
// Two cases deviate and are safe. applyLayout takes changeMu after layoutMu: goroutines that take both hold write. A
// callback of a query holds layoutMu, so it must not append, roll back or change indexes.
type locks struct {
	exclusiveWaiters int           // number of waiting calls of withExclusive
	noWaiters        chan struct{} // closed when none is waiting
	interruptSync    func()        // ends the running sync; nil if there is none

	reopenRequired bool         // the stored layout may differ from the current one: see swapLayout; or a sync panicked
	layoutMu       sync.RWMutex // held shared by queries, exclusively by a change of the layout
	changeMu       sync.Mutex   // guards indexChange: held by backfill steps, rollbacks, AddIndex and DropIndex
	buildMu        sync.Mutex   // held by Build: one runs at a time
}
