package ingest

import (
	"birthmark/core/cache"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Derive adds the rows of blocks to b, except the changes of balances and assets. r must contain the rows of parent and
// of the blocks before it, and no later ones.
func Derive(l *schema.Layout, r storage.Reader, parent model.Point, blocks []*model.Block, b storage.Batch) error {
	batch, err := NewBatch(l, parent, blocks)
	if err != nil {
		return err
	}
	batches := []*Batch{batch}
	first, c := FirstPk(batches), cache.New(0, l.Indexes)
	c.Pin(first)
	if err := Resolve(l, c, r, batches, true); err != nil {
		return err
	}
	t := schema.Totals{Rows: map[storage.Family]uint64{}}
	for _, s := range batch.spends {
		if s.Utxo < first {
			t.UnspentValue += s.Value // spends subtract it
		}
	}
	e := emitter{Layout: l, batch: batch, b: b, t: &t, rows: make([]uint64, l.FamilyCount())}
	return e.emit()
}
