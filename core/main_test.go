package core_test

import (
	"testing"

	"birthmark/core"
	"birthmark/core/ledger"
	"birthmark/internal/testrun"
)

func TestMain(m *testing.M) {
	// Rich lists are cut, end and are built again in chains of a few blocks.
	ledger.Richest = ledger.RichestSizes{Least: 4, Kept: 8, Most: 16, Reads: 6}
	core.SetRichestPart(7)
	testrun.Main(m)
}
