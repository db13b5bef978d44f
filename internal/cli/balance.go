package cli

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/terminal"
)

func (p *program) balanceCommand() *cli.Command {
	return queryCommand(p, cli.Command{
		Name:      "balance",
		Usage:     "show the balance of an address (or any indexed value)",
		ArgsUsage: "[INDEX] VALUE",
	}, func(r *request) (*query.BalanceAnswer, error) {
		index, value, err := r.term(false)
		if err != nil {
			return nil, err
		}
		return r.db.Balance(r.ctx, index, value)
	}, showBalance)
}

func showBalance(p *terminal.Page, a *query.BalanceAnswer) {
	p.Fields(
		a.Index, terminal.Green(a.Value),
		"balance", terminal.Bold(p.Amount(a.Balance)),
		"received", p.Amount(a.Received),
		"sent", p.Amount(a.Sent),
		"transactions", a.TxCount,
		"outputs", a.OutputCount,
		"unspent", a.UnspentCount,
	)
	if len(a.Assets) > 0 {
		p.Heading("assets")
	}
	terminal.Table(p, a.Assets, []string{"balance", "asset", "name"}, func(_ int, x query.AssetBalanceAnswer) terminal.Cells {
		return terminal.Cells{p.AssetAmount(x.Asset, x.Balance), x.Asset, p.AssetName(x.Asset)}
	})
}
