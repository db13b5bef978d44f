package ingest_test

import (
	"testing"

	"birthmark/core/coretest"
	"birthmark/internal/testrun"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
)

type dumped = coretest.Dumped

var (
	open       = coretest.Open
	consistent = coretest.Consistent
	appendAll  = coretest.AppendAll
	rollback   = coretest.Rollback
	dump       = coretest.Dump
	same       = coretest.Same
	fresh      = coretest.Fresh
	amount     = testrun.Amount
)

func TestMain(m *testing.M) { testrun.Main(m) }

// The rows are a function of the chain, whatever the batches and the caches, and a rollback undoes an append.
func TestRowsAreAFunctionOfTheChain(t *testing.T) {
	coretest.RunRows(t, func(*testing.T) storage.Store { return memory.New() })
}

func kind(err error) model.ErrorKind {
	if err == nil {
		return 255
	}
	k, _ := model.KindOf(err)
	return k
}
