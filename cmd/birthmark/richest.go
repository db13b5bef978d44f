package main

import (
	"context"
	"fmt"
	"slices"

	"birthmark/core"

	"github.com/urfave/cli/v2"
)

func (p *program) richestCommand() *cli.Command {
	return p.query(cli.Command{
		Name:        "richest",
		Usage:       "the values of an index that hold most",
		ArgsUsage:   "INDEX",
		Description: "Adds up every unspent output, which takes as long as reading all outputs does.",
		Flags:       slices.Concat([]cli.Flag{limitFlag("values")}, profileFlags()),
	}, func(ctx context.Context, c *cli.Context, db *database) (any, func(*page), error) {
		n, err := limit(c)
		if err != nil {
			return nil, nil, err
		}
		a, err := db.Richest(ctx, c.Args().First(), c.String("asset"), n)
		return a, func(pg *page) { pg.richest(a) }, err
	})
}

func (p *page) richest(a *core.RichestAnswer) {
	var rows [][]cell
	for i, v := range a.Values {
		rows = append(rows, []cell{{fmt.Sprint(i + 1), faint}, {p.unit.amount(v.Balance), bold}, text(count(v.UnspentCount)), text(v.Value)})
	}
	p.table([]column{{"#", true}, {"balance", true}, {"unspent", true}, {name: a.Index}}, rows)
}
