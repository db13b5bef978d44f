package cli

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
)

func (p *program) assetsCommand() *cli.Command {
	return queryCommand(p, cli.Command{
		Name:  "assets",
		Usage: "list all assets in the order of their first occurrence",
		Flags: command.OrderedPageFlags("assets"),
	}, func(r *request) (*query.AssetsAnswer, error) {
		return r.db.Assets(r.ctx, r.page)
	}, showAssets)
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
		return terminal.Cells{x.FirstSeen.Height, terminal.Number(x.Supply), holders, x.Asset, terminal.Foreign(x.Name)}
	})
	p.More(a.Next)
}
