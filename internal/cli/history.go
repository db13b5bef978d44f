package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
)

func (p *program) historyCommand() *cli.Command {
	return queryCommand(p, cli.Command{
		Name:      "history",
		Usage:     "list the transactions of an address (or any indexed value)",
		ArgsUsage: "INDEX VALUE",
		Flags:     slices.Concat(command.RangeFlags(), command.OrderedPageFlags("transactions")),
	}, func(r *request) (*query.HistoryAnswer, error) {
		return r.db.History(r.ctx, r.arg(0), r.arg(1), r.blocks, r.page)
	}, showHistory)
}

func showHistory(p *terminal.Page, a *query.HistoryAnswer) {
	unused := ""
	if a.FirstSeen == nil {
		unused = firstSeen(nil)
	}
	p.Fields(a.Index, terminal.Green(a.Value), "first seen", unused)
	p.Heading("transactions")
	p.IfNone(len(a.Txs), "none")
	amount := func(n string, style func(any) terminal.Cell) terminal.Cell {
		if n == "0" {
			return terminal.Faint(terminal.Right("-"))
		}
		return style(terminal.Right(p.Amount(n)))
	}
	columns := []string{"block", "transaction", "received", "sent"}
	terminal.Table(p, a.Txs, columns, func(_ int, t query.HistoryTxAnswer) terminal.Cells {
		return terminal.Cells{t.Height, t.Hash, amount(t.Received, terminal.Green), amount(t.Sent, terminal.Yellow)}
	})
	p.More(a.Next)
}
