package node

import (
	"context"
	"errors"
	"iter"
	"math"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/chains/cardano/genesis"
	"birthmark/chains/cardano/ledger"
	"birthmark/chains/cardano/ouroboros"
	"birthmark/model"
)

var errConsumerDone = errors.New("the consumer has stopped")

// follower is one call of Follow.
type follower struct {
	*Source
	*blocksource.Outage
	trail      *blocksource.Trail
	boundaries []boundary
	started    bool           // the first intersection was found
	tip        model.HeightPk // see aim
	yield      func(model.Event, error) bool
}

// boundary is a boundary block of Byron. Nodes roll back to such blocks; core does not store them.
type boundary struct {
	*model.Block
	before model.Point // the tip after a rollback to it
}

// keptBoundaries is the number of boundary blocks to keep, one per epoch: no rollback is longer than an epoch.
const keptBoundaries = 4

// Follow yields the events of the node's chain after the newest known point that the node has. If that is known[0] the
// stream begins with a rollback to it, which ends the search for it. If it is the origin, the node has another chain,
// though on a network with the same magic: the stream then begins with a rollback to the origin, and the consumer has
// to compare the first blocks.
//
// Follow waits for a node that has fewer blocks of the same chain than before. If a node returns without any block of a
// chain that is too long for a fork, it is on another network with the same magic, such as a restarted test network: the
// stream ends with an error of kind Refused, code wrong_chain, and nothing is removed. A rollback that a connected node
// requests is trusted, even to the origin.
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

// followConn yields the events of one connection. done: the stream is complete.
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

// next returns the height after the trail.
func (f *follower) next() model.HeightPk {
	if at := f.trail.Newest(); !at.IsOrigin() {
		return at.Height + 1
	}
	return 0
}

// connect connects and finds the intersection of the node's chain and the trail. It cuts the trail there, and the
// connection continues after it. done: the node is behind, and the source does not wait for it.
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
			break // an idle connection that broke
		}
	}
}

// adoptIntersection cuts the trail to its first n points, which the node has. behind: the rest of the trail may still
// appear on the node's chain; nothing is cut then, except for the first intersection, where the stream begins.
func (f *follower) adoptIntersection(n int, tip ouroboros.Tip) (behind bool, err error) {
	points := f.trail.Points()
	if n == len(points) {
		if !f.started && n > 0 {
			err = f.cut(n) // removes nothing: the node has all points
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
		return false, model.Errorf(model.Refused, "wrong_chain", "%s has another chain, up to block %d (%x): it has no block of the chain up to block %d (%s)",
			f.address, tip.Number, tip.Hash, newest.Height, newest.Hash)
	}
	f.started = true
	f.aim(tip.Number)
	return false, f.cut(n)
}

// aim sets the height up to which the node yields blocks without a pause.
func (f *follower) aim(tip uint64) {
	f.tip = model.HeightPk(min(tip, math.MaxUint32))
	if f.options.To != nil {
		f.tip = min(f.tip, *f.options.To)
	}
}

// cut yields a rollback to the first n points of the trail.
func (f *follower) cut(n int) error {
	f.trail.Cut(n)
	at := f.trail.Newest()
	if !f.yield(model.Event{Rollback: &at, Tip: f.tip}, nil) {
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

// stream yields the events of a connection.
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

// apply yields the events of a batch.
func (f *follower) apply(l *ledger.Linker, n batch) (done bool, err error) {
	for _, h := range n.events {
		f.aim(h.tip)
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

// addBlock yields a block.
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
	if !f.yield(model.Event{Block: b, Tip: f.tip}, nil) {
		return false, errConsumerDone
	}
	return to != nil && b.Height == *to, nil
}

// rollBack yields a rollback to a point of the node.
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
			"%s rolled back to %s, which is not among the blocks that it sent: searching for a common block", f.address, to))
	}
	if n < len(points) {
		if err := f.cut(n); err != nil {
			return err
		}
	}
	l.Tip, l.Boundary = f.trail.Newest(), between
	return nil
}
