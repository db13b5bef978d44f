package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) outputCommand() *cli.Command {
	return queryCommand(p, cli.Command{
		Name:      "output",
		Usage:     "show an output: value, address and spending input (Ergo: also by box id)",
		ArgsUsage: "TXHASH:N",
	}, func(r *request) (*query.OutputAnswer, error) {
		return r.db.Output(r.ctx, r.arg(0))
	}, showOutput)
}

func showOutput(p *terminal.Page, a *query.OutputAnswer) {
	time := ""
	if a.BlockTime != 0 {
		time = humanize.Clock(a.BlockTime)
	}
	fields := []any{
		"output", terminal.Green(place(*a)),
		"block", fmt.Sprintf("%s, transaction %s", humanize.Count(a.Height), humanize.Count(a.TxIndex)),
		"time", time,
		"confirmations", known(a.Confirmations),
		"value", p.Amount(a.Value),
		"spent by", spender(*a),
	}
	for _, name := range slices.Sorted(maps.Keys(a.Keys)) {
		fields = append(fields, name, keyText(a.Keys[name]))
	}
	p.Fields(fields...)
	showAssetEntries(p, []query.OutputAnswer{*a})
}

// place returns TXHASH:N of an output.
func place(o query.OutputAnswer) string { return fmt.Sprintf("%s:%d", o.Tx, o.Index) }

// owner returns the value of the chain's first index in the output.
func owner(p *terminal.Page, o query.OutputAnswer) string {
	for _, ix := range p.Chain.Indexes() {
		if v, ok := o.Keys[ix.Name]; ok && ix.Name != p.Chain.Traits().SpendIndex {
			return keyText(v)
		}
	}
	return "-"
}

// keyText returns one or several values of an index.
func keyText(v any) string {
	if list, ok := v.([]string); ok {
		return strings.Join(list, ", ")
	}
	return fmt.Sprint(v)
}

// spender returns the input that spends an output.
func spender(o query.OutputAnswer) terminal.Cell {
	switch {
	case o.SpentBy == nil:
		return terminal.Cell{}
	case o.SpentBy.Value == nil:
		return terminal.Green("unspent")
	}
	s := o.SpentBy.Value
	return terminal.Faint(fmt.Sprintf("%s input %d, block %s", s.Tx, s.Input, humanize.Count(s.Height)))
}

func showAssetEntries(p *terminal.Page, outputs []query.OutputAnswer) {
	type entry struct {
		of query.OutputAnswer
		query.AssetEntryAnswer
	}
	var entries []entry
	for _, o := range outputs {
		for _, e := range o.Assets {
			entries = append(entries, entry{o, e})
		}
	}
	if len(entries) > 0 {
		p.Heading("assets in outputs")
	}
	terminal.Table(p, entries, []string{"output", "amount", "asset", "name", ""}, func(_ int, e entry) terminal.Cells {
		action := terminal.Faint(e.Action)
		if e.Action == "mint" {
			action = terminal.Yellow(e.Action)
		}
		return terminal.Cells{terminal.Faint(place(e.of)), p.AssetAmount(e.Asset, e.Amount), e.Asset, p.AssetName(e.Asset), action}
	})
}
