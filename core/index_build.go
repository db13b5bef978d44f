package core

import (
	"context"
	"errors"
	"slices"

	"birthmark/core/backfill"
	"birthmark/core/schema"
	"birthmark/storage"
)

// Build adds or drops the pending index, as [backfill.Build]. It may run concurrently with a Sync of the same database,
// which it ends when the index is complete ([ErrIndexesChange]).
func (db *DB) Build(ctx context.Context, open backfill.SourceOpener, o backfill.Options) error {
	db.buildMu.Lock()
	defer db.buildMu.Unlock()
	o.Room = db.room.Block
	return backfill.Build(ctx, changing{db}, open, o)
}

// changing implements [backfill.Database].
type changing struct{ *DB }

func (db changing) View(ctx context.Context, fn func(storage.Reader) error) error {
	return db.store.View(ctx, fn)
}

func (db changing) Layout() *schema.Layout { return db.layout() }

func (db changing) IndexChange() *schema.IndexChange {
	db.changeMu.Lock()
	defer db.changeMu.Unlock()
	return db.indexChange
}

func (db changing) Step(ctx context.Context, x *schema.Index, prepare func(*schema.IndexChange) (backfill.Emitter, error)) error {
	db.changeMu.Lock()
	defer db.changeMu.Unlock()
	if db.indexChange == nil || db.indexChange.Index != x {
		return backfill.ErrNotChanging
	}
	next := db.indexChange.Clone()
	emit, err := prepare(next)
	if err != nil {
		return err
	}
	err = db.store.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		if err := emit(r, b); err != nil {
			return err
		}
		b.Put(schema.FamilyMeta, schema.MetaChange, next.AppendTo(nil))
		return nil
	})
	if err != nil {
		return errors.Join(err, db.reloadIndexChange(ctx))
	}
	db.indexChange = next
	return nil
}

func (db changing) Exclusive(ctx context.Context, fn func() error) error {
	return db.withExclusive(ctx, fn)
}

func (db changing) Finish(ctx context.Context, x *schema.Index) error {
	db.changeMu.Lock()
	defer db.changeMu.Unlock()
	w := db.indexChange.Clone()
	if w == nil || w.Index != x {
		return backfill.ErrNotChanging
	}
	l, copied := db.layout().Copy(x)
	if !x.Dropped() {
		if w.BuiltTo != db.tip {
			return backfill.ErrElsewhere
		}
		w.Index = copied
		return db.activate(ctx, l, w)
	}
	if err := db.dropFamilies(ctx, x); err != nil { // families that an earlier, failed call left
		return err
	}
	l.All = slices.DeleteFunc(l.All, func(x *schema.Index) bool { return x == copied })
	l.Rules.Forget()
	l.Arrange()
	return db.swapLayout(ctx, l, l.HalfDropped(), nil)
}

// activate stores the layout l with the index of w active.
func (db *DB) activate(ctx context.Context, l *schema.Layout, w *schema.IndexChange) error {
	x := w.Index
	var rules *schema.Layout
	if x.IsRules() {
		var err error
		if rules, err = l.WithRules(); err != nil {
			return err
		}
	}
	values := x.Kind.Valid() && x.Building.Has(schema.FeatureValues) && !x.IsRaw()
	x.Active, x.Building = x.Active|x.Building, 0
	l.Arrange()
	t := db.totals.Clone()
	w.AddTo(&t)
	if x.IsRules() {
		l.Chain, l.Traits = rules.Chain, rules.Traits
	}
	if err := db.swapLayout(ctx, l, l.HalfDropped(), &t); err != nil || !values {
		return err
	}
	return db.cache.AddIndex(ctx, db.contents(), x)
}
