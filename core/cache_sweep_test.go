package core

import (
	"testing"

	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

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
	db, err := Open(t.Context(), memory.New(), Options{Chain: v.Chain("one"), Keep: v.Keep(), Raw: v.Raw, RawFiles: v.Placed, CacheBytes: caches})
	if err != nil {
		t.Fatal(err)
	}
	return db
}
