package core

import (
	"context"
	"fmt"

	"birthmark/core/ingest"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// rollbackRows is how many rows one write of a rollback removes at the least before it ends with a block. Where so many are
// left to be removed they are in bulk, if the store can, and rollbacksInBulk times as many at once.
var rollbackRows = 200_000

const rollbacksInBulk = 5

// Rollback removes the blocks above to, newest first, in writes of a bounded number of rows: whatever interrupts it,
// the database ends at some block. The origin removes everything. To must be a block of the database's chain.
func (db *DB) Rollback(ctx context.Context, to model.Point) error {
	db.write.Lock()
	defer db.write.Unlock()
	if err := db.settle(ctx); err != nil {
		return err
	}
	return db.rollback(ctx, to, nil)
}

// rollback is Rollback with db.write held, on behalf of a source where f is not nil. Nothing may be pending.
func (db *DB) rollback(ctx context.Context, to model.Point, f *fork) error {
	if !to.IsOrigin() {
		at, err := db.PointAt(ctx, to.Height)
		if err != nil {
			return err
		}
		if at.Hash != to.Hash {
			return model.Errorf(model.Usage, "bad_value", "cannot roll back to block %d %s: the database has %s at that height",
				to.Height, db.chain.FormatHash(to.Hash), db.chain.FormatHash(at.Hash))
		}
		to = at
	}
	for db.Tip() != to {
		if err := db.removeBlocks(ctx, to, f); err != nil {
			db.abandon(ctx)
			return err
		}
	}
	return nil
}

// removeBlocks removes blocks from the tip down, not below to, in one write.
func (db *DB) removeBlocks(ctx context.Context, to model.Point, f *fork) error {
	db.building.Lock()
	defer db.building.Unlock()
	t := db.totals.Clone()
	tip := db.Tip()
	work := db.work.Clone()
	var lost []schema.OrphanRow
	update, rows, err := db.removing(ctx, to)
	if err != nil {
		return err
	}
	db.labels.BeginRollback()
	defer db.labels.EndRollback()
	err = update(ctx, func(r storage.Reader, b storage.Batch) error {
		u := ingest.NewUndo(db.catalogue(), db.cache, r, b, &t, work)
		for tip != to && u.Removed < rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			parent, err := u.Block(tip)
			if err != nil {
				return fmt.Errorf("roll back block %d %s: %w", tip.Height, db.chain.FormatHash(tip.Hash), err)
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
		if lost = u.Orphans; f != nil {
			return f.remember(r, b, lost)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if f != nil {
		f.depth, f.to = f.depth+len(lost), tip
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	db.head, db.totals, db.work = tip, t, work
	db.move(tip)
	return nil
}

// removing is how the next write removes blocks, not below to, and how many rows it removes at the least.
func (db *DB) removing(ctx context.Context, to model.Point) (update func(context.Context, func(storage.Reader, storage.Batch) error) error, rows int, err error) {
	bulk, can := db.store.(storage.BulkUpdater)
	if !can {
		return db.store.Update, rollbackRows, nil
	}
	left, err := db.rowsAbove(ctx, to, rollbackRows)
	if err != nil || left < rollbackRows {
		return db.store.Update, rollbackRows, err
	}
	return bulk.UpdateBulk, rollbacksInBulk * rollbackRows, nil
}

// rowsAbove is about how many rows the blocks above to have, by their transactions; enough and more where it is more.
func (db *DB) rowsAbove(ctx context.Context, to model.Point, enough int) (rows int, err error) {
	all, txs := uint64(0), db.totals.Rows[schema.FamilyTxHash]
	for _, n := range db.totals.Rows {
		all += n
	}
	from := to.Height + 1
	if to.IsOrigin() {
		from = 0
	}
	err = db.store.View(ctx, func(r storage.Reader) error {
		for kv, err := range r.Scan(schema.FamilyBlock, from.AppendTo(nil), nil, true) {
			if err != nil {
				return err
			}
			b, err := schema.ParseBlockRow(kv.Value)
			if err != nil {
				return err
			}
			if rows += int(uint64(b.TxCount) * all / max(1, txs)); rows >= enough {
				break
			}
		}
		return nil
	})
	return rows, err
}
