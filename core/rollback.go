package core

import (
	"context"
	"errors"
	"fmt"
	"math"

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
	t := db.totals.clone()
	tip := db.Tip()
	work := db.work.clone()
	var lost []lostRow
	update, rows, err := db.removing(ctx, to)
	if err != nil {
		return err
	}
	db.names.era.Add(1)
	defer db.names.era.Add(1)
	err = update(ctx, func(r storage.Reader, b storage.Batch) error {
		u := undo{db: db, r: r, b: b, t: &t, tallies: newTallies(db.catalogue(), -1), work: work}
		if work != nil && work.x.coming&partAccounts != 0 {
			u.coming = &tally{x: work.x, parts: work.x.coming, sign: -1}
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
			return fmt.Errorf("roll back to block %d: index %s: %w", tip.Height, work.x.Name, err)
		}
		if tip.IsOrigin() {
			b.Delete(familyMeta, metaTip)
		} else {
			b.Put(familyMeta, metaTip, appendTip(nil, tip))
		}
		b.Put(familyMeta, metaTotals, t.appendTo(nil))
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
	all, txs := uint64(0), db.totals.rows[familyTxHash]
	for _, n := range db.totals.rows {
		all += n
	}
	from := to.Height + 1
	if to.IsOrigin() {
		from = 0
	}
	err = db.store.View(ctx, func(r storage.Reader) error {
		for kv, err := range r.Scan(familyBlock, from.AppendTo(nil), nil, true) {
			if err != nil {
				return err
			}
			b, err := parseBlockRow(kv.Value)
			if err != nil {
				return err
			}
			if rows += int(uint64(b.txCount) * all / max(1, txs)); rows >= enough {
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
	t       *totals
	removed int
	lost    []lostRow      // the blocks removed
	changes assetChanges   // in how assets stand
	tallies []*tally       // in how values stand
	work    *indexWork     // what is being added goes back too
	coming  *tally         // of that; nil: no inputs concern it
	height  model.HeightPk // of the block that is being removed
	rows    blockRows      // that its pointers begin, and
	txKeys  []txKey        // of its transactions, the last first
}

// txKey is the pointer of a transaction and the fingerprint of its outpoints.
type txKey struct {
	pk        model.TxPk
	outpoints fingerprint
}

func (u *undo) remove(f storage.Family, key []byte) {
	u.b.Delete(f, key)
	u.t.rows[f]--
	u.removed++
}

// block removes the block at tip and returns its parent.
func (u *undo) block(tip model.Point) (model.Point, error) {
	row, err := blockAt(u.r, tip.Height)
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
		u.t.genesisTxs, u.t.genesisOutputs = 0, 0
	}
	u.lost = append(u.lost, lostRow{height: tip.Height, hash: row.hash, time: row.time})
	u.t.checksum -= row.checksum()
	u.remove(familyBlock, tip.Height.AppendTo(nil))
	u.remove(familyHeight, row.hash[:])
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
	fs := []storage.Family{familySpentUtxo, familyTxHash, familyUtxo}
	if u.t.rows[familyAssets] > 0 {
		fs = append(fs, familyAssets)
	}
	for _, x := range u.db.catalogue().all {
		if (x.live | x.coming).has(partValues) {
			fs = append(fs, x.family(indexValue))
		}
	}
	return fs
}

// below is the block under h; the origin where there is none.
func (u *undo) below(h model.HeightPk) (model.Point, error) {
	if h == 0 {
		return model.Point{}, nil
	}
	b, err := u.r.Get(familyBlock, (h - 1).AppendTo(nil))
	if errors.Is(err, storage.ErrNotFound) {
		return model.Point{}, nil
	}
	if err != nil {
		return model.Point{}, err
	}
	row, err := parseBlockRow(b)
	return model.Point{Height: h - 1, Hash: row.hash, Slot: row.slot}, err
}

// txs removes the transactions of the block. A hash that occurs more than once is left to those before.
func (u *undo) txs() error {
	u.txKeys = u.txKeys[:0]
	for kv, err := range u.rows.of(familyTxHash) {
		if err != nil {
			return err
		}
		pk, err := model.ParseTxPk(kv.Key)
		if err != nil {
			return err
		}
		hash, fee, err := parseTxHashRow(kv.Value)
		if err != nil {
			return err
		}
		u.t.checksum -= hashChecksum(&hash) + fee.Amount
		u.txKeys = append(u.txKeys, txKey{pk, u.db.cache.fp.outpoints(&hash)})
		u.remove(familyTxPk, appendTxPkKey(nil, &hash, pk))
		u.remove(familyTxHash, pk.AppendTo(nil))
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
	if !u.db.catalogue().raw {
		return nil
	}
	for kv, err := range u.r.Scan(familyRaw, from, to, true) {
		if err != nil {
			return err
		}
		pk, err := model.ParseTxPk(kv.Key)
		if err != nil {
			return err
		}
		u.t.checksum -= rawChecksum(pk, kv.Value)
		u.remove(familyRaw, pk.AppendTo(nil))
	}
	return nil
}
