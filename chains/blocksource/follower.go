package blocksource

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"birthmark/model"
)

const (
	// groupBytes is the target size in bytes of the blocks of one call.
	groupBytes = 2 << 20
	// groupBlocks is the maximum number of blocks of one call.
	groupBlocks = 500
	// hashesAhead is the number of hashes per request.
	hashesAhead = 2000
	// DecodedFactor is the memory of a block in flight per serialized byte: the bytes and the decoded model.
	DecodedFactor = 4
	// firstEstimate is the assumed size of a block in bytes before any was seen: large, to fetch too little rather than
	// too much.
	firstEstimate = 512 << 10
	// unlinked is the number of consecutive times that the node's blocks may not form a chain.
	unlinked = 10
)

var (
	errLeft  = errors.New("the consumer stopped")
	errShort = errors.New("a call returned fewer blocks than requested")
)

// follower is the state of one Follow.
type follower struct {
	*source
	*Outage
	trail    *Trail
	estimate int64 // size of a block in bytes; atomic, since jobs are made on another goroutine
	moved    int   // consecutive times that the chain changed during a round
	begun    bool  // the fork point with the known points was found
	invalid  bool  // the last rollback was to the tip of a node that invalidated the blocks above it

	top   model.HeightPk // height of the highest yielded block
	forks int            // rollbacks since then
}

type yield = func(model.Event, error) bool

func (f *follower) run(ctx context.Context, yield yield) error {
	for {
		done, err := f.round(ctx, yield)
		if errors.Is(err, ErrMoved) {
			if f.moved++; f.moved == 1 {
				continue // a reorganization while blocks were in flight
			}
			err = model.Errorf(model.BadSource, "bad_chain", "after block %d: %w", f.trail.Newest().Height, err)
			if f.moved < unlinked {
				err = Temporary(err)
			}
		}
		switch {
		case done, errors.Is(err, errLeft):
			return err
		case err == nil, errors.Is(err, errShort):
			f.Over()
		default:
			if err := f.Wait(ctx, err); err != nil {
				return err
			}
		}
	}
}

// round brings the stream to the node's tip, or to the last requested block. done: nothing more follows.
func (f *follower) round(ctx context.Context, yield yield) (done bool, err error) {
	tip, err := f.node.Tip(ctx)
	if err != nil {
		return false, err
	}
	newest := f.trail.Newest()
	forked, err := f.findFork(ctx, tip)
	if err != nil {
		return false, err
	}
	if _, can := f.node.(Invalidator); can && !f.begun && (!forked || f.invalid) && !newest.IsOrigin() {
		// The node has all known points, but some may be invalid by now. This ends the consumer's search for a fork
		// point, so that it obeys the next rollback.
		if !yield(model.Event{Rollback: &newest, Tip: tip.Height}, nil) {
			return false, errLeft
		}
	}
	f.begun = true
	if forked {
		at := f.trail.Newest()
		if f.forks++; f.forks > 1 {
			f.o.Log.Warn("the source switched chains again before its chain grew",
				"source", f.o.Name, "fork", at.Height, "tip", tip.Height)
		}
		if f.forks > unlinked && !f.o.Follow {
			return false, model.Errorf(model.BadSource, "bad_chain",
				"%s changes its chain repeatedly, %d times since block %d", f.o.Name, f.forks, f.top)
		}
		if !yield(model.Event{Rollback: &at, Tip: tip.Height}, nil) {
			return false, errLeft
		}
	}
	end := tip.Height
	if f.o.To != nil {
		end = min(end, *f.o.To)
	}
	next := f.next()
	if !tip.IsOrigin() && next <= end {
		err := f.stream(ctx, next, end, tip, yield)
		if err == nil && f.next() == next {
			err = Temporary(model.Errorf(model.BadSource, "bad_chain",
				"%s reports block %d as its tip, but has no block %d", f.o.Name, tip.Height, next))
		}
		return false, err
	}
	if !f.o.Follow || f.o.To != nil && next > *f.o.To {
		return true, nil
	}
	f.Over()
	return false, f.node.Changed(ctx, tip)
}

// next returns the height after the trail's end.
func (f *follower) next() model.HeightPk {
	if at := f.trail.Newest(); !at.IsOrigin() {
		return at.Height + 1
	}
	return f.o.First
}

// findFork cuts the trail at the fork point with the node's chain and reports whether blocks were removed. A node that
// is only behind removes nothing, unless its blocks were invalidated, and except the first time, when the stream has to
// begin somewhere.
func (f *follower) findFork(ctx context.Context, tip model.Point) (bool, error) {
	points := f.trail.points
	n, err := f.trail.parting(func(p model.Point) (bool, error) {
		if p.Height > tip.Height || tip.IsOrigin() {
			return false, nil
		}
		if p.Height == tip.Height && p.Hash == tip.Hash {
			return true, nil
		}
		hashes, err := f.node.Hashes(ctx, p.Height, 1)
		same := err == nil && len(hashes) > 0 && hashes[0] == p.Hash
		if same && p.Height == tip.Height {
			return false, fmt.Errorf("%s reports block %d as its tip, but returns another block at that height: %w",
				f.o.Name, tip.Height, ErrMoved)
		}
		return same, err
	})
	if err != nil || n == len(points) {
		return false, err
	}
	if behind := tip.IsOrigin() || points[n].Height > tip.Height; behind {
		node, can := f.node.(Invalidator)
		if f.invalid = false; can && n > 0 && points[n-1] == tip {
			if f.invalid, err = node.Invalidated(ctx, points[n]); err != nil {
				return false, err
			}
		}
		if f.begun && !f.invalid {
			return false, nil
		}
	}
	f.trail.Cut(n)
	return true, nil
}

// fetch is a group of blocks of one call.
type fetch struct {
	points []model.Point
	bytes  int64 // expected size
	blocks []*model.Block
	err    error
}

// stream yields the blocks from a height to another, which is at most that of the node's tip.
func (f *follower) stream(ctx context.Context, from, end model.HeightPk, tip model.Point, yield yield) error {
	size := func(j fetch) int64 { return DecodedFactor * j.bytes }
	worker := func() (func(context.Context, fetch) (fetch, error), func()) {
		return func(ctx context.Context, j fetch) (fetch, error) {
			if j.err == nil {
				j.blocks, j.err = f.node.Blocks(ctx, j.points, 2*j.bytes)
			}
			if j.err == nil && len(j.blocks) == 0 {
				j.err = model.Errorf(model.BadSource, "bad_answer", "requested block %d, but %s returned none", j.points[0].Height, f.o.Name)
			}
			return j, nil
		}, func() {}
	}
	jobs := func(ctx context.Context, yield func(fetch) bool) { f.plan(ctx, from, end, tip, yield) }
	expected := from
	for j, err := range Ordered(ctx, jobs, size, Limits{Workers: f.o.Workers, Memory: f.o.Memory}, worker) {
		switch {
		case err != nil:
			return err
		case len(j.points) > 0 && j.points[0].Height != expected:
			return errShort // the previous call
		case j.err != nil:
			if large, ok := errors.AsType[*LargeBlock](j.err); ok {
				f.learn(large.Size, 1) // the next call for it is made alone, with a sufficient limit
				return errShort
			}
			return j.err
		}
		bytes := 0
		for _, b := range j.blocks {
			if at := f.trail.Newest(); !at.IsOrigin() && b.Parent != at.Hash {
				return fmt.Errorf("block %d does not extend block %d: %w", b.Height, at.Height, ErrMoved)
			}
			f.trail.Add(b.Point())
			if b.Height > f.top {
				f.top, f.forks = b.Height, 0
			}
			if !yield(model.Event{Block: b, Tip: end}, nil) {
				return errLeft
			}
			bytes += b.Size
			expected++
		}
		f.moved = 0
		f.Over()
		f.learn(int64(bytes), len(j.blocks))
	}
	return nil
}

// plan yields the jobs of a stream, until the node has no more hashes or the end is reached. The block at the height of
// the tip must be the tip: of a node that moved meanwhile it is a block that never was one.
func (f *follower) plan(ctx context.Context, from, end model.HeightPk, tip model.Point, yield func(fetch) bool) {
	for from <= end {
		hashes, err := f.node.Hashes(ctx, from, int(min(hashesAhead, end-from+1)))
		if err != nil {
			yield(fetch{err: err})
			return
		}
		if len(hashes) == 0 {
			return
		}
		var moved error
		if last := len(hashes) - 1; from+model.HeightPk(last) == tip.Height && hashes[last] != tip.Hash {
			hashes = hashes[:last]
			moved = fmt.Errorf("%s reports block %d as its tip, but returns another block at that height: %w",
				f.o.Name, tip.Height, ErrMoved)
		}
		for len(hashes) > 0 {
			estimate := f.learned()
			n := int(min(max(groupBytes/estimate, 1), groupBlocks, int64(len(hashes))))
			points := make([]model.Point, n)
			for i := range points {
				points[i] = model.Point{Height: from, Hash: hashes[i]}
				from++
			}
			hashes = hashes[n:]
			if !yield(fetch{points: points, bytes: estimate * int64(n)}) {
				return
			}
		}
		if moved != nil {
			yield(fetch{err: moved})
			return
		}
	}
}

// learned returns the estimated size of a block.
func (f *follower) learned() int64 { return atomic.LoadInt64(&f.estimate) }

// learn updates the estimated size of a block: at once if it grows, slowly if it shrinks.
func (f *follower) learn(bytes int64, blocks int) {
	if blocks == 0 {
		return
	}
	old := f.learned()
	atomic.StoreInt64(&f.estimate, max(bytes/int64(blocks), old*3/4, 1<<10))
}
