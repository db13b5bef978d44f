package cli

import (
	"fmt"
	"slices"

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
			command.Bool("raw", "print the raw transaction in hex; needs a database with raw transactions (birthmark raw)"),
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
		"fee rate", feeRate(p, a),
		"confirmations", known(a.Confirmations),
		"size", sizes(a),
		"version", pointed(a.Version),
		"lock time", pointed(a.Locktime),
		"text", a.CoinbaseText,
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
	columns = []string{"#", "amount", "to", "type", "spent by"}
	typed := len(a.Outputs) > 0 && a.Outputs[0].OutputDetails != nil && a.Outputs[0].Type != ""
	if !typed {
		columns = slices.Delete(columns, 3, 4)
	}
	terminal.Table(p, a.Outputs, columns, func(_ int, o query.OutputAnswer) terminal.Cells {
		cells := terminal.Cells{terminal.Faint(o.Index), terminal.Right(p.Amount(o.Value)), owner(p, o)}
		if typed {
			cells = append(cells, o.Type)
		}
		return append(cells, spender(o))
	})
	showAssetEntries(p, a.Outputs)
	if len(a.Mints) > 0 {
		p.Heading("mints (+) and burns (-)")
	}
	terminal.Table(p, a.Mints, []string{"amount", "asset", "name"}, func(_ int, m query.MintAnswer) terminal.Cells {
		return terminal.Cells{p.AssetAmount(m.Asset, m.Amount), m.Asset, p.AssetName(m.Asset)}
	})
}

// known returns the text of a number, empty if it is 0: unknown.
func known[T int | int64 | uint32](n T) string {
	if n == 0 {
		return ""
	}
	return humanize.Count(n)
}

// pointed returns the text of a number, empty if it is unknown.
func pointed(n *uint32) string {
	if n == nil {
		return ""
	}
	return fmt.Sprint(*n)
}

// feeRate returns the fee rate, empty if it is unknown.
func feeRate(p *terminal.Page, a *query.TxAnswer) string {
	if a.FeeRate == nil {
		return ""
	}
	return fmt.Sprintf("%v %s/vB", *a.FeeRate, p.Chain.Traits().Unit.Smallest)
}

// sizes returns the size and, on chains that have them, the virtual size and the weight; empty if unknown.
func sizes(a *query.TxAnswer) string {
	switch {
	case a.Size == 0:
		return ""
	case a.Weight == 0:
		return humanize.Plural(a.Size, "byte")
	}
	return fmt.Sprintf("%s, %s vB, weight %s", humanize.Plural(a.Size, "byte"), humanize.Count(a.VSize), humanize.Count(a.Weight))
}
