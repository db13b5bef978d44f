package cache_test

import (
	"context"
	"maps"
	"reflect"
	"testing"

	"birthmark/core/cache"
	"birthmark/core/ingest"
	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// TestRollbackRemovesItsCacheEntries tests that a rollback removes exactly the cache entries of the blocks that it
// removes, without scanning a whole table.
func TestRollbackRemovesItsCacheEntries(t *testing.T) {
	for _, v := range modeltest.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			layout, err := schema.NewLayout(v.Chain("one"), nil, v.Keep(), v.Raw, false)
			if err != nil {
				t.Fatal(err)
			}
			s, totals := memory.New(), schema.Totals{Rows: map[storage.Family]uint64{}}
			if err := s.Declare(layout.Declarations()...); err != nil {
				t.Fatal(err)
			}
			c := cache.New(8<<20, layout.Indexes)
			c.StartEmpty()
			c.OnSweep = func() { t.Error("a rollback scanned a whole table") }
			blocks := v.NewGenerator(testseed.Of(t, 572)).Blocks(40)
			write(t, s, func(r storage.Reader, b storage.Batch) error {
				w, err := ingest.NewBatch(layout, model.Point{}, blocks)
				if err != nil {
					return err
				}
				batches := []*ingest.Batch{w}
				c.Pin(ingest.FirstPk(layout, batches))
				if err := ingest.Resolve(layout, c, r, batches, true, &ingest.Room{}); err != nil {
					return err
				}
				return ingest.WriteRows(layout, w, r, b, &totals, new(ledger.Active))
			})
			tip := blocks[39].Point()
			for _, last := range []int{38, 30, 2} {
				first := layout.PkAfter(blocks[last].Point())
				want := c.Entries()
				for _, entries := range want {
					maps.DeleteFunc(entries, func(_ any, pk model.UtxoPk) bool { return pk >= first })
				}
				write(t, s, func(r storage.Reader, b storage.Batch) (err error) {
					u := ingest.NewUndo(layout, c, r, b, &totals, nil)
					for tip != blocks[last].Point() && err == nil {
						tip, err = u.Block(tip)
					}
					if err != nil {
						return err
					}
					return u.Finish(tip)
				})
				if got := c.Entries(); !reflect.DeepEqual(got, want) {
					t.Errorf("after a rollback to block %d the tables have %v, expected %v", last, got, want)
				}
			}
		})
	}
}

func write(t *testing.T, s storage.Store, fn func(storage.Reader, storage.Batch) error) {
	t.Helper()
	if err := s.Update(context.Background(), fn); err != nil {
		t.Fatal(err)
	}
}
