package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) historyCommand() *cli.Command {
	return listCommand(p, cli.Command{
		Name:      "history",
		Usage:     "list the transactions of an address (or any indexed value)",
		ArgsUsage: "[INDEX] VALUE",
		Flags:     slices.Concat(command.RangeFlags(), command.OrderedPageFlags("transactions")),
	}, func(r *request) (*query.HistoryAnswer, error) {
		index, value, err := r.term(false)
		if err != nil {
			return nil, err
		}
		return r.db.History(r.ctx, index, value, r.blocks, r.page)
	}, showHistory, func(a *query.HistoryAnswer) ([]query.HistoryTxAnswer, *string) { return a.Txs, a.Next })
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
	columns := []string{"block", "time", "transaction", "received", "sent", "balance"}
	running := len(a.Txs) > 0 && a.Txs[0].Balance != ""
	if !running {
		columns = columns[:len(columns)-1]
	}
	terminal.Table(p, a.Txs, columns, func(_ int, t query.HistoryTxAnswer) terminal.Cells {
		time := ""
		if t.Time != 0 {
			time = humanize.Clock(t.Time)
		}
		cells := terminal.Cells{t.Height, time, t.Hash, amount(t.Received, terminal.Green), amount(t.Sent, terminal.Yellow)}
		if running {
			cells = append(cells, terminal.Right(p.Amount(t.Balance)))
		}
		return cells
	})
	showMovedAssets(p, a.Txs)
	p.More(a.Next)
}

func showMovedAssets(p *terminal.Page, txs []query.HistoryTxAnswer) {
	type entry struct {
		tx string
		query.HistoryAssetAnswer
	}
	var entries []entry
	for _, t := range txs {
		for _, a := range t.Assets {
			entries = append(entries, entry{t.Hash, a})
		}
	}
	if len(entries) > 0 {
		p.Heading("assets")
	}
	terminal.Table(p, entries, []string{"transaction", "received", "sent", "asset", "name"}, func(_ int, e entry) terminal.Cells {
		received, sent := p.AssetAmount(e.Asset, e.Received), p.AssetAmount(e.Asset, e.Sent)
		return terminal.Cells{terminal.Faint(e.tx), received, sent, e.Asset, p.AssetName(e.Asset)}
	})
}
