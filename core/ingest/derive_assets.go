package ingest

import (
	"fmt"

	"birthmark/core/cache"
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// AssetState is kept between calls of [DeriveAssets] for consecutive blocks.
type AssetState struct {
	Room   Room
	caches *cache.Caches
	last   model.Point
}

// AssetRows are the rows of the assets of blocks which the database already has.
type AssetRows struct {
	layout *schema.Layout
	batch  *Batch
	first  model.UtxoPk
	assets ledger.AssetDeltas
	deltas []*ledger.Deltas
	sums   []schema.BlockSums // nil without the index statistics
}

// DeriveAssets derives the assets of blocks after parent, of which the database has all other rows. l has the rules. r has
// rows of assets up to parent. Errors: bad_block, if the inputs of the blocks are not those of the database;
// block_too_large and [*BatchTooLarge], as [Resolve].
func DeriveAssets(l *schema.Layout, r storage.Reader, parent model.Point, blocks []*model.Block, s *AssetState) (*AssetRows, error) {
	bare := *l
	bare.Indexes, bare.PerBlock, bare.Statistics, bare.SpendIndex, bare.Raw, bare.RawFiles = nil, nil, nil, nil, false, false
	batch, err := NewBatch(&bare, parent, withoutKeys(blocks))
	if err != nil {
		return nil, err
	}
	if s.caches == nil || s.last != parent {
		s.caches = cache.New(0, nil)
	}
	s.last = model.Point{}
	v := resolver{
		Layout: &bare, whole: l, cache: s.caches, batch: batch, r: r, batches: []*Batch{batch}, assetsStored: true, replay: true,
		room: &s.Room,
	}
	if err := v.spendsOfRows(); err != nil {
		return nil, err
	}
	if v.held, err = firstHeld(r, batch); err != nil {
		return nil, err
	}
	if err := v.assetDeltas(); err != nil {
		s.caches = nil // they have assets of some of the blocks
		return nil, err
	}
	s.last = blocks[len(blocks)-1].Point()
	rows := &AssetRows{layout: l, batch: batch, first: FirstPk(l, v.batches), assets: batch.assets}
	if l.Statistics != nil {
		rows.sums = batch.assetSums()
	}
	return rows, rows.holdings(&v)
}

// firstHeld returns the first transaction of the database that has an output with assets; the first one of the batch if
// there is none.
func firstHeld(r storage.Reader, batch *Batch) (model.TxPk, error) {
	for row, err := range r.Scan(schema.FamilyAssets, nil, nil, false) {
		if err != nil {
			return 0, err
		}
		pk, err := model.ParseUtxoPk(row.Key)
		return pk.Tx(), err
	}
	if len(batch.Txs) == 0 {
		return 0, nil
	}
	return batch.Txs[0].pk, nil
}

// withoutKeys returns copies of blocks whose outputs have no values of indexes: the database has them.
func withoutKeys(blocks []*model.Block) []*model.Block {
	txs := func(all []model.Tx) []model.Tx {
		bare := make([]model.Tx, len(all))
		for i := range all {
			bare[i] = all[i]
			bare[i].Raw, bare[i].Outputs = nil, make([]model.Output, len(all[i].Outputs))
			for j := range all[i].Outputs {
				bare[i].Outputs[j].Value = all[i].Outputs[j].Value
			}
		}
		return bare
	}
	copies := make([]*model.Block, len(blocks))
	for i, b := range blocks {
		c := *b
		c.Genesis, c.Txs, c.Place = txs(b.Genesis), txs(b.Txs), nil
		copies[i] = &c
	}
	return copies
}

// spendsOfRows finds the outputs that the inputs of the batch spend in the rows of the database. Only the outputs that
// transactions with a message spend get values.
func (v *resolver) spendsOfRows() error {
	batch := v.batch
	batch.spends = make([]cache.Output, batch.inputs)
	if batch.inputs == 0 {
		return nil
	}
	from, to := batch.Txs[0].pk.AppendTo(nil), v.FirstPk(batch.Blocks[len(batch.Blocks)-1].Height+1).AppendTo(nil)
	n, t := 0, 0
	for row, err := range schema.Rows(v.r, schema.FamilySpentUtxo, from, to, false, schema.ParseSpendRow) {
		if err != nil {
			return err
		}
		for t+1 < len(batch.Txs) && n == batch.Txs[t].spends+len(batch.Txs[t].Inputs) {
			t++
		}
		if n == batch.inputs || row.Input.Tx() != batch.Txs[t].pk {
			return BadBlock(fmt.Errorf("the database has an input %v that the block of the source does not have", row.Input))
		}
		batch.spends[n].Utxo = row.Output
		n++
	}
	if n < batch.inputs {
		return BadBlock(fmt.Errorf("the database has %d inputs of %d", n, batch.inputs))
	}
	var pks []model.UtxoPk
	var at []int
	for i := range batch.Txs {
		if t := &batch.Txs[i]; t.Message != nil {
			for n := t.spends; n < t.spends+len(t.Inputs); n++ {
				pks, at = append(pks, batch.spends[n].Utxo), append(at, n)
			}
		}
	}
	rows, err := v.r.GetMany(schema.FamilyUtxo, schema.Keys(pks))
	if err != nil {
		return err
	}
	for i, row := range rows {
		if batch.spends[at[i]].Value, err = schema.ParseUtxoValue(row); err != nil {
			return fmt.Errorf("output %v: %w", pks[i], err)
		}
	}
	return nil
}

// holdings sets the changes of holdings, for the holders and the values that the rows of outputs have.
func (a *AssetRows) holdings(v *resolver) error {
	type change struct {
		pk      model.UtxoPk
		entries []schema.AssetEntry
		made    bool // else it is spent
	}
	var changes []change
	for i := range a.batch.Txs {
		t := &a.batch.Txs[i]
		for _, s := range a.batch.spends[t.spends : t.spends+len(t.Inputs)] {
			entries := v.stored[s.Utxo].Entries
			if a.batch.contains(s.Utxo) {
				made := a.batch.tx(s.Utxo.Tx())
				entries = schema.Holdings(made.derived.entries(s.Utxo.Index() - int(made.FirstOutput)))
			}
			if len(entries) > 0 {
				changes = append(changes, change{s.Utxo, entries, false})
			}
		}
		if t.derived == nil {
			continue
		}
		for _, o := range t.derived.outputs {
			pk, err := t.pk.Utxo(t.OutputIndex(o.at))
			if err != nil {
				return BadBlock(err)
			}
			if entries := schema.Holdings(o.entries); len(entries) > 0 {
				changes = append(changes, change{pk, entries, true})
			}
		}
	}
	pks := make([]model.UtxoPk, len(changes))
	for i := range changes {
		pks[i] = changes[i].pk
	}
	rows, err := v.r.GetMany(schema.FamilyUtxo, schema.Keys(pks))
	if err != nil {
		return err
	}
	a.assets.DropOutputs()
	for _, x := range a.layout.Indexes {
		if x.Active.Has(schema.FeatureBalance) {
			a.deltas = append(a.deltas, &ledger.Deltas{Index: x, Features: schema.FeatureBalance, Sign: 1})
		}
	}
	holders := a.layout.Holders()
	for i, c := range changes {
		row, err := a.layout.ParseUtxoRow(c.pk, rows[i])
		if err != nil {
			return fmt.Errorf("output %v: %w", c.pk, err)
		}
		sign, held := int64(-1), ledger.OutputAssets{Entries: c.entries}
		held.SetHolder(holders, row.Occurrences)
		if c.made {
			sign = 1
			a.assets.AddOutput(c.pk, &held, 1, 1)
		} else {
			a.assets.AddOutput(c.pk, &held, 0, -1)
		}
		for _, o := range row.Occurrences {
			if d := ledger.DeltasOf(a.deltas, o.Index); d != nil {
				d.AddAssets(o.Birth, c.entries, sign)
			}
		}
	}
	for _, d := range a.deltas {
		d.Sort()
	}
	return nil
}

// Emit writes the rows to b and counts them in t. r is the state before.
func (a *AssetRows) Emit(r storage.Reader, b storage.Batch, t *schema.Totals) error {
	e := emitter{Layout: a.layout, batch: a.batch, b: b, t: t, rows: make([]uint64, a.layout.FamilyCount())}
	for i := range a.batch.Txs {
		if tx := &a.batch.Txs[i]; tx.derived != nil {
			e.derived(tx)
		}
	}
	e.count()
	s := ledger.Applier{Reader: r, Batch: b, Totals: t, NewFrom: a.first, Derived: true, Layout: a.layout}
	if a.sums != nil {
		if err := s.AddAssetSums(a.layout.Statistics, a.sums); err != nil {
			return err
		}
	}
	return s.Apply(&a.assets, a.deltas)
}
