package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/core/query/blocktime"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) historyCommand() *cli.Command {
	c := cli.Command{
		Name:      "history",
		Usage:     "list the transactions of an address (or any indexed value)",
		ArgsUsage: "[INDEX] VALUE",
		Flags: slices.Concat([]cli.Flag{
			command.String("group-by", "the sums of each `hour|day|week|month` instead of transactions (UTC; a week begins on Monday)"),
			command.GapFlag(),
		}, command.RangeFlags(), command.OrderedPageFlags("transactions or periods")),
	}
	grouped := listCommand(p, c, func(r *request) (*query.HistoryAnswer, error) {
		unit := r.String("group-by")
		if !slices.Contains(blocktime.Units, unit) {
			return nil, command.BadValue(r.Context, "group-by", "%s", strings.Join(blocktime.Units, ", "))
		}
		index, value, err := r.term(false)
		if err != nil {
			return nil, err
		}
		return r.queries.GroupedHistory(r.ctx, index, value, unit, r.blocks, r.page)
	}, showPeriods, func(a *query.HistoryAnswer) ([]query.PeriodAnswer, *string) { return a.Periods, a.Next })
	list := listCommand(p, c, func(r *request) (*query.HistoryAnswer, error) {
		index, value, err := r.term(false)
		if err != nil {
			return nil, err
		}
		return r.queries.History(r.ctx, index, value, r.blocks, r.page)
	}, showHistory, func(a *query.HistoryAnswer) ([]query.HistoryTxAnswer, *string) { return a.Txs, a.Next })
	txs := list.Action
	list.Action = func(c *cli.Context) error {
		if c.IsSet("group-by") {
			return grouped.Action(c)
		}
		return txs(c)
	}
	return list
}

func showHistory(p *terminal.Page, a *query.HistoryAnswer) {
	showValue(p, a)
	p.Heading("transactions")
	p.IfNone(len(a.Txs), "none")
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
		cells := terminal.Cells{t.Height, time, t.Hash, movement(p, t.Received, terminal.Green), movement(p, t.Sent, terminal.Yellow)}
		if running {
			cells = append(cells, terminal.Right(p.Amount(t.Balance)))
		}
		return cells
	})
	showMovedAssets(p, a.Txs)
	p.More(a.Next)
}

// showValue prints the value of a history, and that it was never used if it was not.
func showValue(p *terminal.Page, a *query.HistoryAnswer) {
	unused := ""
	if a.FirstSeen == nil {
		unused = firstSeen(nil)
	}
	p.Fields(a.Index, terminal.Green(a.Value), "first seen", unused)
}

// movement is an amount that was received or sent.
func movement(p *terminal.Page, n string, style func(any) terminal.Cell) terminal.Cell {
	if n == "0" {
		return terminal.Faint(terminal.Right("-"))
	}
	return style(terminal.Right(p.Amount(n)))
}

func showPeriods(p *terminal.Page, a *query.HistoryAnswer) {
	showValue(p, a)
	p.Heading("periods")
	p.IfNone(len(a.Periods), "none")
	columns := []string{"from", "transactions", "received", "sent", "balance"}
	if len(a.Periods) > 0 && a.Periods[0].Balance == "" {
		columns = columns[:len(columns)-1]
	}
	terminal.Table(p, a.Periods, columns, func(_ int, t query.PeriodAnswer) terminal.Cells {
		cells := terminal.Cells{humanize.Clock(t.From), terminal.Right(humanize.Count(t.TxCount)), movement(p, t.Received, terminal.Green), movement(p, t.Sent, terminal.Yellow)}
		if t.Balance != "" {
			cells = append(cells, terminal.Right(p.Amount(t.Balance)))
		}
		return cells
	})
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
