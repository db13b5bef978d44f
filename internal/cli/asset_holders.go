package cli

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
)

func (p *program) assetHoldersCommand() *cli.Command {
	return listCommand(p, cli.Command{
		Name:      "asset-holders",
		Usage:     "list the addresses that hold an asset",
		ArgsUsage: "ID|FINGERPRINT",
		Flags:     command.PageFlags("addresses"),
	}, func(r *request) (*query.AssetHoldersAnswer, error) {
		return r.queries.AssetHolders(r.ctx, r.arg(0), r.page)
	}, showAssetHolders, func(a *query.AssetHoldersAnswer) ([]query.HolderAnswer, *string) { return a.Holders, a.Next })
}

func showAssetHolders(p *terminal.Page, a *query.AssetHoldersAnswer) {
	p.Fields("asset", terminal.Green(a.Asset), "name", p.AssetName(a.Asset))
	p.Heading("holders")
	p.IfNone(len(a.Holders), "none")
	terminal.Table(p, a.Holders, []string{"amount", "address"}, func(_ int, h query.HolderAnswer) terminal.Cells {
		return terminal.Cells{p.AssetAmount(a.Asset, h.Amount), h.Address}
	})
	p.More(a.Next)
}
