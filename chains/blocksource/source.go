package blocksource

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"sync/atomic"

	"birthmark/model"
)

// Options configure [NewSource].
type Options struct {
	Name  string         // of the node in logs, without secrets
	First model.HeightPk // of the chain's first block

	// SourceOptions are the options of the chain. Used are Follow, To, Workers (concurrent calls of [Node.Blocks]; 0:
	// 6), Memory (0: [DefaultMemory]) and Outage.
	model.SourceOptions
	Retry Retry
	Log   *slog.Logger // nil: the default logger
}

// NewSource returns the chain of a node as a stream of events: blocks are fetched ahead with several concurrent calls
// and yielded in order. After a reorganization it yields a rollback to the newest common block.
//
// A node that is behind its previous tip on the same chain removes nothing: the source waits for it, unless the node is
// an [Invalidator] that invalidated the blocks above its tip. So a node that syncs from the start, or an older copy of
// block files, costs a search and not the database.
//
// It is a [model.BlockReader], a [model.Measurer] whose sizes are known if the node is one, and a [model.UnspentCounter] if the node is one.
func NewSource(n Node, o Options) model.Source {
	if o.Workers <= 0 {
		o.Workers = 6
	}
	if o.Memory <= 0 {
		o.Memory = DefaultMemory
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	s := &source{node: n, o: o}
	if c, ok := n.(model.UnspentCounter); ok {
		return countingSource{s, c}
	}
	return s
}

type source struct {
	node Node
	o    Options
	met  atomic.Bool // the node has answered
}

type countingSource struct {
	*source
	model.UnspentCounter
}

func (s *source) outage() *Outage {
	o := NewOutage(s.o.Name, s.o.Retry, s.o.SourceOptions)
	o.log = s.o.Log
	return o
}

// Tip returns the node's tip.
func (s *source) Tip(ctx context.Context) (model.Point, error) {
	tip, err := Contact(ctx, s.outage(), s.met.Load(), func() (model.Point, error) { return s.node.Tip(ctx) })
	if err == nil {
		s.met.Store(true)
	}
	return tip, err
}

// Follow yields the events of the node's chain after the newest known point that it has.
func (s *source) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		f := &follower{source: s, trail: NewTrail(known), Outage: s.outage(), estimate: firstEstimate}
		if err := f.run(ctx, yield); err != nil && err != errLeft {
			yield(model.Event{}, err)
		}
	}
}

// Measure implements [model.Measurer].
func (s *source) Measure(ctx context.Context, after model.Point, to model.HeightPk) (model.Extent, error) {
	if m, ok := s.node.(model.Measurer); ok {
		return m.Measure(ctx, after, to)
	}
	return model.Extent{}, nil
}

// BlockAt returns the block at a height of the node's best chain.
func (s *source) BlockAt(ctx context.Context, h model.HeightPk) (*model.Block, error) {
	return Try(ctx, s.outage(), func() (*model.Block, error) {
		hashes, err := s.node.Hashes(ctx, h, 1)
		if err != nil {
			return nil, err
		}
		if len(hashes) == 0 {
			return nil, s.noBlock(ctx, h)
		}
		blocks, err := s.node.Blocks(ctx, []model.Point{{Height: h, Hash: hashes[0]}}, 0)
		if errors.Is(err, ErrMoved) {
			err = Temporary(err)
		}
		if err != nil {
			return nil, err
		}
		return blocks[0], nil
	})
}

// noBlock returns the error of a height above the best chain.
func (s *source) noBlock(ctx context.Context, h model.HeightPk) error {
	tip, err := s.node.Tip(ctx)
	if err != nil {
		return err
	}
	return model.Errorf(model.NotFound, "unknown_block", "no block at height %d in %s: the last is %d", h, s.o.Name, tip.Height)
}

func (s *source) Close() error { return s.node.Close() }
