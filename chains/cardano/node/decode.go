package node

import (
	"context"
	"iter"

	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/ouroboros"
)

// batch is the decoded events that arrived together, up to the first error.
type batch struct {
	events []event
	err    error
}

// event is a block, a rollback, or that the node has no more blocks.
type event struct {
	kind ouroboros.Kind
	ledger.Decoded
	rollback ouroboros.Point // point of the rollback
	tip      uint64          // height of the node's tip
}

// batches yields the events of a connection, decoded by several goroutines. It ends with ctx.
func (s *Source) batches(ctx context.Context, c *ouroboros.Conn) iter.Seq2[batch, error] {
	type job struct {
		events []ouroboros.Event
		err    error
	}
	jobs := func(ctx context.Context, yield func(job) bool) {
		for events, err := range c.Follow(ctx) {
			if !yield(job{events, err}) {
				return
			}
		}
	}
	size := func(j job) (bytes int64) {
		for _, e := range j.events {
			bytes += ledger.DecodedFactor * int64(len(e.Block))
		}
		return bytes
	}
	worker := func() (func(context.Context, job) (batch, error), func()) {
		d := s.decoder.Clone()
		return func(_ context.Context, j job) (n batch, _ error) {
			n.events = make([]event, 0, len(j.events))
			for _, e := range j.events {
				h := event{kind: e.Kind, rollback: e.Point, tip: e.Tip.Number}
				if e.Kind == ouroboros.Forward {
					var err error
					if h.Decoded, err = s.decode(d, e); err != nil {
						n.err = err
						return n, nil
					}
				}
				n.add(h)
			}
			n.err = j.err
			return n, nil
		}, func() {}
	}
	limits := blocksource.Limits{Workers: s.options.Workers, Memory: s.options.Memory - s.Connect.Memory}
	return blocksource.Ordered(ctx, jobs, size, limits, worker)
}

// add adds an event. Blocks that a rollback removes are dropped.
func (n *batch) add(h event) {
	if h.kind == ouroboros.Backward {
		for last := len(n.events) - 1; last >= 0; last-- {
			was := &n.events[last]
			if was.kind == ouroboros.Forward && was.Slot == h.rollback.Slot && was.Hash == h.rollback.Hash {
				n.events = n.events[:last+1]
				return
			}
		}
		// The rollback is to before all of them.
		n.events = n.events[:0]
	}
	n.events = append(n.events, h)
}
