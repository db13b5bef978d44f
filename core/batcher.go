package core

import (
	"context"
	"slices"
	"time"

	"birthmark/core/schema"
	"birthmark/model"
)

const (
	// idleFlush is how long a source may pause before an unfinished batch is written, so that blocks at the tip appear
	// soon.
	idleFlush = 20 * time.Millisecond

	// catchUpFlush is the same below the source's tip. There, a source pauses because it is slow or the CPU is busy, and
	// small batches would add work: each creates a table per family that must be compacted.
	catchUpFlush = time.Second

	// maxBatchAge is the maximum age of an unfinished batch: it bounds the work that a crash loses.
	maxBatchAge = 10 * time.Second
)

// batch collects blocks into batches. Batches are as large as the limits allow while the source has more blocks, and
// are written early when it pauses.
func (s *syncer) batch(ctx context.Context) error {
	b := batcher{syncer: s, cost: batchCost(s.db.layout()), fraction: firstFraction, locating: true, tip: s.db.Tip()}
	pause := time.NewTimer(idleFlush)
	defer pause.Stop()
	for {
		if len(b.blocks) > 0 || b.undo != nil {
			pause.Reset(b.wait())
		} else { // an idle process does not wake up
			pause.Stop()
		}
		select {
		case e, ok := <-s.events:
			if !ok {
				if err := b.flush(ctx); err != nil || !b.ended {
					return err
				}
				if err := b.rollBackToShared(ctx); err != nil {
					return err
				}
				return b.flush(ctx)
			}
			if err := b.add(ctx, e); err != nil {
				return err
			}
		case <-pause.C:
			if err := b.flush(ctx); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// firstFraction limits the first batch to an eighth of the maximum size and the next one to a quarter, so that the
// later stages start early.
const firstFraction = 8

// blockCost is the unit of batcher.cost: the memory of a batch is proportional to the size of its blocks.
const blockCost = 4

// batchCost returns what a batch with a block of blockCost bytes needs in the same unit. The rows of raw transactions
// repeat the block; the changes of accounts need about a quarter of it per index.
func batchCost(l *schema.Layout) int64 {
	cost := int64(blockCost)
	if l.Raw {
		cost += blockCost
	}
	for _, x := range l.Indexes {
		if x.Active&schema.SpendFeatures != 0 {
			cost++
		}
	}
	return cost
}

type batcher struct {
	*syncer
	cost     int64 // see batchCost
	blocks   []*model.Block
	weight   int
	bytes    int64
	began    time.Time // time of the first block
	fraction int       // the batch may use 1/fraction of the size limits

	// locating: until the first block that the database does not have, blocks that it has are skipped and nothing is
	// removed.
	//
	// Every sync starts in this state. An initial rollback of the source only states where the source starts: a source
	// that ends before a block differs is behind, and removes nothing. The state ends when the source reaches the
	// database's tip.
	//
	// A later rollback means that the source's chain has changed. If it may end below the fork point, shared is set:
	// the blocks above shared are removed when a block differs or the source ends.
	locating bool
	tip      model.Point  // of the database, during locating
	shared   *model.Point // the newest block that both chains are known to share

	ahead model.HeightPk // the source's tip at its last event; 0: unknown
	undo  *model.Point   // a rollback that is written with the next batch; nil: none
}

// wait returns how long to wait for the next block after the last one, or after a rollback.
func (b *batcher) wait() time.Duration {
	n := len(b.blocks)
	switch {
	case n > 0 && b.blocks[n-1].Height >= max(b.target, b.ahead):
		return idleFlush
	case n == 0 || b.blocks[n-1].Height >= b.target: // the source has more, which appear together
		return max(0, maxBatchAge-time.Since(b.began))
	}
	return max(0, min(catchUpFlush, maxBatchAge-time.Since(b.began)))
}

func (b *batcher) add(ctx context.Context, e model.Event) error {
	b.ahead = e.Tip
	if e.Rollback != nil {
		return b.rollback(ctx, *e.Rollback)
	}
	block := e.Block
	if block.Height > b.target {
		b.fraction = 1
	}
	if b.locating {
		had, err := b.matchExisting(ctx, block)
		if had || err != nil {
			return err
		}
	}
	weight, size := block.Weight(), int64(block.Size)*b.cost/blockCost
	if len(b.blocks) > 0 && (b.weight+weight > b.o.BatchWeight/b.fraction || b.bytes+size > b.o.BatchBytes/int64(b.fraction)) {
		if err := b.flush(ctx); err != nil {
			return err
		}
		b.fraction = max(1, b.fraction/2)
	}
	if len(b.blocks) == 0 && b.undo == nil {
		b.began = time.Now()
	}
	b.blocks = append(b.blocks, block)
	b.weight += weight
	b.bytes += size
	return nil
}

// exact reports whether the source rolls back to the fork point itself. A source compares only the points of the
// locator and the points that it has yielded; between two points of the locator, which become sparser with depth, the
// fork point is unknown.
func (b *batcher) exact(to model.Point) bool {
	i := slices.Index(b.known, to)
	if to.IsOrigin() {
		i = len(b.known)
	}
	if i <= 0 {
		return true
	}
	return b.known[i-1].Height <= schema.HeightAfter(to)
}

// rollback rolls back to a point, or starts the search for the fork point above it.
func (b *batcher) rollback(ctx context.Context, to model.Point) error {
	if b.locating && b.shared == nil {
		b.locating = to != b.tip
		return nil
	}
	if b.undo != nil && len(b.blocks) == 0 {
		b.undo = nil // this one removes more
	} else if err := b.flush(ctx); err != nil {
		return err
	}
	if b.exact(to) {
		b.locating, b.shared = false, nil
		if b.ahead > to.Height {
			b.undo, b.began = &to, time.Now()
			return nil
		}
		return b.after(ctx, job{rollback: &to})
	}
	if err := b.after(ctx, job{}); err != nil { // the database contains all earlier blocks
		return err
	}
	b.locating, b.tip, b.shared = true, b.db.Tip(), &to
	return nil
}

// rollBackToShared removes the blocks that the source does not have, after a rollback, and ends locating.
func (b *batcher) rollBackToShared(ctx context.Context) error {
	to := b.shared
	b.locating, b.shared = false, nil
	if to == nil {
		return nil
	}
	if b.ahead > to.Height {
		b.undo, b.began = to, time.Now()
		return nil
	}
	return b.after(ctx, job{rollback: to})
}

// matchExisting reports whether the database already has a block. If it has another one at that height, it removes the
// blocks from there on. Error: wrong_chain if the chains share no block.
func (b *batcher) matchExisting(ctx context.Context, block *model.Block) (had bool, err error) {
	if b.tip.IsOrigin() || block.Height > b.tip.Height {
		return false, b.rollBackToShared(ctx)
	}
	at, err := b.pointAt(ctx, block.Height)
	if err != nil {
		return false, err
	}
	if at.Hash == block.Hash {
		if b.shared != nil {
			b.shared = &at
		}
		return true, nil
	}
	if b.shared != nil {
		return false, b.rollBackToShared(ctx)
	}
	b.locating = false
	below := model.Point{}
	if block.Height > 0 {
		if below, err = b.pointAt(ctx, block.Height-1); err != nil {
			return false, err
		}
	}
	if below.IsOrigin() {
		hash := b.db.Chain().FormatHash
		return false, model.Errorf(model.Refused, "wrong_chain", "the source has another chain: its first block is %s, the database's is %s", hash(block.Hash), hash(at.Hash))
	}
	b.undo, b.began = &below, time.Now()
	return false, nil
}

// pointAt returns the database's block at height h; the origin below its first block.
func (b *batcher) pointAt(ctx context.Context, h model.HeightPk) (model.Point, error) {
	p, err := b.db.PointAt(ctx, h)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		return model.Point{}, nil
	}
	return p, err
}

// after sends j and returns when it and all earlier jobs are done.
func (b *batcher) after(ctx context.Context, j job) error {
	j.done = make(chan struct{})
	if err := send(ctx, b.batches, j); err != nil {
		return err
	}
	select {
	case <-j.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *batcher) flush(ctx context.Context) error {
	if to := b.undo; to != nil {
		b.undo = nil
		if err := b.after(ctx, job{rollback: to, transit: len(b.blocks) > 0}); err != nil {
			return err
		}
	}
	if len(b.blocks) == 0 {
		return nil
	}
	j := job{blocks: b.blocks, bytes: b.bytes}
	b.blocks, b.weight, b.bytes = nil, 0, 0
	return send(ctx, b.batches, j)
}
