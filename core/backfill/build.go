package backfill

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"birthmark/core/ingest"
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// SourceOpener opens a source of the database's chain with the values of index x, or the raw transactions or places that
// it stands for, starting after known. The source need not follow the chain's tip.
type SourceOpener func(ctx context.Context, x *schema.Index, known []model.Point) (model.Source, error)

// Options control a backfill. They do not change what is stored.
type Options struct {
	Weight   int            // transactions, inputs and outputs per step; 0: DefaultWeight
	Progress func(Progress) // called after every step, and once at the end
	Log      *slog.Logger   // nil: no log

	// Room is [model.SourceOptions.Room], for the assets of a block.
	Room func(bytes int64) error
}

// Progress is the progress of an index: its last block or, if it is being dropped, the block up to which it is removed
// from the rows of outputs.
type Progress struct {
	Index          string
	Dropping       bool
	Height, Target model.HeightPk
	Done           bool
}

// DefaultWeight makes steps of about a second.
const DefaultWeight = 200_000

const (
	nearTip     = 100             // blocks below the tip at which a backfill stops the sync to add the rest
	longestStep = time.Second     // of collecting blocks from a source: an interruption repeats at most this much
	sourcePause = 2 * time.Second // before retrying a source that is behind or on another branch
)

var (
	// ErrElsewhere is returned if the source is on another branch than the database, or lacks some of its blocks.
	ErrElsewhere = errors.New("the source does not have the database's blocks")
	// ErrNotChanging is returned if the index is no longer being added or dropped.
	ErrNotChanging = errors.New("the index is no longer being added")
)

// Database is the database that a backfill changes.
type Database interface {
	Tip() model.Point
	PointAt(ctx context.Context, h model.HeightPk) (model.Point, error)
	View(ctx context.Context, fn func(r storage.Reader) error) error
	Layout() *schema.Layout
	// IndexChange returns the index change in progress; nil if there is none.
	IndexChange() *schema.IndexChange

	// Step calls prepare with a copy of the change of index x, which prepare and emit modify, and stores the copy
	// together with the rows of emit. No rollback runs meanwhile. Error: ErrNotChanging.
	Step(ctx context.Context, x *schema.Index, prepare func(next *schema.IndexChange) (emit Emitter, err error)) error

	// Exclusive runs fn while nothing else writes to the database. It ends a running sync.
	Exclusive(ctx context.Context, fn func() error) error

	// Finish activates x, or removes it if it is dropped. It is called within Exclusive. Errors: ErrNotChanging;
	// ErrElsewhere if x lacks blocks.
	Finish(ctx context.Context, x *schema.Index) error
}

// Emitter writes rows; r is the state before.
type Emitter func(r storage.Reader, b storage.Batch) error

// Build adds or drops the pending index of db until that is complete; it does nothing if there is none. It calls open
// only if an index needs values of outputs; the others are derived from rows.
func Build(ctx context.Context, db Database, open SourceOpener, o Options) error {
	if o.Weight <= 0 {
		o.Weight = DefaultWeight
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	for {
		w := db.IndexChange()
		if w == nil {
			return nil
		}
		b := &builder{Database: db, open: open, o: o, x: w.Index}
		b.assets.Room = ingest.Room{Batch: 2 * o.Weight, Block: o.Room}
		run, done := b.add, "index added"
		if w.Index.Dropped() {
			run, done = b.drop, "index dropped"
		}
		err := run(ctx)
		switch tip := db.Tip().Height; {
		case err == nil:
			o.Log.Info(done, "index", b.x.Name, "to", tip)
			o.Progress(Progress{Index: b.x.Name, Dropping: b.x.Dropped(), Height: tip, Target: tip, Done: true})
		case errors.Is(err, ErrElsewhere):
			o.Log.Warn("the source and the database have different tips, retrying", "index", b.x.Name, "at", tip)
			select {
			case <-time.After(sourcePause):
			case <-ctx.Done():
				return ctx.Err()
			}
		case !errors.Is(err, ErrNotChanging):
			return fmt.Errorf("index %s: %w", b.x.Name, err)
		}
	}
}

type builder struct {
	Database
	open SourceOpener
	o    Options
	x    *schema.Index // the index that is being added or dropped

	active ledger.Active
	assets ingest.AssetState
	rules  model.TokenRules // that are being added; nil: none
}

// lateRules are rules that know blocks without assets.
type lateRules interface {
	// NextHeight returns the first height from h on at which a block can have assets.
	NextHeight(h model.HeightPk) model.HeightPk
}

// nextAssets returns the first height from h on at which a block can have assets.
func (b *builder) nextAssets(h model.HeightPk) model.HeightPk {
	if rules, ok := b.rules.(lateRules); ok {
		return rules.NextHeight(h)
	}
	return h
}

// add adds the missing blocks to the index and activates it.
func (b *builder) add(ctx context.Context) error {
	if b.x.IsRules() {
		with, err := b.Layout().WithRules()
		if err != nil {
			return err
		}
		b.rules = with.Traits.Tokens.Rules
	}
	if err := b.advance(ctx, nearTip); err != nil {
		return err
	}
	return b.Exclusive(ctx, func() error {
		if err := b.advance(ctx, 0); err != nil {
			return err
		}
		return b.Finish(ctx, b.x)
	})
}

// drop removes the remains of the index from the rows of outputs.
func (b *builder) drop(ctx context.Context) error {
	if b.x.IsRules() {
		if err := b.dropAssets(ctx); err != nil {
			return err
		}
	}
	for more := b.x.Kind.Valid() && !b.x.IsRaw(); more; {
		var next *schema.IndexChange
		err := b.Step(ctx, b.x, func(w *schema.IndexChange) (Emitter, error) {
			next = w
			end := b.Layout().PkAfter(b.Tip())
			return func(r storage.Reader, batch storage.Batch) (err error) {
				next.CleanedTo, more, err = Clean(b.Layout(), r, batch, next.CleanedTo, end, b.o.Weight)
				return err
			}, nil
		})
		if err != nil {
			return err
		}
		tip := b.Tip().Height
		b.o.Progress(Progress{Index: b.x.Name, Dropping: true, Height: min(next.CleanedTo.Height(), tip), Target: tip})
	}
	return b.Exclusive(ctx, func() error { return b.Finish(ctx, b.x) })
}

// advance adds blocks until at most missing blocks are missing.
func (b *builder) advance(ctx context.Context, missing model.HeightPk) error {
	for {
		w := b.IndexChange()
		if w == nil || w.Index != b.x {
			return ErrNotChanging
		}
		at := w.BuiltTo
		if !b.lacks(at, missing) {
			return nil
		}
		if b.x.Kind.Valid() && b.x.Building.Has(schema.FeatureValues) {
			next := b.nextAssets(schema.HeightAfter(at))
			if next == schema.HeightAfter(at) {
				err := b.fromSource(ctx, at, missing)
				if b.rules == nil || err != nil {
					return err
				}
				continue
			}
			to, err := b.PointAt(ctx, min(next-1, b.Tip().Height))
			if err == nil {
				err = b.step(ctx, at, to, nil)
			}
			if err != nil {
				return err
			}
			continue
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
	tip := b.Tip()
	return !tip.IsOrigin() && (at.IsOrigin() || at.Height+missing < tip.Height)
}

// next returns the last block of the step that starts after at.
func (b *builder) next(ctx context.Context, at model.Point) (to model.Point, err error) {
	tip := b.Tip()
	err = b.View(ctx, func(r storage.Reader) error {
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
			if weight += 1 + 4*row.TxCount; weight >= b.o.Weight {
				return nil
			}
		}
		return nil
	})
	return to, err
}

// fromSource adds the blocks after at from the source, which must be on the database's branch, up to the first one after
// which blocks have no assets if rules are added.
func (b *builder) fromSource(ctx context.Context, at model.Point, missing model.HeightPk) error {
	var known []model.Point
	if !at.IsOrigin() {
		known = []model.Point{at}
	}
	src, err := b.open(ctx, b.x, known)
	if err != nil {
		return err
	}
	err = b.take(ctx, src, at, known, missing)
	return errors.Join(err, src.Close())
}

func (b *builder) take(ctx context.Context, src model.Source, at model.Point, known []model.Point, missing model.HeightPk) error {
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
		if block.Height > b.Tip().Height {
			break
		}
		if err := b.contains(ctx, block.Point()); err != nil {
			return err
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
		if !b.lacks(block.Point(), missing) || b.nextAssets(block.Height+1) > block.Height+1 {
			break
		}
	}
	if err := flush(); err != nil {
		return err
	}
	if b.lacks(at, missing) && b.nextAssets(schema.HeightAfter(at)) == schema.HeightAfter(at) {
		return ErrElsewhere
	}
	return nil
}

// contains returns ErrElsewhere if the database does not have the block at p.
func (b *builder) contains(ctx context.Context, p model.Point) error {
	there, err := b.PointAt(ctx, p.Height)
	if kind, _ := model.KindOf(err); err != nil && kind != model.NotFound {
		return err
	}
	if err != nil || there.Hash != p.Hash {
		return ErrElsewhere
	}
	return nil
}

// step adds the blocks after from, up to and including to. If the database has rolled back some of them, it does
// nothing and returns ErrElsewhere.
func (b *builder) step(ctx context.Context, from, to model.Point, blocks []*model.Block) error {
	err := b.oneStep(ctx, from, to, blocks)
	tooLarge := (*ingest.BatchTooLarge)(nil)
	if !errors.As(err, &tooLarge) {
		return err
	}
	at := max(1, tooLarge.At)
	middle := blocks[at-1].Point()
	if err := b.step(ctx, from, middle, blocks[:at]); err != nil {
		return err
	}
	return b.step(ctx, middle, to, blocks[at:])
}

// oneStep is step. Error: [*ingest.BatchTooLarge] if the blocks have too many assets for one step.
func (b *builder) oneStep(ctx context.Context, from, to model.Point, blocks []*model.Block) error {
	err := b.Step(ctx, b.x, func(next *schema.IndexChange) (Emitter, error) {
		if next.BuiltTo != from {
			return nil, ErrElsewhere
		}
		if err := b.contains(ctx, to); err != nil {
			return nil, err
		}
		var s *Step
		err := b.View(ctx, func(r storage.Reader) (err error) {
			s, err = Prepare(ctx, b.Layout(), r, next.Index, from, to, blocks, &b.assets)
			return err
		})
		next.BuiltTo = to
		return func(r storage.Reader, batch storage.Batch) error {
			t := next.Totals()
			err := s.Emit(r, batch, t, &b.active)
			next.SetTotals(t)
			return err
		}, err
	})
	if err == nil {
		b.o.Progress(Progress{Index: b.x.Name, Height: to.Height, Target: b.Tip().Height})
	}
	return err
}
