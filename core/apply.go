package core

import (
	"context"
	"errors"

	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/model"
	"birthmark/storage"
)

// ErrNewIndex is returned by [DB.Apply] for a segment with an index that the chain of the database does not offer: a
// custom index that was added to the primary. Open the database again with a chain that has its definition.
var ErrNewIndex = errors.New("the segment adds a custom index")

// Create applies the first segment of a lineage, which creates the database, to an empty store. Open then opens it.
func Create(ctx context.Context, s storage.Store, chain model.Chain, first *segment.Segment) error {
	l, err := first.Layout(chain, nil)
	if err != nil {
		return err
	}
	if err := s.Declare(append(l.Declarations(), schema.SegmentFamily)...); err != nil {
		return err
	}
	return segment.Apply(ctx, s, first, segment.Families(l))
}

// Apply writes a segment of the primary to the database of a replica, atomically. Queries see the state before or after
// it. It returns the errors of [segment.Apply], ErrNewIndex, and open_again if an earlier segment that changes the
// indexes failed. Nothing else may write the database.
func (db *DB) Apply(ctx context.Context, s *segment.Segment) error {
	db.write.Lock()
	defer db.write.Unlock()
	if err := db.ensureStateKnown(ctx); err != nil {
		return err
	}
	if !db.offers(s) {
		return ErrNewIndex
	}
	old := db.layout()
	next, err := s.Layout(db.Chain(), old)
	if err != nil {
		return err
	}
	families := segment.Families(old, next)
	if next != nil {
		if err := db.store.Declare(next.Declarations()...); err != nil {
			return err
		}
		if err := db.applyLayout(ctx, s, next, families); err != nil {
			return err
		}
		return db.dropAll(ctx, next)
	}
	if s.Kind != segment.Append {
		db.labels.BeginRollback()
		defer db.labels.EndRollback()
	}
	if err := segment.Apply(ctx, db.store, s, families); err != nil {
		db.discardPending(ctx)
		return err
	}
	db.stateUnknown = true
	if err := db.ensureStateKnown(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	if s.Kind == segment.Catalogue {
		db.mu.Lock()
		defer db.mu.Unlock()
		db.notifyMoved() // the tip is the same
	}
	return nil
}

// offers reports whether the chain has all custom indexes of a segment.
func (db *DB) offers(s *segment.Segment) bool {
	row := s.Meta(schema.MetaIndexes)
	if row == nil {
		return true
	}
	defined, err := schema.ParseDefinitions(row)
	if err != nil {
		return true // Layout returns the error
	}
	offered := map[model.Definition]bool{}
	for _, x := range db.Chain().Indexes() {
		if d, custom := x.Definition(); custom {
			offered[d] = true
		}
	}
	for _, d := range defined {
		if !offered[d] {
			return false
		}
	}
	return true
}

// applyLayout applies a segment that leads to another layout. No query runs meanwhile.
func (db *DB) applyLayout(ctx context.Context, s *segment.Segment, next *schema.Layout, families map[string]storage.Family) error {
	db.lockLayout()
	defer db.layoutMu.Unlock()
	if err := segment.Apply(ctx, db.store, s, families); err != nil {
		kind, _ := model.KindOf(err)
		db.reopenRequired = kind == model.Internal // else the segment was refused before it was written
		return err
	}
	db.currentLayout.Store(next)
	if err := db.reloadState(context.WithoutCancel(ctx)); err != nil {
		db.reopenRequired = true
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.notifyMoved()
	return nil
}
