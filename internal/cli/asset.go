package cli

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/terminal"
)

func (p *program) assetCommand() *cli.Command {
	return queryCommand(p, cli.Command{
		Name:      "asset",
		Usage:     "show an asset: first occurrence, minted and burned amounts, supply, holders",
		ArgsUsage: "ID|FINGERPRINT",
	}, func(r *request) (*query.AssetAnswer, error) {
		return r.db.Asset(r.ctx, r.arg(0))
	}, showAsset)
}

func showAsset(p *terminal.Page, a *query.AssetAnswer) {
	p.Fields(
		"asset", terminal.Green(a.Asset),
		"fingerprint", a.Fingerprint,
		"name", terminal.Foreign(a.Name),
		"description", terminal.Foreign(a.Description),
		"decimals", a.Decimals,
		"first seen", firstSeen(&a.FirstSeen),
		"supply", terminal.Bold(terminal.Number(a.Supply)),
		"minted", terminal.Number(a.Minted),
		"burned", terminal.Number(a.Burned),
		"mints", a.MintCount,
		"burns", a.BurnCount,
		"outputs", a.OutputCount,
		"unspent", a.UnspentCount,
		"holders", a.HolderCount,
	)
}
