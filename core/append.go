package core

import (
	"context"

	"birthmark/core/ingest"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Append writes a window of blocks, children of the tip in order: all of it and the new tip, or, with an error that
// names the block, nothing. A window of no blocks is nothing to do.
func (db *DB) Append(ctx context.Context, blocks []*model.Block) error {
	db.write.Lock()
	defer db.write.Unlock()
	if len(blocks) == 0 {
		return nil
	}
	if err := db.settle(ctx); err != nil {
		return err
	}
	w, err := db.prepare(ctx, blocks)
	if err == nil {
		err = db.commit(ctx, w, DefaultBulkWeight)
	}
	if err != nil {
		db.abandon(ctx)
	}
	return err
}

// commit writes w, the oldest pending window, in bulk where it holds so much. After an error abandon must be called, as
// after one of prepare.
func (db *DB) commit(ctx context.Context, w *ingest.Batch, bulkWeight int) error {
	t := db.totals.Clone()
	tip := w.Blocks[len(w.Blocks)-1].Point()
	update := db.store.Update
	if db.inBulk(w, bulkWeight) {
		update = db.store.(storage.BulkUpdater).UpdateBulk
	}
	err := update(ctx, func(r storage.Reader, b storage.Batch) error {
		if err := ingest.WriteRows(db.catalogue(), w, r, b, &t); err != nil {
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
	db.move(tip)
	db.pending = db.pending[1:]
	return nil
}

// inBulk reports whether a window is written in bulk: where the store can, and it holds so much. A negative weight is never
// reached.
func (db *DB) inBulk(w *ingest.Batch, bulkWeight int) bool {
	_, can := db.store.(storage.BulkUpdater)
	return can && bulkWeight >= 0 && w.Weight() >= bulkWeight
}

// prepare gives the blocks their pointers and resolves what they refer to. The window it returns is pending until it
// is committed. After an error it is not, and abandon must be called once nothing else is under way.
func (db *DB) prepare(ctx context.Context, blocks []*model.Block) (*ingest.Batch, error) {
	db.mu.Lock()
	head, before := db.head, append([]*ingest.Batch(nil), db.pending...)
	assets := db.totals.Rows[schema.FamilyAssets] > 0
	db.mu.Unlock()

	w, err := ingest.NewBatch(db.catalogue(), head, blocks)
	if err == nil {
		db.cache.Pin(ingest.FirstPk(before, w))
		// The pending windows are taken before the snapshot: one that is committed in between is seen twice, never missed.
		err = db.store.View(ctx, func(r storage.Reader) error {
			if err := ingest.CheckHeaders(db.chain, r, before, w); err != nil {
				return err
			}
			return ingest.Resolve(db.catalogue(), db.cache, w, r, before, assets)
		})
	}
	if err != nil {
		return nil, err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.pending = append(db.pending, w)
	db.head = blocks[len(blocks)-1].Point()
	return w, nil
}

// abandon discards all pending windows after something failed. The state of the store and of the caches is in doubt until
// settle has read it. Nothing may be preparing or committing.
func (db *DB) abandon(ctx context.Context) {
	db.mu.Lock()
	db.pending, db.head = nil, db.tip
	db.mu.Unlock()
	db.doubt = true
	_ = db.settle(context.WithoutCancel(ctx)) // if it fails, the next write calls it again and returns its error
}

// settle reads tip and totals again if they are in doubt: a write that failed may have been applied all the same, if it
// failed while it was made durable. It removes from the caches what lies above the tip that it reads: entries of windows
// that were not written, and of blocks that a failed rollback did remove. It does not hold db.mu meanwhile.
func (db *DB) settle(ctx context.Context) error {
	if db.stale {
		return model.Errorf(model.Refused, "open_again", "a change of the database's indexes failed, and may have been made all the same: open the database again")
	}
	if !db.doubt {
		return nil
	}
	if err := db.recall(ctx); err != nil {
		return err
	}
	db.cache.DropFrom(schema.PkAfter(db.Tip()))
	db.doubt = false
	return nil
}
