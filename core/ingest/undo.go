package ingest

import (
	"errors"
	"fmt"
	"math"

	"birthmark/core/cache"
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Undo removes the rows of blocks, from the tip down. It finds them through the block's own rows, whose keys begin with
// its height.
type Undo struct {
	*schema.Layout
	cache       *cache.Caches
	r           storage.Reader // the state before any removal
	b           storage.Batch
	t           *schema.Totals
	Removed     int
	Orphans     []schema.OrphanRow  // the removed blocks
	assetDeltas ledger.AssetDeltas  // changes of asset totals and holdings
	deltas      []*ledger.Deltas    // changes of accounts
	change      *schema.IndexChange // the index change in progress; nil if there is none
	building    *ledger.Deltas      // changes of accounts of the index being added; nil if it has none
	height      model.HeightPk      // of the block being removed
	rows        blockRows           // rows of that block whose keys begin with a pointer
	txKeys      []txKey             // its transactions, last first
	removedSums ledger.RemovedSums  // statistics of the removed blocks

	rules   *Undo // removes the assets of rules that are being added; nil if there are none
	invalid error // of NewUndo
}

// txKey is the pointer of a transaction and the fingerprint of its outpoints.
type txKey struct {
	pk        model.TxPk
	outpoints cache.Fingerprint
}

func (u *Undo) remove(f storage.Family, key []byte) {
	u.b.Delete(f, key)
	u.t.Rows[f]--
	u.Removed++
}

// Block removes the block at tip and returns its parent. Error: unknown_block.
func (u *Undo) Block(tip model.Point) (model.Point, error) {
	if u.invalid != nil {
		return tip, u.invalid
	}
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
		// The first block includes the genesis transactions, which have height 0.
		first = 0
		u.t.GenesisTxs, u.t.GenesisOutputs = 0, 0
		u.cache.BeginRollback(0)
	}
	u.Orphans = append(u.Orphans, schema.OrphanRow{Height: tip.Height, Hash: row.Hash, Time: row.Time})
	u.t.Checksum -= row.Checksum()
	u.remove(schema.FamilyBlock, tip.Height.AppendTo(nil))
	u.remove(schema.FamilyHeight, row.Hash[:])
	if u.has(u.Layout.RawPlaces) { // these rows are not counted
		u.b.Delete(schema.FamilyPlace, tip.Height.AppendTo(nil))
		u.b.Delete(schema.FamilySizes, tip.Height.AppendTo(nil))
	}
	from, to := u.Layout.FirstPk(first).AppendTo(nil), u.Layout.FirstPk(tip.Height+1).AppendTo(nil)
	u.rows = readBlockRows(u.r, u.families(), from, to)
	defer u.rows.wait()
	spending := u.readSpends()
	defer spending()
	if err := errors.Join(u.blockValues(row.Header), u.statistics(schema.DayOf(row.Time)), u.txs(), u.raws(from, to), u.values()); err != nil {
		return tip, err
	}
	spent, err := u.inputs(spending)
	if err != nil {
		return tip, err
	}
	if u.rules != nil && u.change.Covers(u.height) {
		if err := u.rules.onlyAssets(u.height, from, to, spent); err != nil {
			return tip, err
		}
	}
	assets, err := u.assets(spent)
	if err != nil {
		return tip, err
	}
	return parent, u.outputs(assets)
}

// has reports whether an index contains the block that is being removed.
func (u *Undo) has(x *schema.Index) bool {
	return x.Active != 0 || x.Building != 0 && u.change.Covers(u.height)
}

// blockValues removes the rows of the block in indexes of blocks.
func (u *Undo) blockValues(header []byte) error {
	for _, x := range u.Layout.All {
		if x.Kind != model.PerBlock || !u.has(x) {
			continue
		}
		key, err := x.BlocksKey(header, u.height)
		if err != nil {
			return err
		}
		if key != nil {
			u.removeOf(x, schema.IndexBlocks, key)
		}
	}
	return nil
}

// families returns the families that readBlockRows reads. Raw transactions are too large to hold in memory: raws scans
// them.
func (u *Undo) families() []storage.Family {
	fs := []storage.Family{schema.FamilySpentUtxo, schema.FamilyTxHash, schema.FamilyUtxo}
	if u.hasAssets() {
		fs = append(fs, schema.FamilyAssets)
	}
	if u.Traits.Tokens != nil {
		fs = append(fs, schema.FamilyAssetID)
	}
	for _, x := range u.Layout.All {
		if x.Kind.Valid() && (x.Active | x.Building).Has(schema.FeatureValues) {
			fs = append(fs, x.Family(schema.IndexValue))
		}
	}
	return fs
}

// hasAssets reports whether the block can have rows of assets.
func (u *Undo) hasAssets() bool {
	return u.t.Rows[schema.FamilyAssets] > 0 || u.t.Rows[schema.FamilyAssetID] > 0
}

// below returns the block at height h-1; the origin if there is none.
func (u *Undo) below(h model.HeightPk) (model.Point, error) {
	if h == 0 {
		return model.Point{}, nil
	}
	p, err := schema.PointAt(u.r, h-1)
	if kind, _ := model.KindOf(err); kind == model.NotFound {
		return model.Point{}, nil
	}
	return p, err
}

// txs removes the transactions of the block. Earlier transactions with the same hash keep their rows.
func (u *Undo) txs() error {
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
		u.txKeys = append(u.txKeys, txKey{pk, u.cache.Fingerprints.Outpoints(&hash)})
		u.remove(schema.FamilyTxPk, schema.AppendTxPkKey(nil, &hash, pk))
		u.remove(schema.FamilyTxHash, pk.AppendTo(nil))
	}
	return nil
}

// dropOutput removes an output from the caches. Its key in the table of unspent outputs is its outpoint or, if inputs
// refer to values of an index, that value, which values removes. Outputs come last first, like txKeys.
func (u *Undo) dropOutput(pk model.UtxoPk) {
	for len(u.txKeys) > 0 && u.txKeys[0].pk > pk.Tx() {
		u.txKeys = u.txKeys[1:]
	}
	var key cache.Fingerprint
	if len(u.txKeys) > 0 && u.txKeys[0].pk == pk.Tx() {
		key = u.txKeys[0].outpoints.Output(uint32(pk.Index()))
	}
	u.cache.DropOutput(key, pk)
}

// raws removes the raw transactions with from <= pointer < to.
func (u *Undo) raws(from, to []byte) error {
	x, sum := u.Layout.RawTxs, &u.t.RawChecksum
	if x.Building != 0 {
		sum = &u.change.RawChecksum
	}
	if !u.has(x) {
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
		*sum -= schema.RawChecksum(pk, kv.Value)
		u.removeFrom(x.Active != 0, schema.FamilyRaw, pk.AppendTo(nil))
	}
	return nil
}

// NewUndo returns an Undo that reads rows from r, adds deletions to b and updates t. change is the index change in
// progress, or nil; Undo updates its row counts.
func NewUndo(l *schema.Layout, c *cache.Caches, r storage.Reader, b storage.Batch, t *schema.Totals, change *schema.IndexChange) *Undo {
	u := &Undo{Layout: l, cache: c, r: r, b: b, t: t, deltas: ledger.NewDeltas(l, -1), change: change}
	if change != nil && change.Index.Building&schema.SpendFeatures != 0 {
		u.building = &ledger.Deltas{Index: change.Index, Features: change.Index.Building, Sign: -1}
	}
	if change != nil && change.Index.IsRules() && change.Index.Building != 0 {
		var with *schema.Layout
		if with, u.invalid = l.WithRules(); u.invalid == nil {
			u.rules = &Undo{Layout: with, cache: c, r: r, b: b, t: change.Totals(), deltas: ledger.NewDeltas(with, -1)}
		}
	}
	return u
}

// Finish writes the changes of balances and assets, and of the index that is being added. tip is the new tip.
func (u *Undo) Finish(tip model.Point) error {
	s := ledger.Applier{Reader: u.r, Batch: u.b, Totals: u.t, NewFrom: math.MaxUint64, Derived: u.Traits.Tokens != nil}
	for _, d := range u.deltas {
		d.Sort()
	}
	if err := s.Apply(&u.assetDeltas, u.deltas); err != nil {
		return err
	}
	if err := u.removeStatistics(); err != nil {
		return err
	}
	if u.rules != nil {
		if err := u.rules.finishAssets(); err != nil {
			return fmt.Errorf("assets %s: %w", u.change.Index.Name, err)
		}
		u.change.SetTotals(u.rules.t)
	}
	if err := u.undoBuilding(tip); err != nil {
		return fmt.Errorf("index %s: %w", u.change.Index.Name, err)
	}
	return nil
}
