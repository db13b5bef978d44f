package core

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

// rollbackRows is how many rows one write of a rollback removes at the least before it ends with a block.
var rollbackRows = 200_000

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
	err := db.store.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		u := undo{db: db, r: r, b: b, t: &t, tallies: db.newTallies(-1), work: work}
		if work != nil && work.x.coming&partAccounts != 0 {
			u.coming = &tally{x: work.x, parts: work.x.coming, sign: -1}
		}
		for tip != to && u.removed < rollbackRows {
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
	db.cache.forgetFrom(behind(tip))
	db.tip, db.head, db.totals, db.work = tip, tip, t, work
	return nil
}

// undo removes the rows of blocks. What a block wrote is found from its own rows, all of which begin with its height.
type undo struct {
	db      *DB
	r       storage.Reader // before any of the removals
	b       storage.Batch
	t       *totals
	removed int
	lost    []lostRow    // the blocks removed
	changes assetChanges // in how assets stand
	tallies []*tally     // in how values stand
	work    *indexWork   // what is being added goes back too
	coming  *tally       // of that; nil: no inputs concern it
	height  model.HeightPk
}

func (u *undo) remove(f storage.Family, key []byte) {
	u.b.Delete(f, key)
	u.t.rows[f]--
	u.removed++
}

// removeOf removes a row of an index, which may be one that is being added.
func (u *undo) removeOf(x *index, which storage.Family, key []byte) {
	if x.live.has(partOf(which)) {
		u.remove(x.family(which), key)
		return
	}
	u.b.Delete(x.family(which), key)
	u.work.rows[x.family(which)]--
	u.removed++
}

// tallyOf are the tallies that an occurrence in the block under way concerns.
func (u *undo) tallyOf(x *index) []*tally {
	var ts []*tally
	if y := tallyOf(u.tallies, x); y != nil {
		ts = append(ts, y)
	}
	if u.coming != nil && u.coming.x == x && u.work.has(u.height) {
		ts = append(ts, u.coming)
	}
	return ts
}

// unbuild takes back what is being added of the blocks that are gone, down to tip.
func (u *undo) unbuild(tip model.Point) error {
	if u.work == nil {
		return nil
	}
	if u.coming != nil {
		u.coming.sort()
		t := totals{rows: u.work.rows}
		if err := (&settler{r: u.r, b: u.b, t: &t, since: math.MaxUint64}).tally(u.coming); err != nil {
			return err
		}
	}
	if u.work.has(tip.Height + 1) {
		u.work.tip = tip
	}
	u.work.clean = min(u.work.clean, behind(tip))
	u.b.Put(familyMeta, metaWork, u.work.appendTo(nil))
	return nil
}

// block removes the block at tip and returns its parent.
func (u *undo) block(tip model.Point) (model.Point, error) {
	row, err := u.db.blockAt(u.r, tip.Height)
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
	if err := errors.Join(u.txs(from, to), u.raws(from, to)); err != nil {
		return tip, err
	}
	spent, err := u.inputs(from, to)
	if err != nil {
		return tip, err
	}
	assets, err := u.assets(from, to, spent)
	if err != nil {
		return tip, err
	}
	return parent, u.outputs(from, to, assets)
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

// txs removes the transactions in a range of pointers. A hash that occurs more than once is left to those before.
func (u *undo) txs(from, to []byte) error {
	for kv, err := range u.r.Scan(familyTxHash, from, to, true) {
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
		u.remove(familyTxPk, appendTxPkKey(nil, &hash, pk))
		u.remove(familyTxHash, pk.AppendTo(nil))
	}
	return nil
}

// undoneSpend is an input that is removed, and the output that is unspent again.
type undoneSpend struct {
	input  model.InputPk
	utxo   model.UtxoPk
	owners []occurrence
}

func (u *undo) inputs(from, to []byte) ([]undoneSpend, error) {
	var spends []undoneSpend
	var utxos [][]byte
	for kv, err := range u.r.Scan(familySpentUtxo, from, to, true) {
		if err != nil {
			return nil, err
		}
		input, err := model.ParseInputPk(kv.Key)
		if err != nil {
			return nil, err
		}
		utxo, err := model.ParseUtxoPk(kv.Value)
		if err != nil {
			return nil, err
		}
		spends, utxos = append(spends, undoneSpend{input: input, utxo: utxo}), append(utxos, utxo.AppendTo(nil))
	}
	rows, err := u.r.GetMany(familyUtxo, utxos)
	if err != nil {
		return nil, err
	}
	for i := range spends {
		s := &spends[i]
		row, err := u.db.parseUtxoRow(s.utxo, rows[i])
		if err != nil {
			return nil, fmt.Errorf("output %v that input %v spends: %w", s.utxo, s.input, err)
		}
		s.owners = row.occurrences
		for _, o := range s.owners {
			for _, y := range u.tallyOf(o.index) {
				y.spend(o.birth, s.input.Tx(), s.utxo, row.value)
			}
		}
		u.t.unspentValue += row.value
		u.remove(familySpentUtxo, s.input.AppendTo(nil))
		u.remove(familySpentInput, utxos[i])
	}
	return spends, nil
}

// outputs removes the outputs in a range of pointers; assets are those that they hold.
func (u *undo) outputs(from, to []byte, assets map[model.UtxoPk]held) error {
	holders := u.db.holders()
	born := map[*index][][]byte{}
	for kv, err := range u.r.Scan(familyUtxo, from, to, true) {
		if err != nil {
			return err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return err
		}
		row, err := u.db.parseUtxoRow(pk, kv.Value)
		if err != nil {
			return fmt.Errorf("output %v: %w", pk, err)
		}
		for _, o := range row.occurrences {
			for _, y := range u.tallyOf(o.index) {
				y.make(o.birth, pk, row.value)
				y.hold(o.birth, assets[pk].entries, 1)
			}
			if o.born(pk) {
				// A birth stands for its own occurrence and has no relation: every later occurrence lies after it in
				// the chain, so it is gone already or going.
				born[o.index] = append(born[o.index], o.birth.AppendTo(nil, o.index.Kind.Wide()))
			} else {
				u.removeOf(o.index, indexRelations, appendRelationKey(nil, o.index, o.birth, pk))
			}
		}
		if h, found := assets[pk]; found {
			h.own(holders, row.occurrences)
			u.changes.move(pk, &h, -1, -1)
		}
		u.t.unspentValue -= row.value
		u.t.checksum -= row.value
		u.remove(familyUtxo, pk.AppendTo(nil))
	}
	for _, x := range u.db.all {
		if err := u.forgetValues(x, born[x]); err != nil {
			return fmt.Errorf("index %s: %w", x.Name, err)
		}
	}
	return nil
}

// forgetValues removes values that were born in what is removed, and what leads to them.
func (u *undo) forgetValues(x *index, births [][]byte) error {
	if len(births) == 0 {
		return nil
	}
	values, err := u.r.GetMany(x.family(indexValue), births)
	if err != nil {
		return err
	}
	texts := x.live.has(partPrefix) || x.coming.has(partPrefix) && u.work.has(u.height)
	for i, birth := range births {
		if values[i] == nil {
			return fmt.Errorf("birth %x has no value", birth)
		}
		u.removeOf(x, indexValue, birth)
		u.removeOf(x, indexBirth, appendBirthKey(nil, values[i], birth))
		if texts {
			u.removeOf(x, indexText, appendTextKey(nil, &x.Index, values[i], birth))
		}
	}
	return nil
}

// forgetAssets removes assets that were born in what is removed, and where they were born.
func (u *undo) forgetAssets(births [][]byte) error {
	ids, err := u.r.GetMany(familyAssetID, births)
	if err != nil {
		return err
	}
	for i, birth := range births {
		if ids[i] == nil {
			return fmt.Errorf("birth %x has no value", birth)
		}
		u.remove(familyAssetID, birth)
		u.remove(familyAssetBirth, appendBirthKey(nil, ids[i], birth))
	}
	return nil
}

// assets removes the asset entries in a range of pointers, and what was minted and burned there, and returns what was
// removed.
func (u *undo) assets(from, to []byte, spends []undoneSpend) (map[model.UtxoPk]held, error) {
	if u.t.rows[familyAssets] == 0 {
		return nil, nil
	}
	// Whatever a transaction mints comes out of it, whatever it burns goes into it.
	touched := map[model.TxPk][]model.AssetBirthPk{}
	removed := map[model.UtxoPk]held{}
	var born [][]byte
	for kv, err := range u.r.Scan(familyAssets, from, to, true) {
		if err != nil {
			return nil, err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return nil, err
		}
		entries, err := parseAssetsRow(pk, kv.Value)
		if err != nil {
			return nil, fmt.Errorf("assets of output %v: %w", pk, err)
		}
		removed[pk] = held{entries: entries}
		for i, e := range entries {
			at := model.AssetPk{Utxo: pk, Index: uint16(i)}
			if e.birth == model.AssetBirthPk(at) {
				born = append(born, e.birth.AppendTo(nil))
			} else {
				u.remove(familyAssetRelations, appendAssetRelationKey(nil, e.birth, at))
			}
			touched[pk.Tx()] = append(touched[pk.Tx()], e.birth)
			u.t.checksum -= e.amount
		}
		u.t.assets -= uint64(len(entries))
		u.remove(familyAssets, pk.AppendTo(nil))
	}
	utxos := make([]model.UtxoPk, len(spends))
	for i, s := range spends {
		utxos[i] = s.utxo
	}
	spent, err := readHeld(u.db, u.r, utxos)
	if err != nil {
		return nil, err
	}
	for _, s := range spends {
		h := spent[s.utxo]
		u.changes.move(s.utxo, &h, 0, 1)
		for _, o := range s.owners {
			for _, y := range u.tallyOf(o.index) {
				y.hold(o.birth, h.entries, -1)
			}
		}
		for _, e := range h.entries {
			touched[s.input.Tx()] = append(touched[s.input.Tx()], e.birth)
		}
	}
	if err := u.supply(touched); err != nil {
		return nil, err
	}
	if err := u.names(born); err != nil {
		return nil, err
	}
	return removed, u.forgetAssets(born)
}

// supply removes what transactions minted and burned of the assets that they touch.
func (u *undo) supply(touched map[model.TxPk][]model.AssetBirthPk) error {
	var keys [][]byte
	var assets []model.AssetBirthPk
	for tx, births := range touched {
		slices.SortFunc(births, compareAssetBirths)
		for _, birth := range slices.Compact(births) {
			keys, assets = append(keys, appendSupplyKey(nil, birth, tx)), append(assets, birth)
		}
	}
	there, err := u.r.GetMany(familyAssetSupply, keys)
	if err != nil {
		return err
	}
	for i, key := range keys {
		if there[i] == nil {
			continue
		}
		amount, err := parseSupplyRow(there[i])
		if err != nil {
			return fmt.Errorf("supply of the asset born at %v: %w", assets[i], err)
		}
		u.changes.mint(assets[i], amount, -1)
		u.remove(familyAssetSupply, key)
	}
	return nil
}

// names removes the fingerprints of assets that are forgotten, and what was said of them.
func (u *undo) names(births [][]byte) error {
	infos, err := u.r.GetMany(familyAssetInfo, births)
	if err != nil {
		return err
	}
	for i, info := range infos {
		if info != nil {
			u.t.checksum -= infoChecksum(info)
			u.remove(familyAssetInfo, births[i])
		}
	}
	fp := u.db.traits.Fingerprint
	if fp == nil {
		return nil
	}
	ids, err := u.r.GetMany(familyAssetID, births)
	if err != nil {
		return err
	}
	for i, id := range ids {
		if id == nil {
			return fmt.Errorf("asset born at %x has no id", births[i])
		}
		u.remove(familyFingerprint, fp.Of(id))
	}
	return nil
}

func compareAssetBirths(a, b model.AssetBirthPk) int {
	if a.Utxo != b.Utxo {
		if a.Utxo < b.Utxo {
			return -1
		}
		return 1
	}
	return int(a.Index) - int(b.Index)
}
