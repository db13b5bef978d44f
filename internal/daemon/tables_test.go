package daemon

import (
	"slices"
	"testing"

	"birthmark/core/export"
	"birthmark/internal/config"
)

// The settings accept the tables that there are.
func TestTheSettingsHaveTheTablesOfAnExport(t *testing.T) {
	if !slices.Equal(config.ExportTables, export.Tables) {
		t.Errorf("the settings accept %q, an export has %q", config.ExportTables, export.Tables)
	}
}
