package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"birthmark/core/backfill"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// SourceOpener opens a source of the database's chain for the values of indexes, behind known: it need not follow.
type SourceOpener func(ctx context.Context, indexes []string, known []model.Point) (model.Source, error)

// BuildOptions say how a build goes about it. None of them changes what is stored.
type BuildOptions struct {
	Weight   int                 // a step is so many transactions, inputs and outputs; 0: DefaultBuildWeight
	Progress func(BuildProgress) // called after every step, and once at the end
	Log      *slog.Logger        // nil: no log
}

// BuildProgress is how far an index is: its last block of the database's. Of one that is dropped, the block up to which
// its traces are gone.
type BuildProgress struct {
	Index          string
	Dropping       bool
	Height, Target model.HeightPk
	Done           bool
}

// DefaultBuildWeight makes steps that are over in about a second.
const DefaultBuildWeight = 200_000

const (
	nearTip     = 100             // so many blocks below the tip a build wants the database alone for the rest
	longestStep = time.Second     // of blocks that come from a source: so much is made again after an interruption
	sourcePause = 2 * time.Second // before a source that is behind, or elsewhere, is asked again
)

var (
	// errElsewhere: the source has another branch than the database, or lacks some of its blocks.
	errElsewhere = errors.New("the source does not have the database's blocks")
	// errNotAdded: the index was dropped while it was being added.
	errNotAdded = errors.New("the index is no longer being added")
)

// Build goes on with the index that is being added or dropped until it is, and does nothing where none is. It may run
// beside a Sync of the same database, which it interrupts at its end ([ErrIndexesChange]). open is asked for a source where an
// index needs values: options of one that is there are made from rows.
func (db *DB) Build(ctx context.Context, open SourceOpener, o BuildOptions) error {
	if o.Weight <= 0 {
		o.Weight = DefaultBuildWeight
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(BuildProgress) {}
	}
	db.builder.Lock()
	defer db.builder.Unlock()
	for {
		db.building.Lock()
		w := db.work
		db.building.Unlock()
		if w == nil {
			return nil
		}
		b := &builder{db: db, open: open, o: o, x: w.Index}
		if w.Index.Dropped() {
			if err := b.drop(ctx); err != nil {
				return err
			}
			continue
		}
		err := b.advance(ctx, nearTip)
		if err == nil {
			err = db.alone(ctx, func() error {
				if err := b.advance(ctx, 0); err != nil {
					return err
				}
				return b.arrive(ctx)
			})
		}
		if err == nil {
			o.Log.Info("index added", "index", w.Index.Name, "to", db.Tip().Height)
			o.Progress(BuildProgress{Index: w.Index.Name, Height: db.Tip().Height, Target: db.Tip().Height, Done: true})
		}
		if err == nil || errors.Is(err, errNotAdded) {
			continue
		}
		if !errors.Is(err, errElsewhere) {
			return fmt.Errorf("index %s: %w", w.Index.Name, err)
		}
		o.Log.Warn("the source is not where the database is, trying again", "index", w.Index.Name, "at", db.Tip().Height)
		select {
		case <-time.After(sourcePause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

type builder struct {
	db   *DB
	open SourceOpener
	o    BuildOptions
	x    *schema.Index // the index that is being added or dropped
}

// work returns what is under way, or errNotAdded if that is no longer b.x: a change of the catalogue replaces the
// entry of the index that it changes. db.building is held.
func (b *builder) work() (*schema.IndexChange, error) {
	if w := b.db.work; w != nil && w.Index == b.x {
		return w, nil
	}
	return nil, errNotAdded
}

// built returns the last block that the index has.
func (b *builder) built() (model.Point, error) {
	b.db.building.Lock()
	defer b.db.building.Unlock()
	w, err := b.work()
	if err != nil {
		return model.Point{}, err
	}
	return w.BuiltTo, nil
}

// advance adds blocks until no more than a number of them are missing.
func (b *builder) advance(ctx context.Context, missing model.HeightPk) error {
	if b.x.Building.Has(schema.FeatureValues) {
		return b.fromSource(ctx, missing)
	}
	for {
		at, err := b.built()
		if err != nil || !b.lacks(at, missing) {
			return err
		}
		to, err := b.next(ctx, at)
		if err != nil {
			return err
		}
		if err := b.step(ctx, at, to, nil); err != nil {
			return err
		}
	}
}

// lacks reports whether more than a number of blocks are missing behind at.
func (b *builder) lacks(at model.Point, missing model.HeightPk) bool {
	tip := b.db.Tip()
	return !tip.IsOrigin() && (at.IsOrigin() || at.Height+missing < tip.Height)
}

// next is the block up to which a step that begins behind at goes.
func (b *builder) next(ctx context.Context, at model.Point) (to model.Point, err error) {
	tip := b.db.Tip()
	err = b.db.store.View(ctx, func(r storage.Reader) error {
		weight := 0
		for kv, err := range r.Scan(schema.FamilyBlock, schema.HeightAfter(at).AppendTo(nil), nil, false) {
			if err != nil {
				return err
			}
			h, err := model.ParseHeightPk(kv.Key)
			if err != nil {
				return err
			}
			row, err := schema.ParseBlockRow(kv.Value)
			if err != nil || h > tip.Height {
				return err
			}
			to = model.Point{Height: h, Hash: row.Hash, Slot: row.Slot}
			if weight += 4 * row.TxCount; weight >= b.o.Weight {
				return nil
			}
		}
		return nil
	})
	return to, err
}

// fromSource adds blocks of the source, which must be the database's.
func (b *builder) fromSource(ctx context.Context, missing model.HeightPk) error {
	at, err := b.built()
	if err != nil || !b.lacks(at, missing) {
		return err
	}
	var known []model.Point
	if !at.IsOrigin() {
		known = []model.Point{at}
	}
	src, err := b.open(ctx, []string{b.x.Name}, known)
	if err != nil {
		return err
	}
	err = b.take(ctx, src, at, missing)
	return errors.Join(err, src.Close())
}

func (b *builder) take(ctx context.Context, src model.Source, at model.Point, missing model.HeightPk) error {
	var known []model.Point
	if !at.IsOrigin() {
		known = []model.Point{at}
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var blocks []*model.Block
	weight, began := 0, time.Now()
	flush := func() error {
		if len(blocks) == 0 {
			return nil
		}
		to := blocks[len(blocks)-1].Point()
		err := b.step(ctx, at, to, blocks)
		at, blocks, weight, began = to, nil, 0, time.Now()
		return err
	}
	for e, err := range src.Follow(ctx, known) {
		if err != nil {
			return err
		}
		if e.Rollback != nil {
			// It may be where the source looks for the block at. What was collected above it is of another branch.
			for n := len(blocks); n > 0 && blocks[n-1].Height >= schema.HeightAfter(*e.Rollback); n-- {
				weight -= blocks[n-1].Weight()
				blocks = blocks[:n-1]
			}
			continue
		}
		block := e.Block
		if block.Height > b.db.Tip().Height {
			break
		}
		there, err := b.db.PointAt(ctx, block.Height)
		if err != nil || there.Hash != block.Hash {
			if kind, _ := model.KindOf(err); err != nil && kind != model.NotFound {
				return err
			}
			return errElsewhere
		}
		if !at.IsOrigin() && block.Height <= at.Height {
			continue // it began further back
		}
		blocks = append(blocks, block)
		if weight += block.Weight(); weight >= b.o.Weight || time.Since(began) >= longestStep {
			if err := flush(); err != nil {
				return err
			}
		}
		if !b.lacks(block.Point(), missing) {
			break
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if b.lacks(at, missing) {
		return errElsewhere
	}
	return nil
}

// step adds the blocks after from up to to. If the database has rolled back some of them meanwhile, it does nothing and
// returns errElsewhere.
func (b *builder) step(ctx context.Context, from, to model.Point, blocks []*model.Block) error {
	err := b.add(ctx, from, to, blocks)
	if err == nil {
		b.o.Progress(BuildProgress{Index: b.x.Name, Height: to.Height, Target: b.db.Tip().Height})
	}
	return err
}

func (b *builder) add(ctx context.Context, from, to model.Point, blocks []*model.Block) error {
	db := b.db
	db.building.Lock()
	defer db.building.Unlock()
	w, err := b.work()
	if err != nil {
		return err
	}
	if w.BuiltTo != from {
		return errElsewhere
	}
	there, err := db.PointAt(ctx, to.Height)
	if kind, _ := model.KindOf(err); err != nil && kind != model.NotFound {
		return err
	}
	if err != nil || there.Hash != to.Hash {
		return errElsewhere
	}
	s := backfill.NewStep(ctx, db.catalogue(), w.Index, from, to)
	err = db.store.View(ctx, func(r storage.Reader) error { return s.Prepare(r, blocks) })
	if err != nil {
		return err
	}
	next := w.Clone()
	next.BuiltTo = to
	err = db.store.Update(ctx, func(r storage.Reader, batch storage.Batch) error {
		t := schema.Totals{Rows: next.Rows}
		if err := s.Emit(r, batch, &t); err != nil {
			return err
		}
		batch.Put(schema.FamilyMeta, schema.MetaChange, next.AppendTo(nil))
		return nil
	})
	if err != nil {
		return errors.Join(err, db.recallWork(ctx))
	}
	db.work = next
	return nil
}

// arrive makes the index answer queries: it has all blocks, and nothing else writes.
func (b *builder) arrive(ctx context.Context) error {
	db := b.db
	db.building.Lock()
	defer db.building.Unlock()
	work, err := b.work()
	if err != nil {
		return err
	}
	if work.BuiltTo != db.tip {
		return errElsewhere
	}
	w := *work
	c, x := db.catalogue().Copy(w.Index)
	w.Index = x
	return db.arrived(ctx, c, &w)
}

// arrived writes that what w adds is there, in catalogue c.
func (db *DB) arrived(ctx context.Context, c *schema.Layout, w *schema.IndexChange) error {
	x := w.Index
	values := x.Building.Has(schema.FeatureValues)
	x.Active, x.Building = x.Active|x.Building, 0
	c.Arrange()
	t := db.totals.Clone()
	for f, n := range w.Rows {
		t.Rows[f] = n
	}
	err := db.change(ctx, c, c.HalfDropped(), func(b storage.Batch) { b.Put(schema.FamilyMeta, schema.MetaTotals, t.AppendTo(nil)) })
	if err != nil {
		return err
	}
	db.mu.Lock()
	db.totals = t
	db.mu.Unlock()
	if values {
		return db.cache.AddIndex(ctx, db.contents(), x)
	}
	return nil
}
