package core_test

import (
	"birthmark/core/coretest"
	"birthmark/internal/testrun"
	"birthmark/model/modeltest"
)

type (
	inBulk = coretest.InBulk
	dumped = coretest.Dumped
)

var (
	stores     = coretest.Stores
	openRocks  = coretest.OpenRocks
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
)
