package cli

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) assetEventsCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "asset-events",
		Usage:     "list the mints and burns of an asset",
		ArgsUsage: "ID|FINGERPRINT",
		Flags:     slices.Concat(rangeFlags(), pageFlags("events", true)),
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		pg, err := pageOf(c)
		if err != nil {
			return nil, nil, err
		}
		r, err := rangeOf(c)
		if err != nil {
			return nil, nil, err
		}
		a, err := db.AssetEvents(ctx, c.Args().First(), r, pg)
		return a, func(pg *page) { pg.assetEvents(a) }, err
	})
}

func (p *page) assetEvents(a *query.AssetEventsAnswer) {
	p.fields(field{"asset", cell{a.Asset, green}})
	p.heading("mints and burns")
	if len(a.Events) == 0 {
		p.printf("none\n")
	}
	var rows [][]cell
	for _, e := range a.Events {
		mark := cell{e.Action, green}
		if e.Action == "burn" {
			mark.style = yellow
		}
		rows = append(rows, []cell{text(count(e.Height)), mark, text(thousands(e.Amount)), text(e.Tx)})
	}
	p.table([]column{{"block", true}, {name: "what"}, {"amount", true}, {name: "transaction"}}, rows)
	p.more(a.Next)
}
