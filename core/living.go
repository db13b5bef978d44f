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

// Indexes are added to a database that lives, and dropped from it. What is being added has a tip of its own, below the
// database's: it is built behind the sync's back (build.go) until the two are the same, and counts from then on. Of what is
// dropped the families go at once, and its traces in the rows of outputs one after the other. One is under way at a time, and
// all that has to be known of it is in one row, so that it goes on after whatever interrupted it.

// ErrIndexesChange is what Sync ends with when the indexes of the database have changed: open the source anew, with
// [DB.Indexes], and call it again.
var ErrIndexesChange = errors.New("the indexes of the database have changed")

// alone runs fn while nothing else writes the database: a sync that runs is asked to end with ErrIndexesChange.
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

// giveWay returns once nobody wants the database alone any more.
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

// change writes another catalogue, with what else put puts, and makes it the database's, while no question is being answered: rows
// of the one would be read by the other.
// building is held. Where the write fails nobody knows which catalogue the store has: nothing is written any more until the
// database is opened again.
func (db *DB) change(ctx context.Context, c *schema.Layout, w *schema.IndexChange, put func(b storage.Batch)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	const patience, pause = 5 * time.Second, time.Millisecond
	for began := time.Now(); !db.asking.TryLock(); time.Sleep(pause) {
		if time.Since(began) > patience { // those that come from now on wait
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

// AddIndex has the database keep an index, or options of one that it has: [DB.Build] does it. An error of kind
// [model.Usage]: exists, unknown_index, bad_option, busy.
func (db *DB) AddIndex(ctx context.Context, name string, keep model.IndexOptions) error {
	return db.alone(ctx, func() error {
		db.building.Lock()
		defer db.building.Unlock()
		old := db.catalogue()
		c, x := old.Copy(old.Entry(name))
		if err := db.idle(); err != nil {
			if x != nil && x.Building != 0 && schema.FeaturesOf(keep)&^(x.Active|x.Building) == 0 {
				return nil // this is what is under way
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
		if db.tip.IsOrigin() { // there is nothing to build
			return db.arrived(ctx, c, w)
		}
		return db.change(ctx, c, w, nil)
	})
}

// recallWork takes what is under way from the store: a write that failed may have been applied all the same.
func (db *DB) recallWork(ctx context.Context) error {
	return db.store.View(context.WithoutCancel(ctx), func(r storage.Reader) (err error) {
		db.work, err = db.catalogue().ReadChange(r)
		return err
	})
}

// idle refuses where an index is being added or dropped.
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

// DropIndex takes an index off the database: its families at once, what [DB.Build] finds of it in the rows of outputs later.
// An error of kind [model.Usage]: unknown_index, always_on, needed, busy.
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
		if db.work == nil || db.work.Index != old { // what is being added can be dropped
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

// goOnDropping drops the families of what is being dropped, as far as that was interrupted. For an index that was
// left half dropped it makes the work.
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

// dropFamilies gives back the room of an index that is dropped, as far as that is not done.
func (db *DB) dropFamilies(ctx context.Context, x *schema.Index) error {
	return db.store.Drop(ctx, x.DeclarationsOf(schema.AllFeatures)...)
}

// locks of a living database: see alone, change and build.
type locks struct {
	waiting   int           // for the database alone
	quiet     chan struct{} // closed when nobody is any more
	interrupt func()        // ends the sync that runs; nil: none does

	stale    bool         // the catalogue may be another one in the store: see change
	asking   sync.RWMutex // held by questions, and while the catalogue changes
	building sync.Mutex   // over work: held by a step of a build, by a rollback, and by what adds and drops
	builder  sync.Mutex   // held by Build: one runs at a time
}
