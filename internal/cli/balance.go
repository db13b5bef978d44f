package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) balanceCommand() *cli.Command {
	return queryCommand(p, cli.Command{
		Name:      "balance",
		Usage:     "show the balance of an address (or any indexed value)",
		ArgsUsage: "[INDEX] VALUE",
		Flags: []cli.Flag{
			command.String("at-height", "the balance after the block at height `H`"),
			command.String("at-time", "the balance after the last block at or before `T`; of a date, its end"),
		},
	}, func(r *request) (*query.BalanceAnswer, error) {
		at, err := command.Moment(r.Context)
		if err != nil {
			return nil, err
		}
		index, value, err := r.term(false)
		if err != nil {
			return nil, err
		}
		if at != (query.Moment{}) {
			return r.db.BalanceAt(r.ctx, index, value, at)
		}
		return r.db.Balance(r.ctx, index, value)
	}, showBalance)
}

func showBalance(p *terminal.Page, a *query.BalanceAnswer) {
	at, unspent := "", "unknown"
	if a.At != nil {
		at = fmt.Sprintf("block %s, %s", humanize.Count(a.At.Height), humanize.Clock(a.At.Time))
	}
	if a.UnspentCount != nil {
		unspent = humanize.Count(*a.UnspentCount)
	}
	p.Fields(
		a.Index, terminal.Green(a.Value),
		"at", at,
		"balance", terminal.Bold(p.Amount(a.Balance)),
		"received", p.Amount(a.Received),
		"sent", p.Amount(a.Sent),
		"transactions", a.TxCount,
		"outputs", a.OutputCount,
		"unspent", unspent,
	)
	if len(a.Assets) > 0 {
		p.Heading("assets")
	}
	terminal.Table(p, a.Assets, []string{"balance", "asset", "name"}, func(_ int, x query.AssetBalanceAnswer) terminal.Cells {
		return terminal.Cells{p.AssetAmount(x.Asset, x.Balance), x.Asset, p.AssetName(x.Asset)}
	})
}
