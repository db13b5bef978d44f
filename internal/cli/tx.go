package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) txCommand() *cli.Command {
	return queryCommand(p, cli.Command{
		Name:      "tx",
		Usage:     "show a transaction, its inputs resolved, its outputs with their spenders",
		ArgsUsage: "HASH",
		Flags: []cli.Flag{
			command.Bool("raw", "print the raw transaction in hex; needs a database created with sync --raw"),
		},
	}, func(r *request) (any, error) {
		if r.Bool("raw") {
			return r.db.RawTx(r.ctx, r.arg(0))
		}
		return r.db.Tx(r.ctx, r.arg(0))
	}, func(p *terminal.Page, a any) {
		switch a := a.(type) {
		case *query.RawTxAnswer:
			p.Printf("%s\n", a.Raw)
		case *query.TxAnswer:
			showTx(p, a)
		}
	})
}

func showTx(p *terminal.Page, a *query.TxAnswer) {
	block := fmt.Sprintf("%s  %s", humanize.Count(a.Height), a.BlockHash)
	kind, time := "", ""
	switch {
	case a.BlockHash == "":
		block, kind = "", "before the first block"
	case a.Coinbase:
		kind = "coinbase"
	}
	if a.Time != 0 {
		time = humanize.Clock(a.Time)
	}
	p.Fields(
		"transaction", terminal.Green(a.Hash),
		"kind", kind,
		"block", block,
		"index", a.Index,
		"time", time,
		"fee", p.Amount(a.Fee),
	)
	if len(a.Inputs) > 0 {
		p.Heading(humanize.Plural(len(a.Inputs), "input"))
	}
	columns := []string{"#", "amount", "from", "spends"}
	terminal.Table(p, a.Inputs, columns, func(_ int, in query.InputAnswer) terminal.Cells {
		o := in.Output
		amount := terminal.Right(p.Amount(o.Value))
		return terminal.Cells{terminal.Faint(in.Index), amount, owner(p, o), terminal.Faint(place(o))}
	})
	p.Heading(humanize.Plural(len(a.Outputs), "output"))
	columns = []string{"#", "amount", "to", "spent by"}
	terminal.Table(p, a.Outputs, columns, func(_ int, o query.OutputAnswer) terminal.Cells {
		return terminal.Cells{terminal.Faint(o.Index), terminal.Right(p.Amount(o.Value)), owner(p, o), spender(o)}
	})
	showAssetEntries(p, a.Outputs)
	if len(a.Mints) > 0 {
		p.Heading("mints (+) and burns (-)")
	}
	terminal.Table(p, a.Mints, []string{"amount", "asset"}, func(_ int, m query.MintAnswer) terminal.Cells {
		return terminal.Cells{terminal.Number(m.Amount), m.Asset}
	})
}
