package core_test

import (
	"context"
	"testing"

	"birthmark/core/coretest"
	"birthmark/internal/testrun"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/rocks/rockstest"
)

type (
	dumped   = coretest.Dumped
	declared = coretest.Declared
)

var (
	openRocks  = rockstest.Open
	open       = coretest.Open
	consistent = coretest.Consistent
	appendAll  = coretest.AppendAll
	rollback   = coretest.Rollback
	dump       = coretest.Dump
	same       = coretest.Same
	fresh      = coretest.Fresh
	prefixes   = coretest.Prefixes
	variants   = modeltest.Each
	point      = coretest.Point
	amount     = testrun.Amount
	damages    = coretest.Damages
	update     = coretest.Update
	rowsOf     = coretest.RowsOf
)

// stores returns functions that create each kind of store, by name. With -short there is only the store in memory:
// package storetest tests that all stores behave alike.
func stores() map[string]func(t testing.TB) storage.Store {
	stores := map[string]func(t testing.TB) storage.Store{
		"memory": func(testing.TB) storage.Store { return memory.New() },
	}
	if !testing.Short() {
		stores["rocks"] = func(t testing.TB) storage.Store { return openRocks(t, t.TempDir(), true) }
		stores["rocks in bulk"] = func(t testing.TB) storage.Store { return inBulk{openRocks(t, t.TempDir(), true)} }
	}
	return stores
}

// inBulk is a store whose updates are all bulk updates.
type inBulk struct{ storage.Store }

func (s inBulk) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.Store.(storage.BulkUpdater).UpdateBulk(ctx, fn)
}
