package core

import (
	"context"
	"slices"

	"birthmark/core/ingest"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Append writes a batch of blocks, which must be consecutive children of the tip, atomically with the new tip. It does
// nothing if blocks is empty. Errors name the block: bad_block, unknown_output, already_spent, unknown_asset;
// block_too_large if the derived assets of a block need more memory than there is ([Options.Room]); open_again if an
// earlier change of the indexes failed; outdated_values, see [model.Reviser].
func (db *DB) Append(ctx context.Context, blocks []*model.Block) error {
	db.write.Lock()
	defer db.write.Unlock()
	if len(blocks) == 0 {
		return nil
	}
	if err := db.ensureStateKnown(ctx); err != nil {
		return err
	}
	if err := db.ensureRevision(ctx); err != nil {
		return err
	}
	batch, err := db.prepare(ctx, blocks, 0)
	if err == nil {
		err = db.commit(ctx, batch, batch.Weight() >= DefaultBulkWeight, false)
	}
	if err != nil {
		db.discardPending(ctx)
	}
	return err
}

// commit writes the oldest pending batch, in bulk if that is requested and the store supports it. atTip: even then it
// reads the balances that it changes, so that lists of the largest ones stay exact. After an error of commit or prepare
// the caller must call discardPending.
func (db *DB) commit(ctx context.Context, batch *ingest.Batch, inBulk, atTip bool) error {
	t := db.totals.Clone()
	tip := batch.Blocks[len(batch.Blocks)-1].Point()
	update := db.store.Update
	if bulk, can := db.store.(storage.BulkUpdater); can && inBulk {
		update = bulk.UpdateBulk
	}
	err := update(ctx, func(r storage.Reader, b storage.Batch) error {
		if atTip {
			b = struct{ storage.Batch }{b} // not a storage.SumsBatch
		}
		if err := ingest.WriteRows(db.layout(), batch, r, b, &t, &db.active); err != nil {
			return err
		}
		b.Put(schema.FamilyMeta, schema.MetaTip, schema.AppendTip(nil, tip))
		b.Put(schema.FamilyMeta, schema.MetaTotals, t.AppendTo(nil))
		return nil
	})
	if err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.totals = t
	db.setTip(tip)
	db.pending = db.pending[1:]
	return nil
}

// prepare assigns pointers to the blocks and resolves their inputs and values. The returned batch is pending until it
// is committed. entries is the maximum number of derived asset entries of several blocks; 0: no limit. After an error the
// caller must call discardPending when no other prepare or commit is running. Error: [*ingest.BatchTooLarge], if the
// blocks have too many entries.
func (db *DB) prepare(ctx context.Context, blocks []*model.Block, entries int) (*ingest.Batch, error) {
	db.mu.Lock()
	head, batches := db.head, slices.Clone(db.pending)
	assets := db.totals.Rows[schema.FamilyAssets] > 0
	db.mu.Unlock()

	batch, err := ingest.NewBatch(db.layout(), head, blocks)
	if err == nil {
		batches = append(batches, batch)
		db.cache.Pin(ingest.FirstPk(db.layout(), batches))
		// The pending batches are copied before the snapshot is taken: a batch that is committed in between is seen
		// twice, but never missed.
		err = db.store.View(ctx, func(r storage.Reader) error {
			if err := ingest.CheckHeaders(db.Chain(), r, batches); err != nil {
				return err
			}
			db.room.Batch = entries
			return ingest.Resolve(db.layout(), db.cache, r, batches, assets, &db.room)
		})
	}
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.pending = append(db.pending, batch)
	db.head = blocks[len(blocks)-1].Point()
	return batch, nil
}

// discardPending discards all pending batches after an error. The state of the store and of the caches is unknown until
// ensureStateKnown reads it. No prepare or commit may be running.
func (db *DB) discardPending(ctx context.Context) {
	db.mu.Lock()
	db.pending, db.head = nil, db.tip
	db.mu.Unlock()
	db.stateUnknown = true
	_ = db.ensureStateKnown(context.WithoutCancel(ctx)) // on failure, the next write calls it again and returns its error
}

// ensureStateKnown reads the tip and the totals again if they are unknown: a failed write may have been applied, for
// example if only making it durable failed. It removes the cache entries above the tip: entries of batches that were
// not written, and of blocks that a failed rollback removed. It does not hold db.mu while it reads.
func (db *DB) ensureStateKnown(ctx context.Context) error {
	if db.reopenRequired {
		return model.Errorf(model.Refused, "open_again", "an earlier change failed, and may be written although this process has other data in memory: open the database again")
	}
	if !db.stateUnknown {
		return nil
	}
	if err := db.reloadState(ctx); err != nil {
		return err
	}
	db.cache.DropFrom(db.layout().PkAfter(db.Tip()))
	db.stateUnknown = false
	return nil
}
