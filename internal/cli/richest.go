package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) richestCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "richest",
		Usage:     "list the values of an index with the largest balances of the coin or of an asset",
		ArgsUsage: "INDEX",
		Description: "Reads the balances of an index with the option balance. For other indexes it sums all unspent outputs, which takes as long\n" +
			"as reading all outputs. With --asset it sums the unspent outputs that contain the asset.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "asset", Usage: "rank by the balance of the asset with `ID` or fingerprint"},
			limitFlag("values"),
		}, profileFlags()),
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		n, err := limit(c)
		if err != nil {
			return nil, nil, err
		}
		if c.IsSet("asset") && c.String("asset") == "" {
			return nil, nil, badValue(c, "asset", "the id or fingerprint of an asset")
		}
		a, err := db.Richest(ctx, c.Args().First(), c.String("asset"), n)
		return a, func(pg *page) { pg.richest(a) }, err
	})
}

func (p *page) richest(a *query.RichestAnswer) {
	amount := p.unit.Amount
	if a.Asset != "" {
		amount = thousands
		p.fields(field{"asset", cell{a.Asset, green}})
		p.heading("richest")
	}
	if len(a.Values) == 0 {
		p.printf("none\n")
	}
	var rows [][]cell
	for i, v := range a.Values {
		rows = append(rows, []cell{{fmt.Sprint(i + 1), faint}, {amount(v.Balance), bold}, text(count(v.UnspentCount)), text(v.Value)})
	}
	p.table([]column{{"#", true}, {"balance", true}, {"unspent", true}, {name: a.Index}}, rows)
}
