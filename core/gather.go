package core

import (
	"context"
	"slices"
	"time"

	"birthmark/core/schema"
	"birthmark/model"
)

const (
	// lull is how long a source may be silent before an unfinished window is written: what is at the tip should be seen.
	lull = 20 * time.Millisecond

	// patience is the same below the source's tip. There it is silent because it is slow or the processors are busy, and
	// small windows would make those busier: each has a table in every family, to be merged with all others.
	patience = time.Second

	// longest is how long a window may be in the making, however slow the source: what was read should not be lost.
	longest = 10 * time.Second
)

// gather puts blocks together to windows: as large as they may be while the source has more, what there is when it
// pauses.
func (s *syncer) gather(ctx context.Context) error {
	g := gatherer{syncer: s, part: firstPart, meeting: true, tip: s.db.Tip()}
	pause := time.NewTimer(lull)
	defer pause.Stop()
	for {
		pause.Reset(g.wait())
		select {
		case e, ok := <-s.events:
			if !ok {
				if err := g.flush(ctx); err != nil || !g.ended {
					return err
				}
				return g.undo(ctx)
			}
			if err := g.add(ctx, e); err != nil {
				return err
			}
		case <-pause.C:
			if err := g.flush(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// firstPart makes the first window an eighth of the largest, the next a quarter: the stages behind need not wait for so
// much to be read.
const firstPart = 8

type gatherer struct {
	*syncer
	blocks []*model.Block
	weight int
	bytes  int64
	began  time.Time // when the first of blocks came
	part   int       // of the largest window that this one may be

	// meeting: blocks that the database has are skipped, and nothing is removed from it before a block comes that it
	// does not have.
	//
	// A sync begins so. The rollback that the source may begin with only means where it looks for the database's
	// chain: a source that ends before a block differs is behind, and removes nothing. Once it has the database's
	// tip, it has met.
	//
	// A later rollback means that the source's chain has changed. If it may end below the block where the chains part,
	// shared is set: the blocks above are removed when a block differs or the source ends.
	meeting bool
	tip     model.Point  // of the database, while meeting
	shared  *model.Point // the newest block that both chains are known to have
}

// wait is how long to wait for the next block.
func (g *gatherer) wait() time.Duration {
	n := len(g.blocks)
	if n == 0 || g.blocks[n-1].Height >= g.target {
		return lull
	}
	return max(0, min(patience, longest-time.Since(g.began)))
}

func (g *gatherer) add(ctx context.Context, e model.Event) error {
	if e.Rollback != nil {
		return g.rollback(ctx, *e.Rollback)
	}
	b := e.Block
	if g.meeting {
		had, err := g.meet(ctx, b)
		if had || err != nil {
			return err
		}
	}
	weight, size := b.Weight(), int64(b.Size)
	if g.db.catalogue().Raw {
		size *= 2 // its rows have all of it
	}
	if len(g.blocks) > 0 && (g.weight+weight > g.o.WindowWeight/g.part || g.bytes+size > g.o.WindowBytes/int64(g.part)) {
		if err := g.flush(ctx); err != nil {
			return err
		}
		g.part = max(1, g.part/2)
	}
	if len(g.blocks) == 0 {
		g.began = time.Now()
	}
	g.blocks = append(g.blocks, b)
	g.weight += weight
	g.bytes += size
	return nil
}

// exact reports whether the source goes back to the very block where its chain and the database's part. It compares the
// points of the locator, which thin out, and those that it has yielded: between two of the locator it cannot know.
func (g *gatherer) exact(to model.Point) bool {
	i := slices.Index(g.known, to)
	if to.IsOrigin() {
		i = len(g.known)
	}
	if i <= 0 {
		return true
	}
	return g.known[i-1].Height <= schema.HeightAfter(to)
}

// rollback goes back to a point, or begins to look for the block above it where the chains part.
func (g *gatherer) rollback(ctx context.Context, to model.Point) error {
	if g.meeting && g.shared == nil {
		g.meeting = to != g.tip
		return nil
	}
	if err := g.flush(ctx); err != nil {
		return err
	}
	if g.exact(to) {
		g.meeting, g.shared = false, nil
		return g.after(ctx, job{rollback: &to})
	}
	if err := g.after(ctx, job{}); err != nil { // the database has all blocks that came before
		return err
	}
	g.meeting, g.tip, g.shared = true, g.db.Tip(), &to
	return nil
}

// undo removes the blocks that the source does not have, after it went back, and ends the meeting.
func (g *gatherer) undo(ctx context.Context) error {
	to := g.shared
	g.meeting, g.shared = false, nil
	if to == nil {
		return nil
	}
	return g.after(ctx, job{rollback: to})
}

// meet reports whether the database has b already. If it has another block at b's height, the blocks from there on
// are removed.
func (g *gatherer) meet(ctx context.Context, b *model.Block) (had bool, err error) {
	if g.tip.IsOrigin() || b.Height > g.tip.Height {
		return false, g.undo(ctx)
	}
	at, err := g.db.PointAt(ctx, b.Height)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		// Below where our chain begins: it is another one altogether.
		at, err = model.Point{}, nil
	}
	if err != nil {
		return false, err
	}
	if at.Hash == b.Hash {
		if g.shared != nil {
			g.shared = &at
		}
		return true, nil
	}
	if g.shared != nil {
		return false, g.undo(ctx)
	}
	g.meeting = false
	below := model.Point{}
	if b.Height > 0 {
		if below, err = g.db.PointAt(ctx, b.Height-1); err != nil {
			if kind, _ := model.KindOf(err); kind != model.NotFound {
				return false, err
			}
			below = model.Point{}
		}
	}
	if below.IsOrigin() {
		hash := g.db.chain.FormatHash
		return false, model.Errorf(model.Refused, "wrong_chain", "the source has another chain: its first block is %s, the database's is %s", hash(b.Hash), hash(at.Hash))
	}
	return false, g.after(ctx, job{rollback: &below})
}

// after returns when j, and all before it, is done.
func (g *gatherer) after(ctx context.Context, j job) error {
	j.done = make(chan struct{})
	if err := send(ctx, g.windows, j); err != nil {
		return err
	}
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (g *gatherer) flush(ctx context.Context) error {
	if len(g.blocks) == 0 {
		return nil
	}
	j := job{blocks: g.blocks}
	g.blocks, g.weight, g.bytes = nil, 0, 0
	return send(ctx, g.windows, j)
}
