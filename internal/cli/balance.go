package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) balanceCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "balance",
		Usage:     "show the balance of an address (or any indexed value)",
		ArgsUsage: "INDEX VALUE",
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		a, err := db.Balance(ctx, c.Args().Get(0), c.Args().Get(1))
		return a, func(pg *page) { pg.balance(a) }, err
	})
}

func (p *page) balance(a *query.BalanceAnswer) {
	p.fields(
		field{a.Index, cell{a.Value, green}},
		field{"balance", cell{p.unit.Amount(a.Balance), bold}},
		field{"received", text(p.unit.Amount(a.Received))},
		field{"sent", text(p.unit.Amount(a.Sent))},
		field{"transactions", text(count(a.TxCount))},
		field{"outputs", text(count(a.OutputCount))},
		field{"unspent", text(count(a.UnspentCount))},
	)
	if len(a.Assets) > 0 {
		p.heading("assets")
		var rows [][]cell
		for _, x := range a.Assets {
			rows = append(rows, []cell{text(thousands(x.Balance)), text(x.Asset)})
		}
		p.table([]column{{"balance", true}, {name: "asset"}}, rows)
	}
}
