package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
)

func (p *program) assetEventsCommand() *cli.Command {
	return listCommand(p, cli.Command{
		Name:      "asset-events",
		Usage:     "list the mints and burns of an asset",
		ArgsUsage: "ID|FINGERPRINT",
		Flags:     slices.Concat(command.RangeFlags(), command.OrderedPageFlags("events")),
	}, func(r *request) (*query.AssetEventsAnswer, error) {
		return r.queries.AssetEvents(r.ctx, r.arg(0), r.blocks, r.page)
	}, showAssetEvents, func(a *query.AssetEventsAnswer) ([]query.AssetEventAnswer, *string) { return a.Events, a.Next })
}

func showAssetEvents(p *terminal.Page, a *query.AssetEventsAnswer) {
	p.Fields("asset", terminal.Green(a.Asset), "name", p.AssetName(a.Asset))
	p.Heading("mints and burns")
	p.IfNone(len(a.Events), "none")
	columns := []string{"block", "what", "amount", "transaction"}
	terminal.Table(p, a.Events, columns, func(_ int, e query.AssetEventAnswer) terminal.Cells {
		what := terminal.Green(e.Action)
		if e.Action == "burn" {
			what = terminal.Yellow(e.Action)
		}
		return terminal.Cells{e.Height, what, p.AssetAmount(a.Asset, e.Amount), e.Tx}
	})
	p.More(a.Next)
}
