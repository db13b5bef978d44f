package cli

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
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
	known := assetOf(p.Chain, a)
	amount := func(n string) terminal.Cell { return terminal.Right(humanize.Unit{Decimals: known.Decimals}.Amount(n)) }
	p.Fields(
		"asset", terminal.Green(a.Asset),
		"fingerprint", a.Fingerprint,
		"name", terminal.Foreign(known.Name),
		"description", terminal.Foreign(a.Description),
		"decimals", a.Decimals,
		"first seen", firstSeen(&a.FirstSeen),
		"supply", terminal.Bold(amount(a.Supply)),
		"minted", amount(a.Minted),
		"burned", amount(a.Burned),
		"mints", a.MintCount,
		"burns", a.BurnCount,
		"outputs", a.OutputCount,
		"unspent", a.UnspentCount,
		"holders", a.HolderCount,
	)
}
