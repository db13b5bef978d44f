package node

import (
	"context"
	"errors"
	"iter"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/model"
)

var errConsumerDone = errors.New("the consumer has left")

// follower is one Follow under way.
type follower struct {
	*Source
	*blocksource.Outage
	trail      *blocksource.Trail
	boundaries []boundary
	started    bool // it was found where the node's chain and the known points part
	yield      func(model.Event, error) bool
}

// boundary is a block between two epochs of Byron: nodes know it as a point, the core does not.
type boundary struct {
	*model.Block
	before model.Point // what a way back to it leaves
}

// boundariesKept are those of the last epochs: no way back is longer than one.
const keptBoundaries = 4

// Follow yields what happened on the node's chain after the newest known point that it has. Where that is known[0] the
// stream begins with a rollback to it: where the node goes from there is no search any more. Where it is the origin the
// node has another chain altogether, though on a network of the same magic: the stream then begins with going back
// there, and it is for the consumer to compare first blocks.
//
// A node that is behind what it said before, on the same chain, undoes nothing: it is waited for. One that comes back
// with none of a chain that is too long for a fork ends the stream, with an error of kind Refused, code wrong_chain.
func (s *Source) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		f := &follower{Source: s, Outage: s.outage(), trail: blocksource.NewTrail(known), yield: yield}
		for {
			done, err := f.followConn(ctx)
			if err != nil && err != errConsumerDone {
				if err = f.Wait(ctx, err); err != nil {
					yield(model.Event{}, err)
				}
			}
			if done || err != nil {
				return
			}
		}
	}
}

// followConn is what one connection has to say. Done: nothing more is to come.
func (f *follower) followConn(ctx context.Context) (done bool, err error) {
	c, done, err := f.connect(ctx)
	if err != nil || done {
		return done, err
	}
	defer c.Close()
	if to := f.options.To; to != nil && f.next() > *to {
		return true, nil
	}
	return f.stream(ctx, c)
}

// next is the height after the trail's end.
func (f *follower) next() model.HeightPk {
	if at := f.trail.Newest(); !at.IsOrigin() {
		return at.Height + 1
	}
	return 0
}

// connect connects and finds where the node's chain and the trail part, which is then the trail's end and where the
// connection goes on. Done: the node is behind, and not waited for.
func (f *follower) connect(ctx context.Context) (_ *ouroboros.Conn, done bool, err error) {
	for {
		c, kept, err := f.conn(ctx)
		if err != nil {
			return nil, false, err
		}
		for {
			n, tip, err := intersect(ctx, c, f.trail.Points())
			if err == nil {
				if done, err = f.adoptIntersection(n, tip); err == nil && !done {
					return c, false, nil
				}
				if err == nil && f.options.Follow {
					f.Over()
					if err = pause(ctx, f.Poll); err == nil {
						continue
					}
				}
				done = err == nil
			}
			c.Close()
			if done || !kept || !blocksource.IsTemporary(err) {
				return nil, done, err
			}
			break // that connection was kept too long
		}
	}
}

// adoptIntersection makes of the trail what the node shares of it, its first n points. Behind: it ends in something that the node's
// chain may yet come to; but for the first time, when the stream has to begin somewhere, that is left alone.
func (f *follower) adoptIntersection(n int, tip ouroboros.Tip) (behind bool, err error) {
	points := f.trail.Points()
	if n == len(points) {
		if !f.started && n > 0 {
			err = f.cut(n) // takes nothing away: it says that the node has all of them
		}
		f.started = true
		return false, err
	}
	newest := points[len(points)-1]
	switch {
	case !f.started:
	case tip.Point.IsOrigin() || uint64(points[n].Height) > tip.Number:
		return true, nil
	case n == 0 && newest.Height > genesis.SecurityParam:
		return false, model.Errorf(model.Refused, "wrong_chain", "%s came back with another chain, up to block %d (%x): it has nothing of that to block %d (%s)",
			f.address, tip.Number, tip.Hash, newest.Height, newest.Hash)
	}
	f.started = true
	return false, f.cut(n)
}

// cut goes back to the first n points of the trail.
func (f *follower) cut(n int) error {
	f.trail.Cut(n)
	at := f.trail.Newest()
	if !f.yield(model.Event{Rollback: &at}, nil) {
		return errConsumerDone
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// stream yields what comes over a connection.
func (f *follower) stream(ctx context.Context, c *ouroboros.Conn) (done bool, err error) {
	l := ledger.Linker{Decoder: f.decoder, Tip: f.trail.Newest()}
	for n, err := range f.batches(ctx, c) {
		if err == nil {
			done, err = f.apply(&l, n)
		}
		if done || err != nil {
			return done, err
		}
	}
	return false, ctx.Err()
}

// apply hands on what a node said.
func (f *follower) apply(l *ledger.Linker, n batch) (done bool, err error) {
	for _, h := range n.events {
		switch h.kind {
		case ouroboros.Backward:
			err = f.rollBack(l, h.rollback)
		case ouroboros.Forward:
			done, err = f.addBlock(l, h.Decoded)
		default:
			done = !f.options.Follow
		}
		if done || err != nil {
			return done, err
		}
	}
	if n.err == nil {
		f.Over()
	}
	return false, n.err
}

// addBlock hands on a block.
func (f *follower) addBlock(l *ledger.Linker, p ledger.Decoded) (done bool, err error) {
	before := l.Tip
	b, err := l.Link(p)
	if err != nil {
		return false, err
	}
	if b == nil {
		if len(f.boundaries) == keptBoundaries {
			f.boundaries = append(f.boundaries[:0], f.boundaries[1:]...)
		}
		f.boundaries = append(f.boundaries, boundary{p.Block, before})
		return false, nil
	}
	to := f.options.To
	if to != nil && b.Height > *to {
		return true, nil
	}
	f.trail.Add(b.Point())
	if !f.yield(model.Event{Block: b}, nil) {
		return false, errConsumerDone
	}
	return to != nil && b.Height == *to, nil
}

// rollBack goes back to a point the node named.
func (f *follower) rollBack(l *ledger.Linker, to ouroboros.Point) error {
	at, between := model.Point{Slot: to.Slot, Hash: to.Hash}, (*model.Block)(nil)
	for _, b := range f.boundaries {
		if b.Slot == to.Slot && b.Hash == at.Hash {
			at, between = b.before, b.Block
		}
	}
	is := func(p model.Point) bool { return p.Slot == at.Slot && p.Hash == at.Hash }
	points := f.trail.Points()
	n := len(points)
	for n > 0 && !is(points[n-1]) && points[n-1].Slot >= at.Slot {
		n--
	}
	switch {
	case to.IsOrigin():
		n = 0
	case n == 0 || !is(points[n-1]):
		return blocksource.Temporary(model.Errorf(model.BadSource, "unknown_point",
			"%s went back to %s, which is not among the blocks it sent: looking for one that is", f.address, to))
	}
	if n < len(points) {
		if err := f.cut(n); err != nil {
			return err
		}
	}
	l.Tip, l.Boundary = f.trail.Newest(), between
	return nil
}
