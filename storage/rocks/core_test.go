package rocks_test

import (
	"testing"

	"birthmark/core/coretest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
	"birthmark/storage"
)

// Databases on RocksDB equal those in memory, with the log, and in bulk without it. Each way is tested with a few
// variants of a chain: TestStore compares all ways with a model, and core tests every variant in memory.
func TestDatabases(t *testing.T) {
	all := modeltest.Variants()
	for name, variants := range map[string][]modeltest.Variant{"WAL": all[:2], "bulk, at times": all[2:]} {
		if testing.Short() && name == "WAL" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			way := ways[name]
			if !testing.Short() {
				coretest.Run(t, func(t *testing.T) storage.Store { return way(t, testrun.TempDir(t)) }, variants...)
			}
			coretest.RunPersistent(t, way, variants...)
		})
	}
}

func TestTheBaselineHasTheSameRows(t *testing.T) {
	testrun.Slow(t)
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		blocks := v.NewGenerator(testseed.Of(t, 20)).Blocks(20)
		s := ways["naive"](t, testrun.TempDir(t))
		defer s.Close()
		db := coretest.Open(t, s, v, 0)
		coretest.AppendAll(t, db, blocks, 1)
		coretest.Same(t, "on the baseline", coretest.Dump(t, db), coretest.Fresh(t, v, blocks))
		coretest.Consistent(t, db)
	})
}
