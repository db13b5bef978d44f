package core

import (
	"context"
	"errors"
	"fmt"
	"math"

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
	db.names.era.Add(1)
	defer db.names.era.Add(1)
	err = update(ctx, func(r storage.Reader, b storage.Batch) error {
		u := undo{db: db, r: r, b: b, t: &t, tallies: newTallies(db.catalogue(), -1), work: work}
		if work != nil && work.Index.Building&schema.AccountFeatures != 0 {
			u.coming = &tally{x: work.Index, parts: work.Index.Building, sign: -1}
		}
		for tip != to && u.removed < rows {
			if err := ctx.Err(); err != nil {
				return err
			}
			parent, err := u.block(tip)
			if err != nil {
				return fmt.Errorf("roll back block %d %s: %w", tip.Height, db.chain.FormatHash(tip.Hash), err)
			}
			tip = parent
		}
		standing := settler{r: r, b: b, t: &t, since: math.MaxUint64}
		for _, y := range u.tallies {
			y.sort()
		}
		if err := standing.settle(&u.changes, u.tallies); err != nil {
			return fmt.Errorf("roll back to block %d: %w", tip.Height, err)
		}
		if err := u.unbuild(tip); err != nil {
			return fmt.Errorf("roll back to block %d: index %s: %w", tip.Height, work.Index.Name, err)
		}
		if tip.IsOrigin() {
			b.Delete(schema.FamilyMeta, schema.MetaTip)
		} else {
			b.Put(schema.FamilyMeta, schema.MetaTip, schema.AppendTip(nil, tip))
		}
		b.Put(schema.FamilyMeta, schema.MetaTotals, t.AppendTo(nil))
		if lost = u.lost; f != nil {
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

// undo removes the rows of blocks. What a block wrote is found from its own rows, all of which begin with its height.
type undo struct {
	db      *DB
	r       storage.Reader // before any of the removals
	b       storage.Batch
	t       *schema.Totals
	removed int
	lost    []schema.OrphanRow  // the blocks removed
	changes assetChanges        // in how assets stand
	tallies []*tally            // in how values stand
	work    *schema.IndexChange // what is being added goes back too
	coming  *tally              // of that; nil: no inputs concern it
	height  model.HeightPk      // of the block that is being removed
	rows    blockRows           // that its pointers begin, and
	txKeys  []txKey             // of its transactions, the last first
}

// txKey is the pointer of a transaction and the fingerprint of its outpoints.
type txKey struct {
	pk        model.TxPk
	outpoints fingerprint
}

func (u *undo) remove(f storage.Family, key []byte) {
	u.b.Delete(f, key)
	u.t.Rows[f]--
	u.removed++
}

// block removes the block at tip and returns its parent.
func (u *undo) block(tip model.Point) (model.Point, error) {
	row, err := schema.BlockAt(u.r, tip.Height)
	if err != nil {
		return tip, err
	}
	u.height = tip.Height
	parent, err := u.below(tip.Height)
	if err != nil {
		return tip, err
	}
	first := tip.Height
	if parent.IsOrigin() {
		// The first block takes the genesis with it, which stands at height 0.
		first = 0
		u.t.GenesisTxs, u.t.GenesisOutputs = 0, 0
	}
	u.lost = append(u.lost, schema.OrphanRow{Height: tip.Height, Hash: row.Hash, Time: row.Time})
	u.t.Checksum -= row.Checksum()
	u.remove(schema.FamilyBlock, tip.Height.AppendTo(nil))
	u.remove(schema.FamilyHeight, row.Hash[:])
	from, to := first.First().AppendTo(nil), (tip.Height + 1).First().AppendTo(nil)
	u.rows = readBlockRows(u.r, u.families(), from, to)
	defer u.rows.wait()
	spending := u.readSpends()
	defer spending.wait()
	if err := errors.Join(u.txs(), u.raws(from, to), u.values()); err != nil {
		return tip, err
	}
	spent, err := u.inputs(spending)
	if err != nil {
		return tip, err
	}
	assets, err := u.assets(spent)
	if err != nil {
		return tip, err
	}
	return parent, u.outputs(assets)
}

// families are those whose rows of a block undo reads. Raw transactions are too large to hold: undo.raws scans them.
func (u *undo) families() []storage.Family {
	fs := []storage.Family{schema.FamilySpentUtxo, schema.FamilyTxHash, schema.FamilyUtxo}
	if u.t.Rows[schema.FamilyAssets] > 0 {
		fs = append(fs, schema.FamilyAssets)
	}
	for _, x := range u.db.catalogue().All {
		if (x.Active | x.Building).Has(schema.FeatureValues) {
			fs = append(fs, x.Family(schema.IndexValue))
		}
	}
	return fs
}

// below is the block under h; the origin where there is none.
func (u *undo) below(h model.HeightPk) (model.Point, error) {
	if h == 0 {
		return model.Point{}, nil
	}
	b, err := u.r.Get(schema.FamilyBlock, (h - 1).AppendTo(nil))
	if errors.Is(err, storage.ErrNotFound) {
		return model.Point{}, nil
	}
	if err != nil {
		return model.Point{}, err
	}
	row, err := schema.ParseBlockRow(b)
	return model.Point{Height: h - 1, Hash: row.Hash, Slot: row.Slot}, err
}

// txs removes the transactions of the block. A hash that occurs more than once is left to those before.
func (u *undo) txs() error {
	u.txKeys = u.txKeys[:0]
	for kv, err := range u.rows.of(schema.FamilyTxHash) {
		if err != nil {
			return err
		}
		pk, err := model.ParseTxPk(kv.Key)
		if err != nil {
			return err
		}
		hash, fee, err := schema.ParseTxHashRow(kv.Value)
		if err != nil {
			return err
		}
		u.t.Checksum -= schema.HashChecksum(&hash) + fee.Amount
		u.txKeys = append(u.txKeys, txKey{pk, u.db.cache.fp.outpoints(&hash)})
		u.remove(schema.FamilyTxPk, schema.AppendTxPkKey(nil, &hash, pk))
		u.remove(schema.FamilyTxHash, pk.AppendTo(nil))
	}
	return nil
}

// dropOutput removes an output from the caches. The table of unspent outputs has it by its outpoint or, if inputs name values
// of an index, by that value, which undo.values removes. Outputs come the last first, as txKeys do.
func (u *undo) dropOutput(pk model.UtxoPk) {
	for len(u.txKeys) > 0 && u.txKeys[0].pk > pk.Tx() {
		u.txKeys = u.txKeys[1:]
	}
	var key fingerprint
	if len(u.txKeys) > 0 && u.txKeys[0].pk == pk.Tx() {
		key = u.txKeys[0].outpoints.output(uint32(pk.Index()))
	}
	u.db.cache.dropOutput(key, pk)
}

// raws removes the bytes of the transactions in a range of pointers.
func (u *undo) raws(from, to []byte) error {
	if !u.db.catalogue().Raw {
		return nil
	}
	for kv, err := range u.r.Scan(schema.FamilyRaw, from, to, true) {
		if err != nil {
			return err
		}
		pk, err := model.ParseTxPk(kv.Key)
		if err != nil {
			return err
		}
		u.t.Checksum -= schema.RawChecksum(pk, kv.Value)
		u.remove(schema.FamilyRaw, pk.AppendTo(nil))
	}
	return nil
}
