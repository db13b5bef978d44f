package core

import (
	"context"
	"time"

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
				return g.flush(ctx)
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

	// meeting: the source has not yet said anything we do not have. The rollback it may begin with then only says
	// where it looks for the place where its chain and ours part: what both have is skipped, and nothing is undone
	// before a block that differs has come. So a source that is behind us, or looks far back, costs nothing. One that
	// says it has our tip has met us: it goes back only where its chain does.
	meeting bool
	tip     model.Point // of the database, while meeting
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
		if g.meeting {
			g.meeting = *e.Rollback != g.tip
			return nil
		}
		if err := g.flush(ctx); err != nil {
			return err
		}
		return g.goBack(ctx, *e.Rollback)
	}
	b := e.Block
	if g.meeting {
		had, err := g.meet(ctx, b)
		if had || err != nil {
			return err
		}
	}
	weight, size := b.Weight(), int64(b.Size)
	if g.db.raw {
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

// meet reports whether the database has b already. Where it has another block at b's height it goes back below that.
func (g *gatherer) meet(ctx context.Context, b *model.Block) (had bool, err error) {
	if g.tip.IsOrigin() || b.Height > g.tip.Height {
		g.meeting = false
		return false, nil
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
		return true, nil
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
	return false, g.goBack(ctx, below)
}

func (g *gatherer) goBack(ctx context.Context, to model.Point) error {
	done := make(chan struct{})
	if err := send(ctx, g.windows, job{rollback: &to, done: done}); err != nil {
		return err
	}
	select {
	case <-done:
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
