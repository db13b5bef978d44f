package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) statusCommand() *cli.Command {
	return queryCommand(p, cli.Command{
		Name:  "status",
		Usage: "show chain, tip, indexes, and the rows and bytes of each column family",
	}, func(r *request) (*query.StatusAnswer, error) {
		return r.db.Status(r.ctx)
	}, showStatus)
}

func showStatus(p *terminal.Page, a *query.StatusAnswer) {
	t := a.Totals
	genesis := ""
	if t.GenesisOutputs > 0 {
		genesis = humanize.Count(t.GenesisOutputs)
	}
	p.Fields(
		"chain", terminal.Green(a.Chain+" "+a.Network),
		"format", a.Format,
		"tip", tipCell(a.Tip),
		"blocks", t.Blocks,
		"transactions", t.Txs,
		"inputs", t.Inputs,
		"outputs", t.Outputs,
		"genesis outputs", genesis,
		"assets", t.Assets,
		"unspent", humanize.Plural(t.Unspent, "output")+", "+p.Amount(t.UnspentValue),
	)
	p.Heading("indexes")
	terminal.Table(p, a.Indexes, []string{"name", "kind", "values"}, func(_ int, ix query.IndexAnswer) terminal.Cells {
		return terminal.Cells{ix.Name, ix.Kind, ix.Values}
	})
	p.Heading("families")
	all := query.FamilyAnswer{Name: "all"}
	for _, f := range a.Families {
		all.Keys, all.Bytes = all.Keys+f.Keys, all.Bytes+f.Bytes
	}
	families := append(a.Families[:len(a.Families):len(a.Families)], all)
	terminal.Table(p, families, []string{"name", "rows", "size"}, func(i int, f query.FamilyAnswer) terminal.Cells {
		var name any = f.Name
		if i == len(a.Families) {
			name = terminal.Bold(name)
		}
		return terminal.Cells{name, f.Keys, terminal.Right(humanize.Bytes(f.Bytes))}
	})
}

// tipCell returns the tip as the value of a field.
func tipCell(tip *query.TipAnswer) any {
	if tip == nil {
		return terminal.Yellow("none: no block was synced yet")
	}
	return fmt.Sprintf("%s  %s  %s", humanize.Count(tip.Height), tip.Hash, humanize.Clock(tip.Time))
}
