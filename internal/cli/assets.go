package cli

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) assetsCommand() *cli.Command {
	return listCommand(p, cli.Command{
		Name:  "assets",
		Usage: "list all assets in the order of their first occurrence",
		Flags: command.OrderedPageFlags("assets"),
	}, func(r *request) (*query.AssetsAnswer, error) {
		return r.queries.Assets(r.ctx, r.page)
	}, showAssets, func(a *query.AssetsAnswer) ([]query.AssetAnswer, *string) { return a.Assets, a.Next })
}

func showAssets(p *terminal.Page, a *query.AssetsAnswer) {
	p.Fields("assets", a.Count)
	if len(a.Assets) > 0 {
		p.Heading("assets")
	}
	columns := []string{"block", "supply", "holders", "asset", "name"}
	terminal.Table(p, a.Assets, columns, func(_ int, x query.AssetAnswer) terminal.Cells {
		var holders any = x.HolderCount
		if x.HolderCount == nil {
			holders = terminal.Faint(terminal.Right("-"))
		}
		known := assetOf(p.Chain, &x)
		supply := terminal.Right(humanize.Unit{Decimals: known.Decimals}.Amount(x.Supply))
		return terminal.Cells{x.FirstSeen.Height, supply, holders, x.Asset, terminal.Foreign(known.Name)}
	})
	p.More(a.Next)
}
