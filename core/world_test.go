package core_test

import (
	"birthmark/core/coretest"
	"birthmark/internal/testrun"
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
	variants   = coretest.Variants
	point      = coretest.Point
	rounds     = testrun.Rounds
)
