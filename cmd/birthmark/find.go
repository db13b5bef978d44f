package main

import (
	"context"
	"fmt"
	"slices"

	"birthmark/core"

	"github.com/urfave/cli/v2"
)

func (p *program) findCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "find",
		Usage:     "the outputs where a value of an index occurs",
		ArgsUsage: "INDEX VALUE",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "unspent", DisableDefaultText: true, Usage: "only outputs that nothing spends"},
		}, pageFlags("outputs", true)),
	}, func(ctx context.Context, c *cli.Context, db *database) (any, func(*page), error) {
		pg, err := pageOf(c)
		if err != nil {
			return nil, nil, err
		}
		a, err := db.Find(ctx, c.Args().Get(0), c.Args().Get(1), c.Bool("unspent"), pg)
		return a, func(pg *page) { pg.find(a) }, err
	})
}

func (p *page) find(a *core.FindAnswer) {
	p.fields(
		field{a.Index, cell{a.Value, green}},
		field{"first seen", text(p.firstSeen(a.FirstSeen))},
	)
	p.heading("outputs")
	if len(a.Outputs) == 0 {
		p.printf("none\n")
	}
	var rows [][]cell
	for _, o := range a.Outputs {
		rows = append(rows, []cell{text(count(o.Height)), text(p.unit.amount(o.Value)), text(fmt.Sprintf("%s:%d", o.Tx, o.Index)), spender(o)})
	}
	p.table([]column{{"block", true}, {"amount", true}, {name: "output"}, {name: "spent by"}}, rows)
	p.assetEntries(a.Outputs)
	p.more(a.Next)
}

func (p *page) firstSeen(f core.FirstSeenAnswer) string {
	return fmt.Sprintf("block %s, %s:%d", count(f.Height), f.Tx, f.Index)
}
