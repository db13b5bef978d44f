package bench

import (
	"context"
	"errors"
	"iter"

	"birthmark/core"
	"birthmark/model"
)

// SyncOptions configure [Sync].
type SyncOptions struct {
	Options
	Chain   model.Chain
	Indexes []string // nil: the default ones
	Keep    map[string]model.IndexOptions
	Raw     bool
	Source  model.SourceOptions // Indexes and Raw are ignored
	WAL     bool
}

// Sync measures indexing from a source like `birthmark sync`, including reading and decoding. It must be called once
// per process, like [Append].
func Sync(ctx context.Context, o SyncOptions) (result *Result, err error) {
	kind := NoWAL
	if o.WAL {
		kind = WAL
	}
	store, err := openStore(kind, o.Options)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	r := run{kind: Bulk, log: o.WAL, options: o.Options, store: store}
	if r.db, err = core.Open(ctx, store, core.Options{Chain: o.Chain, Indexes: o.Indexes, Keep: o.Keep, Raw: o.Raw, CacheBytes: o.Caches}); err != nil {
		return nil, err
	}
	if tip := r.db.Tip(); !tip.IsOrigin() {
		return nil, model.Errorf(model.Refused, "not_empty", "%s already contains blocks up to %d: use an empty folder", o.Dir, tip.Height)
	}
	o.Source.Indexes, o.Source.Raw = r.db.Indexes(), r.db.KeepsRaw()
	src, err := o.Chain.Open(ctx, o.Source)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	r.src = &counted{Source: src}
	return r.measure(ctx)
}

// counted counts the blocks of a source and rejects rollbacks.
type counted struct {
	model.Source
	made Made
}

func (c *counted) Made() Made { return c.made }

// Measure implements [model.Measurer].
func (c *counted) Measure(ctx context.Context, after model.Point, to model.HeightPk) (model.Extent, error) {
	if m, ok := c.Source.(model.Measurer); ok {
		return m.Measure(ctx, after, to)
	}
	return model.Extent{}, nil
}

func (c *counted) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for e, err := range c.Source.Follow(ctx, known) {
			switch {
			case err != nil:
			case e.Block != nil:
				c.made.count(e.Block)
			case e.Rollback != nil:
				err = errors.New("the source rolled back blocks: use a source without forks")
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
