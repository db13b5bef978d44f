package core

import (
	"maps"
	"reflect"
	"testing"

	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// A rollback removes exactly the cache entries of the blocks that it removes, without scanning a whole table.
func TestARollbackRemovesItsOwnCacheEntries(t *testing.T) {
	for _, v := range modeltest.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			blocks := v.NewGenerator(testseed.Of(t, 572)).Blocks(40)
			db := openVariant(t, v, 8<<20)
			if err := db.Append(t.Context(), blocks); err != nil {
				t.Fatal(err)
			}
			db.cache.OnSweep = func() { t.Error("a rollback read a whole table") }
			for _, last := range []int{38, 30, 2} {
				first := schema.PkAfter(blocks[last].Point())
				want := db.cache.Entries()
				for _, entries := range want {
					maps.DeleteFunc(entries, func(_ any, pk model.UtxoPk) bool { return pk >= first })
				}
				if err := db.Rollback(t.Context(), blocks[last].Point()); err != nil {
					t.Fatal(err)
				}
				if got := db.cache.Entries(); !reflect.DeepEqual(got, want) {
					t.Errorf("after a rollback to block %d the tables have %v, expected %v", last, got, want)
				}
			}
		})
	}
}

// After a failed append, the caches are swept by scanning whole tables. The sweep does not hold the lock that Tip
// takes.
func TestSweepingCachesHoldsNoLock(t *testing.T) {
	v := modeltest.Variants()[1]
	blocks := v.NewGenerator(testseed.Of(t, 573)).Blocks(12)
	db := openVariant(t, v, 8<<20)
	if err := db.Append(t.Context(), blocks[:10]); err != nil {
		t.Fatal(err)
	}
	sweeps := 0
	db.cache.OnSweep = func() {
		sweeps++
		if !db.mu.TryLock() {
			t.Fatal("the lock that Tip takes is held while whole tables are read")
		}
		db.mu.Unlock()
	}
	if err := db.Append(t.Context(), blocks[11:]); err == nil {
		t.Fatal("a block whose parent is missing was appended")
	}
	if sweeps != 1 {
		t.Errorf("%d sweeps after a failed append, expected 1", sweeps)
	}
}

func openVariant(t testing.TB, v modeltest.Variant, caches int64) *DB {
	t.Helper()
	db, err := Open(t.Context(), memory.New(), Options{Chain: v.Chain("one"), Keep: v.Keep(), Raw: v.Raw, CacheBytes: caches})
	if err != nil {
		t.Fatal(err)
	}
	return db
}
