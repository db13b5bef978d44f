package core

import (
	"context"
	"fmt"

	"birthmark/core/ingest"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// A write of a rollback removes at least DB.rollbackRows rows, rounded up to whole blocks. If blocks are left after the
// first one and the store supports bulk writes, the next ones remove bulkRollbacks times as many in bulk.
const (
	defaultRollbackRows = 200_000
	bulkRollbacks       = 5
)

// Rollback removes the blocks above to, newest first, in writes of a bounded number of rows. If it is interrupted, the
// database ends at a block in between. The origin removes everything. Errors: unknown_block, bad_value if to is not a
// block of the database's chain.
func (db *DB) Rollback(ctx context.Context, to model.Point) error {
	db.write.Lock()
	defer db.write.Unlock()
	if err := db.ensureStateKnown(ctx); err != nil {
		return err
	}
	return db.rollback(ctx, to, nil)
}

// pointAt is PointAt for the writer: it does not wait for the end of a transit.
func (db *DB) pointAt(ctx context.Context, h model.HeightPk) (p model.Point, err error) {
	err = db.store.View(ctx, func(r storage.Reader) error {
		p, err = schema.PointAt(r, h)
		return err
	})
	return p, err
}

// rollback is Rollback with db.write held; rg is not nil if a source requested it. No batch may be pending.
func (db *DB) rollback(ctx context.Context, to model.Point, rg *reorg) error {
	if !to.IsOrigin() {
		at, err := db.pointAt(ctx, to.Height)
		if err != nil {
			return err
		}
		if at.Hash != to.Hash {
			return model.Errorf(model.Usage, "bad_value", "cannot roll back to block %d %s: the database has %s at that height",
				to.Height, db.Chain().FormatHash(to.Hash), db.Chain().FormatHash(at.Hash))
		}
		to = at
	}
	for first := true; db.Tip() != to; first = false {
		if err := db.removeBlocks(ctx, to, rg, !first); err != nil {
			db.discardPending(ctx)
			return err
		}
	}
	return nil
}

// recording reports whether the store records ordinary updates for replicas, which bulk updates would take out of step.
func (db *DB) recording() bool {
	r, ok := db.store.(interface{ Recording() bool })
	return ok && r.Recording()
}

// removeBlocks removes blocks from the tip down, not below to, in one write, in bulk if the store supports it.
func (db *DB) removeBlocks(ctx context.Context, to model.Point, rg *reorg, inBulk bool) (err error) {
	db.changeMu.Lock()
	defer db.changeMu.Unlock()
	t := db.totals.Clone()
	tip := db.Tip()
	change := db.indexChange.Clone()
	var orphans []schema.OrphanRow
	update, rows := db.store.Update, db.rollbackRows
	if bulk, can := db.store.(storage.BulkUpdater); can && inBulk && !db.recording() {
		update, rows = bulk.UpdateBulk, bulkRollbacks*rows
	}
	db.labels.BeginRollback()
	defer db.labels.EndRollback()
	defer func() { db.cache.EndRollback(err) }()
	err = update(ctx, func(r storage.Reader, b storage.Batch) error {
		u := ingest.NewUndo(db.layout(), db.cache, r, b, &t, change)
		for tip != to && u.Removed < rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			db.cache.BeginRollback(model.UtxoPk(db.layout().FirstPk(tip.Height)))
			parent, err := u.Block(tip)
			if err != nil {
				return fmt.Errorf("roll back block %d %s: %w", tip.Height, db.Chain().FormatHash(tip.Hash), err)
			}
			tip = parent
		}
		if err := u.Finish(tip); err != nil {
			return fmt.Errorf("roll back to block %d: %w", tip.Height, err)
		}
		if tip.IsOrigin() {
			b.Delete(schema.FamilyMeta, schema.MetaTip)
		} else {
			b.Put(schema.FamilyMeta, schema.MetaTip, schema.AppendTip(nil, tip))
		}
		b.Put(schema.FamilyMeta, schema.MetaTotals, t.AppendTo(nil))
		if orphans = u.Orphans; rg != nil {
			return rg.record(r, b, orphans)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if rg != nil {
		rg.depth, rg.to = rg.depth+len(orphans), tip
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.head, db.totals, db.indexChange = tip, t, change
	db.setTip(tip)
	return nil
}
