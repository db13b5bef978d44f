package cli

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query/search"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
	"birthmark/model"
)

func (p *program) searchCommand() *cli.Command {
	return queryCommand(p, cli.Command{
		Name:      "search",
		Usage:     "find what a text names: a block, transaction, output, address or asset",
		ArgsUsage: "TEXT",
	}, func(r *request) (*search.Results, error) {
		a, err := search.Of(r.ctx, r.db.Queries, r.db.Chain(), r.arg(0), nil)
		if err == nil && len(a.Results) == 0 {
			err = model.Errorf(model.NotFound, "no_results", "no results for %q: expected a height, a hash, an output TXHASH:N, "+
				"an address or another value of an index, or an asset", a.Query)
		}
		return a, err
	}, showSearch)
}

func showSearch(p *terminal.Page, a *search.Results) {
	terminal.Table(p, a.Results, []string{"type", "value", "block", "note"}, func(_ int, r search.Result) terminal.Cells {
		kind, note := r.Type, terminal.Foreign(r.Name)
		switch {
		case r.Index != "":
			kind = r.Index
		case r.Amount != "":
			note = p.Amount(r.Amount)
		}
		if r.Height == nil {
			note = "never used"
		} else if r.Type == search.Value || r.Type == search.Asset {
			note = "first seen in block " + humanize.Count(*r.Height)
			if r.Name != "" {
				note = terminal.Foreign(r.Name) + ", " + note
			}
		}
		return terminal.Cells{kind, terminal.Green(r.Value), r.Height, note}
	})
	if a.Partial {
		p.Printf("\nThere can be more results: write more of the text.\n")
	}
}
