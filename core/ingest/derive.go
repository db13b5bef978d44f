package ingest

import (
	"birthmark/core/cache"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Tokens is the state of derived assets between calls of [Derive].
type Tokens = cache.Tokens

// Derive adds the rows of blocks to b, except the changes of balances and assets. r must contain the rows of parent and
// of the blocks before it, and no later ones with keys or births that are pointers; numbers in meta and totals may be
// those of later blocks. t, which may be nil, has the state of derived assets after the last call, for its parent.
func Derive(l *schema.Layout, r storage.Reader, parent model.Point, blocks []*model.Block, b storage.Batch, t *Tokens) error {
	batch, err := NewBatch(l, parent, blocks)
	if err != nil {
		return err
	}
	batches := []*Batch{batch}
	first, c := FirstPk(l, batches), cache.New(0, l.Indexes)
	c.Pin(first)
	v := resolver{Layout: l, cache: c, batch: batch, r: r, batches: batches, assetsStored: true, replay: true, room: &Room{}}
	if t != nil {
		c.Tokens = *t
	}
	err = v.run()
	if t != nil {
		*t = c.Tokens
	}
	if err != nil {
		return err
	}
	totals := schema.Totals{Rows: map[storage.Family]uint64{}}
	for _, s := range batch.spends {
		if s.Utxo < first {
			totals.UnspentValue += s.Value // spends subtract it
		}
	}
	e := emitter{Layout: l, batch: batch, b: b, t: &totals, rows: make([]uint64, l.FamilyCount())}
	return e.emit()
}
