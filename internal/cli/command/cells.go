package command

import (
	"fmt"

	"birthmark/core/query"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

// TipCell returns the tip as the value of a field.
func TipCell(tip *query.TipAnswer) any {
	if tip == nil {
		return terminal.Yellow("none: no block was synced yet")
	}
	return fmt.Sprintf("%s  %s  %s", humanize.Count(tip.Height), tip.Hash, humanize.Clock(tip.Time))
}
