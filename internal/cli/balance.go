package cli

import (
	"cmp"
	"fmt"
	"strings"

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
			command.GapFlag(),
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
			return r.queries.BalanceAt(r.ctx, index, value, at)
		}
		return r.queries.Balance(r.ctx, index, value)
	}, showBalance)
}

// showDerived prints the addresses of a wallet.
func showDerived(p *terminal.Page, d *query.DerivedAnswer) {
	p.Heading("used addresses")
	p.IfNone(len(d.Used), "none")
	terminal.Table(p, d.Used, []string{"path", "address", "balance", "transactions"}, func(_ int, v query.DerivedBalanceAnswer) terminal.Cells {
		return terminal.Cells{derivedPath(v.DerivedValueAnswer), v.Value, terminal.Right(p.Amount(v.Balance)), terminal.Right(humanize.Count(v.TxCount))}
	})
	if len(d.Next) > 0 {
		p.Heading("next unused addresses")
	}
	terminal.Table(p, d.Next, []string{"path", "address"}, func(_ int, v query.DerivedValueAnswer) terminal.Cells {
		return terminal.Cells{derivedPath(v), v.Value}
	})
}

// derivedPath returns the path of an address, or its place in the descriptor if that has no path.
func derivedPath(v query.DerivedValueAnswer) string {
	return cmp.Or(v.Path, fmt.Sprintf("branch %d, index %d", v.Branch, v.Index))
}

func showBalance(p *terminal.Page, a *query.BalanceAnswer) {
	at, unspent := "", "unknown"
	if a.At != nil {
		at = fmt.Sprintf("block %s, %s", humanize.Count(a.At.Height), humanize.Clock(a.At.Time))
	}
	if a.UnspentCount != nil {
		unspent = humanize.Count(*a.UnspentCount)
	}
	var types []string
	for _, t := range a.OutputTypes {
		types = append(types, t.Type+" "+humanize.Count(t.OutputCount))
	}
	p.Fields(
		a.Index, terminal.Green(a.Value),
		"at", at,
		"balance", terminal.Bold(p.Amount(a.Balance)),
		"received", p.Amount(a.Received),
		"sent", p.Amount(a.Sent),
		"transactions", a.TxCount,
		"outputs", a.OutputCount,
		"output types", strings.Join(types, ", "),
		"unspent", unspent,
	)
	if a.Derived != nil {
		showDerived(p, a.Derived)
	}
	if len(a.Assets) > 0 {
		p.Heading("assets")
	}
	terminal.Table(p, a.Assets, []string{"balance", "asset", "name"}, func(_ int, x query.AssetBalanceAnswer) terminal.Cells {
		return terminal.Cells{p.AssetAmount(x.Asset, x.Balance), x.Asset, p.AssetName(x.Asset)}
	})
}
