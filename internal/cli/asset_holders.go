package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) assetHoldersCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "asset-holders",
		Usage:     "list the addresses that hold an asset",
		ArgsUsage: "ID|FINGERPRINT",
		Flags:     pageFlags("addresses", false),
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		pg, err := pageOf(c)
		if err != nil {
			return nil, nil, err
		}
		a, err := db.AssetHolders(ctx, c.Args().First(), pg)
		return a, func(pg *page) { pg.assetHolders(a) }, err
	})
}

func (p *page) assetHolders(a *query.AssetHoldersAnswer) {
	p.fields(field{"asset", cell{a.Asset, green}})
	p.heading("holders")
	if len(a.Holders) == 0 {
		p.printf("none\n")
	}
	var rows [][]cell
	for _, h := range a.Holders {
		rows = append(rows, []cell{text(thousands(h.Amount)), text(h.Address)})
	}
	p.table([]column{{"amount", true}, {name: "address"}}, rows)
	p.more(a.Next)
}
