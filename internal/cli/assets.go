package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) assetsCommand() *cli.Command {
	return p.query(cli.Command{
		Name:  "assets",
		Usage: "list all assets in the order of their first occurrence",
		Flags: pageFlags("assets", true),
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		pg, err := pageOf(c)
		if err != nil {
			return nil, nil, err
		}
		a, err := db.Assets(ctx, pg)
		return a, func(pg *page) { pg.assets(a) }, err
	})
}

func (p *page) assets(a *query.AssetsAnswer) {
	p.fields(field{"assets", text(count(a.Count))})
	if len(a.Assets) > 0 {
		p.heading("assets")
	}
	var rows [][]cell
	for _, x := range a.Assets {
		holders := cell{"-", faint}
		if x.HolderCount != nil {
			holders = text(count(*x.HolderCount))
		}
		rows = append(rows, []cell{text(count(x.FirstSeen.Height)), text(thousands(x.Supply)), holders, text(x.Asset), said(x.Name)})
	}
	p.table([]column{{"block", true}, {"supply", true}, {"holders", true}, {name: "asset"}, {name: "name"}}, rows)
	p.more(a.Next)
}
