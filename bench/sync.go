package bench

import (
	"context"
	"errors"
	"iter"

	"birthmark/core"
	"birthmark/model"
)

// SyncOptions say what [Sync] measures.
type SyncOptions struct {
	Options
	Chain   model.Chain
	Indexes []string // nil: those that are on by default
	Keep    map[string]model.IndexOptions
	Raw     bool
	Source  model.SourceOptions // its Indexes and Raw are those of the database
	WAL     bool
}

// Sync indexes what a source has, as `birthmark sync` does, and measures it: reading and decoding are part of it. To be
// called once in a process, as [Append] is.
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
		return nil, model.Errorf(model.Refused, "not_empty", "%s holds blocks up to %d already: a whole sync is measured, into an empty folder", o.Dir, tip.Height)
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

// counted counts the blocks that a source yields and does not take back.
type counted struct {
	model.Source
	made Made
}

func (c *counted) Made() Made { return c.made }

func (c *counted) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for e, err := range c.Source.Follow(ctx, known) {
			switch {
			case err != nil:
			case e.Block != nil:
				c.made.count(e.Block)
			case e.Rollback != nil:
				err = errors.New("the chain changed while it was measured: a source without forks is needed")
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}
