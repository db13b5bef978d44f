package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/core/query/richest"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
)

func (p *program) richestCommand() *cli.Command {
	return listCommand(p, cli.Command{
		Name:      "richest",
		Usage:     "list the values of an index with the largest balances of the coin or of an asset",
		ArgsUsage: "INDEX",
		Flags: slices.Concat([]cli.Flag{
			command.String("asset", "rank by the balance of the asset with `ID` or fingerprint"),
			command.LimitFlag("values"),
		}, command.ProfileFlags()),
	}, func(r *request) (*query.RichestAnswer, error) {
		if r.IsSet("asset") && r.String("asset") == "" {
			return nil, command.BadValue(r.Context, "asset", "the id or fingerprint of an asset")
		}
		return richest.Of(r.ctx, r.queries, r.arg(0), r.String("asset"), r.page.Limit)
	}, showRichest, func(a *query.RichestAnswer) ([]query.RichestValueAnswer, *string) { return a.Values, nil })
}

func showRichest(p *terminal.Page, a *query.RichestAnswer) {
	amount := func(n string) terminal.Cell { return terminal.Right(p.Amount(n)) }
	if a.Asset != "" {
		amount = func(n string) terminal.Cell { return p.AssetAmount(a.Asset, n) }
		p.Fields("asset", terminal.Green(a.Asset), "name", p.AssetName(a.Asset))
		p.Heading("richest")
	}
	p.IfNone(len(a.Values), "none")
	columns := []string{"#", "balance", "unspent", a.Index}
	terminal.Table(p, a.Values, columns, func(i int, v query.RichestValueAnswer) terminal.Cells {
		var unspent any
		if v.UnspentCount != nil {
			unspent = *v.UnspentCount
		}
		return terminal.Cells{terminal.Faint(i + 1), terminal.Bold(amount(v.Balance)), unspent, v.Value}
	})
}
