package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) txCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "tx",
		Usage:     "show a transaction, its inputs resolved, its outputs with their spenders",
		ArgsUsage: "HASH",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "raw", DisableDefaultText: true, Usage: "print the raw transaction in hex; needs a database created with sync --raw"},
		},
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		if c.Bool("raw") {
			a, err := db.RawTx(ctx, c.Args().First())
			return a, func(pg *page) { pg.printf("%s\n", a.Raw) }, err
		}
		a, err := db.Tx(ctx, c.Args().First())
		return a, func(pg *page) { pg.tx(a) }, err
	})
}

func (p *page) tx(a *query.TxAnswer) {
	block := fmt.Sprintf("%s  %s", count(a.Height), a.BlockHash)
	kind := ""
	switch {
	case a.BlockHash == "":
		block, kind = "", "before the first block"
	case a.Coinbase:
		kind = "coinbase"
	}
	time := ""
	if a.Time != 0 {
		time = clock(a.Time)
	}
	p.fields(
		field{"transaction", cell{a.Hash, green}},
		field{"kind", text(kind)},
		field{"block", text(block)},
		field{"index", text(count(a.Index))},
		field{"time", text(time)},
		field{"fee", text(p.unit.Amount(a.Fee))},
	)
	if len(a.Inputs) > 0 {
		p.heading(plural(len(a.Inputs), "input"))
		var rows [][]cell
		for _, in := range a.Inputs {
			o := in.Output
			rows = append(rows, []cell{{fmt.Sprint(in.Index), faint}, text(p.unit.Amount(o.Value)), text(p.owner(o)),
				{fmt.Sprintf("%s:%d", o.Tx, o.Index), faint}})
		}
		p.table([]column{{"#", true}, {"amount", true}, {name: "from"}, {name: "spends"}}, rows)
	}
	p.heading(plural(len(a.Outputs), "output"))
	var rows [][]cell
	for _, o := range a.Outputs {
		rows = append(rows, []cell{{fmt.Sprint(o.Index), faint}, text(p.unit.Amount(o.Value)), text(p.owner(o)), spender(o)})
	}
	p.table([]column{{"#", true}, {"amount", true}, {name: "to"}, {name: "spent by"}}, rows)
	p.assetEntries(a.Outputs)
	if len(a.Mints) > 0 {
		p.heading("mints (+) and burns (-)")
		rows = nil
		for _, m := range a.Mints {
			rows = append(rows, []cell{text(thousands(m.Amount)), text(m.Asset)})
		}
		p.table([]column{{"amount", true}, {name: "asset"}}, rows)
	}
}

// owner returns the value of the chain's first index in the output.
func (p *page) owner(o query.OutputAnswer) string {
	for _, ix := range p.chain.Indexes() {
		if v, ok := o.Keys[ix.Name]; ok && ix.Name != p.chain.Traits().SpendIndex {
			return keyText(v)
		}
	}
	return "-"
}

// keyText returns one or several values of an index.
func keyText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []string:
		return oneOf(v)
	}
	return fmt.Sprint(v)
}

// spender returns the input that spends an output.
func spender(o query.OutputAnswer) cell {
	switch {
	case o.SpentBy == nil:
		return cell{}
	case o.SpentBy.Value == nil:
		return cell{"unspent", green}
	}
	s := o.SpentBy.Value
	return cell{fmt.Sprintf("%s input %d, block %s", s.Tx, s.Input, count(s.Height)), faint}
}

// assetEntries prints the assets of outputs.
func (p *page) assetEntries(outputs []query.OutputAnswer) {
	var rows [][]cell
	for _, o := range outputs {
		for _, e := range o.Assets {
			mark := cell{e.Action, faint}
			if e.Action == "mint" {
				mark.style = yellow
			}
			rows = append(rows, []cell{{fmt.Sprintf("%s:%d", o.Tx, o.Index), faint}, text(thousands(e.Amount)), text(e.Asset), mark})
		}
	}
	if len(rows) > 0 {
		p.heading("assets in outputs")
		p.table([]column{{name: "output"}, {"amount", true}, {name: "asset"}, {name: ""}}, rows)
	}
}
