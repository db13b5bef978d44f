package core_test

import (
	"context"
	"testing"

	"birthmark/core"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// The number of cache lookups depends on the chain only. The number of hits also depends on the cache size.
func TestCachesAreCounted(t *testing.T) {
	variants(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 5)).Blocks(60)
		large, small := open(t, memory.New(), v, 8<<20), open(t, memory.New(), v, 0)
		for _, db := range []*core.DB{large, small} {
			for _, c := range measured(t, db).Caches {
				if c.Lookups != 0 || c.Hits != 0 {
					t.Errorf("before the first block: %+v", c)
				}
			}
			appendAll(t, db, blocks, 7)
		}
		status, err := large.Status(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		knew := map[string]uint64{}
		for _, c := range measured(t, large).Caches {
			if c.Hits > c.Lookups || c.Lookups == 0 && c.Name != "owners" && c.Name != "runs" {
				t.Errorf("%+v", c)
			}
			if c.Name == "outputs" && (c.Lookups != status.Totals.Inputs || c.Hits != c.Lookups) {
				t.Errorf("%+v, expected all of %d inputs", c, status.Totals.Inputs)
			}
			knew[c.Name] = c.Hits
		}
		for _, c := range measured(t, small).Caches {
			if c.Hits > c.Lookups || c.Hits > knew[c.Name] || c.Name == "outputs" && c.Lookups != status.Totals.Inputs {
				t.Errorf("without memory: %+v, with memory %d hits", c, knew[c.Name])
			}
			if c.Name == "values" && c.Hits >= knew[c.Name] {
				t.Errorf("the number of hits is the same without memory: %+v", c)
			}
		}
	})
}

func TestAStoreInMemoryHasNoMetrics(t *testing.T) {
	v := modeltest.Variants()[0]
	if m := measured(t, open(t, memory.New(), v, 0)); len(m.Store) != 0 || len(m.Caches) != 5 {
		t.Errorf("%+v", m)
	}
	if m := measured(t, open(t, openRocks(t, t.TempDir(), true), v, 0)); len(m.Store) == 0 {
		t.Error("a store on disk has no metrics")
	}
}

func measured(t *testing.T, db *core.DB) core.Stats {
	t.Helper()
	m, err := db.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return m
}
