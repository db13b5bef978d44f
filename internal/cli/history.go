package cli

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) historyCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "history",
		Usage:     "list the transactions of an address (or any indexed value)",
		ArgsUsage: "INDEX VALUE",
		Flags:     slices.Concat(rangeFlags(), pageFlags("transactions", true)),
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		pg, err := pageOf(c)
		if err != nil {
			return nil, nil, err
		}
		r, err := rangeOf(c)
		if err != nil {
			return nil, nil, err
		}
		a, err := db.History(ctx, c.Args().Get(0), c.Args().Get(1), r, pg)
		return a, func(pg *page) { pg.history(a) }, err
	})
}

func (p *page) history(a *query.HistoryAnswer) {
	fields := []field{{a.Index, cell{a.Value, green}}}
	if a.FirstSeen == nil {
		fields = append(fields, field{"first seen", text(p.firstSeen(nil))})
	}
	p.fields(fields...)
	p.heading("transactions")
	if len(a.Txs) == 0 {
		p.printf("none\n")
	}
	var rows [][]cell
	for _, t := range a.Txs {
		rows = append(rows, []cell{text(count(t.Height)), text(t.Hash), p.flow(t.Received, green), p.flow(t.Sent, yellow)})
	}
	p.table([]column{{"block", true}, {name: "transaction"}, {"received", true}, {"sent", true}}, rows)
	p.more(a.Next)
}

// flow returns a received or sent amount, a dash for 0.
func (p *page) flow(n string, as style) cell {
	if n == "0" {
		return cell{"-", faint}
	}
	return cell{p.unit.Amount(n), as}
}
