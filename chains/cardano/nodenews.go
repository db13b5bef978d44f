package cardano

import (
	"context"
	"iter"

	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/ouroboros"
)

// news is what a node said at a time, decoded, up to what could not be.
type news struct {
	happened []happened
	err      error
}

// happened is a block, or a way back, or that there is no more for now.
type happened struct {
	kind ouroboros.Kind
	ledger.Decoded
	to ouroboros.Point // where the node went back
}

// news yields what comes over a connection, decoded on several goroutines. It ends with the context.
func (s *nodeSource) news(ctx context.Context, c *ouroboros.Conn) iter.Seq2[news, error] {
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
	worker := func() (func(context.Context, job) (news, error), func()) {
		d := s.decoder.Clone()
		return func(_ context.Context, j job) (n news, _ error) {
			n.happened = make([]happened, 0, len(j.events))
			for _, e := range j.events {
				h := happened{kind: e.Kind, to: e.Point}
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
	limits := blocksource.Limits{Workers: s.options.Workers, Memory: s.options.Memory - s.connect.Memory}
	return blocksource.Ordered(ctx, jobs, size, limits, worker)
}

// add takes what happened next. Blocks that the node takes back before they were handed on are left out.
func (n *news) add(h happened) {
	if h.kind == ouroboros.Backward {
		for last := len(n.happened) - 1; last >= 0; last-- {
			was := &n.happened[last]
			if was.kind == ouroboros.Forward && was.Slot == h.to.Slot && was.Hash == h.to.Hash {
				n.happened = n.happened[:last+1]
				return
			}
		}
		// It goes back to before all of them, and before what they came after.
		n.happened = n.happened[:0]
	}
	n.happened = append(n.happened, h)
}
