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

// SourceOpener opens a source of the database's chain with the values of indexes, starting after known. The source need
// not follow the chain's tip.
type SourceOpener func(ctx context.Context, indexes []string, known []model.Point) (model.Source, error)

// BuildOptions control a backfill. They do not change what is stored.
type BuildOptions struct {
	Weight   int                 // transactions, inputs and outputs per step; 0: DefaultBuildWeight
	Progress func(BuildProgress) // called after every step, and once at the end
	Log      *slog.Logger        // nil: no log
}

// BuildProgress is the progress of an index: its last block or, if it is being dropped, the block up to which it is
// removed from the rows of outputs.
type BuildProgress struct {
	Index          string
	Dropping       bool
	Height, Target model.HeightPk
	Done           bool
}

// DefaultBuildWeight makes steps of about a second.
const DefaultBuildWeight = 200_000

const (
	nearTip     = 100             // blocks below the tip at which a backfill stops the sync to add the rest
	longestStep = time.Second     // of collecting blocks from a source: an interruption repeats at most this much
	sourcePause = 2 * time.Second // before retrying a source that is behind or on another branch
)

var (
	// errElsewhere is returned if the source is on another branch than the database, or lacks some of its blocks.
	errElsewhere = errors.New("the source does not have the database's blocks")
	// errNotAdded is returned if the index was dropped while it was being added.
	errNotAdded = errors.New("the index is no longer being added")
)

// Build adds or drops the pending index until that is complete; it does nothing if there is none. It may run
// concurrently with a Sync of the same database, which it ends when the index is complete ([ErrIndexesChange]). Build
// calls open only if an index needs values; features of an existing index are derived from rows.
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
	db.buildMu.Lock()
	defer db.buildMu.Unlock()
	for {
		db.changeMu.Lock()
		w := db.indexChange
		db.changeMu.Unlock()
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
			err = db.withExclusive(ctx, func() error {
				if err := b.advance(ctx, 0); err != nil {
					return err
				}
				return b.activate(ctx)
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

// change returns the index change in progress, or errNotAdded if it is no longer a change of b.x: a change of the
// layout replaces the entry of its index. db.changeMu is held.
func (b *builder) change() (*schema.IndexChange, error) {
	if w := b.db.indexChange; w != nil && w.Index == b.x {
		return w, nil
	}
	return nil, errNotAdded
}

// built returns the last block that the index contains.
func (b *builder) built() (model.Point, error) {
	b.db.changeMu.Lock()
	defer b.db.changeMu.Unlock()
	w, err := b.change()
	if err != nil {
		return model.Point{}, err
	}
	return w.BuiltTo, nil
}

// advance adds blocks until at most missing blocks are missing.
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

// lacks reports whether the index lacks more than missing blocks after at.
func (b *builder) lacks(at model.Point, missing model.HeightPk) bool {
	tip := b.db.Tip()
	return !tip.IsOrigin() && (at.IsOrigin() || at.Height+missing < tip.Height)
}

// next returns the last block of the step that starts after at.
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

// fromSource adds blocks of the source, which must be on the database's branch.
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
			// The source may be locating its starting block. Blocks collected above the rollback belong to another
			// branch.
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
			continue // the source started further back
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

// step adds the blocks after from, up to and including to. If the database has rolled back some of them, it does
// nothing and returns errElsewhere.
func (b *builder) step(ctx context.Context, from, to model.Point, blocks []*model.Block) error {
	err := b.add(ctx, from, to, blocks)
	if err == nil {
		b.o.Progress(BuildProgress{Index: b.x.Name, Height: to.Height, Target: b.db.Tip().Height})
	}
	return err
}

func (b *builder) add(ctx context.Context, from, to model.Point, blocks []*model.Block) error {
	db := b.db
	db.changeMu.Lock()
	defer db.changeMu.Unlock()
	w, err := b.change()
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
	var s *backfill.Step
	err = db.store.View(ctx, func(r storage.Reader) (err error) {
		s, err = backfill.Prepare(ctx, db.layout(), r, w.Index, from, to, blocks)
		return err
	})
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
		return errors.Join(err, db.reloadIndexChange(ctx))
	}
	db.indexChange = next
	return nil
}

// activate activates the index. The index contains all blocks and no other write is running.
func (b *builder) activate(ctx context.Context) error {
	db := b.db
	db.changeMu.Lock()
	defer db.changeMu.Unlock()
	work, err := b.change()
	if err != nil {
		return err
	}
	if work.BuiltTo != db.tip {
		return errElsewhere
	}
	w := *work
	c, x := db.layout().Copy(w.Index)
	w.Index = x
	return db.activate(ctx, c, &w)
}

// activate stores the layout c with the index of w active.
func (db *DB) activate(ctx context.Context, c *schema.Layout, w *schema.IndexChange) error {
	x := w.Index
	values := x.Building.Has(schema.FeatureValues)
	x.Active, x.Building = x.Active|x.Building, 0
	c.Arrange()
	t := db.totals.Clone()
	for f, n := range w.Rows {
		t.Rows[f] = n
	}
	err := db.swapLayout(ctx, c, c.HalfDropped(), func(b storage.Batch) { b.Put(schema.FamilyMeta, schema.MetaTotals, t.AppendTo(nil)) })
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
