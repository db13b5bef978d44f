package core

import (
	"context"
	"fmt"
	"time"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// keepSnapshot writes a snapshot of the caches, if one is due.
func (s *syncer) keepSnapshot() error {
	every := snapshotEvery
	if s.db.cache.Complete() {
		every = min(firstSyncSnapshots, max(firstSnapshot, time.Since(s.began)/2))
	}
	if time.Since(s.lastSnapshot) < max(every, snapshotFraction*s.snapshotTook) {
		return nil
	}
	started := time.Now()
	if err := s.db.keepSnapshot(); err != nil {
		return err
	}
	s.lastSnapshot, s.snapshotTook = time.Now(), time.Since(started)
	return nil
}

// inBulk reports whether a batch is written in bulk: if its rows are worth a table per family, or if the memory has no
// room for larger batches.
func (s *syncer) inBulk(j *job) bool {
	if _, can := s.db.store.(storage.BulkUpdater); !can || s.o.BulkWeight < 0 {
		return false
	}
	if s.db.recording() && j.blocks[0].Height >= s.target {
		return false // replicas need the updates at the tip
	}
	weight := j.batch.Weight()
	return weight >= s.o.BulkWeight || weight >= s.o.BulkWeight/leastBulk && 2*j.bytes >= s.o.BatchBytes
}

// commit writes batches. After it reaches the source's initial tip, it sends the number of transactions written in
// bulk.
func (s *syncer) commit(ctx context.Context, caughtUp chan<- int) error {
	for j := range s.resolved {
		started := time.Now()
		if j.rollback != nil {
			if err := s.rollback(ctx, *j.rollback, j.transit); err != nil {
				return err
			}
		}
		if j.done != nil {
			close(j.done)
			continue
		}
		bulk := s.inBulk(&j)
		if err := s.db.commit(ctx, j.batch, bulk, s.caughtUp.Load()); err != nil {
			return err
		}
		if bulk {
			s.bulkTxs += len(j.batch.Txs)
		} else if s.db.Tip().Height >= s.target {
			s.sendCaughtUp(caughtUp)
		}
		s.meter.busy(stageWrite, started)
		s.meter.wrote(j.blocks)
		s.endReorg()
	}
	return nil
}

// richestEvery is how often a sync that follows its source completes the lists of the largest balances.
const richestEvery = time.Minute

// complete compacts the store and builds the lists of the largest balances after the sync has caught up: at its end, or
// concurrently with new blocks if it follows the source. written is closed when no blocks follow.
func (s *syncer) complete(ctx context.Context, caughtUp <-chan int, written <-chan struct{}) error {
	select {
	case bulkTxs := <-caughtUp:
		if err := s.compact(ctx, bulkTxs); err != nil {
			return err
		}
	case <-ctx.Done():
		return nil
	}
	for last := false; ; {
		if err := s.db.completeRichest(ctx, s.o.Log, s.meter.compacts); err != nil || last {
			return err
		}
		select {
		case <-written:
			last = true
		case <-time.After(richestEvery):
		case <-ctx.Done():
			return nil
		}
	}
}

// compact compacts a database most of which this sync has written in bulk; others are compacted as they grow.
func (s *syncer) compact(ctx context.Context, bulkTxs int) error {
	c, can := s.db.store.(storage.Compactor)
	s.db.mu.Lock()
	all := s.db.totals.Rows[schema.FamilyTxHash]
	s.db.mu.Unlock()
	if !can || bulkTxs == 0 || 2*uint64(bulkTxs) < all {
		return nil
	}
	started := time.Now()
	s.o.Log.Info("compacting the database (safe to interrupt)")
	s.meter.compacts(true)
	err := c.Compact(ctx)
	s.meter.compacts(false)
	if err == nil {
		s.o.Log.Info("compacted the database", "took", time.Since(started))
	}
	return err
}

func (s *syncer) rollback(ctx context.Context, to model.Point, transit bool) error {
	if transit {
		s.db.beginTransit()
	}
	if s.reorg == nil || s.reorg.depth == 0 {
		s.reorg = &reorg{began: time.Now(), from: s.db.Tip()}
	}
	if err := s.db.rollback(ctx, to, s.reorg); err != nil {
		return fmt.Errorf("follow the source back to block %d: %w", to.Height, err)
	}
	s.meter.rolledBack(to.Height)
	return nil
}

// endReorg logs the reorganization in progress, if any. It ends when the first batch of the new branch is written, or
// when the sync ends without one.
func (s *syncer) endReorg() {
	s.db.endTransit()
	f, tip, hash := s.reorg, s.db.Tip(), s.db.Chain().FormatHash
	s.reorg = nil
	if f == nil || f.depth == 0 {
		return
	}
	s.o.Log.Info("fork", "depth", f.depth, "old_tip", f.from.Height, "old_tip_hash", hash(f.from.Hash),
		"ancestor", f.to.Height, "ancestor_hash", hash(f.to.Hash), "new_tip", tip.Height, "new_tip_hash", hash(tip.Hash),
		"took", time.Since(f.began))
}
