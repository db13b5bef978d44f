package cli

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) blockCommand() *cli.Command {
	of := cli.Command{
		Name:      "block",
		Usage:     "show a block and the hashes of its transactions",
		ArgsUsage: "HASH|HEIGHT|tip|tip-N|genesis",
		Flags:     []cli.Flag{command.Bool("totals", "show sums instead: inputs, outputs, fees, and the weight (Bitcoin)")},
	}
	block := queryCommand(p, of, func(r *request) (*query.BlockAnswer, error) {
		return r.db.Block(r.ctx, r.arg(0))
	}, showBlock)
	totals := queryCommand(p, of, func(r *request) (*query.BlockTotalsAnswer, error) {
		return r.db.BlockTotals(r.ctx, r.arg(0))
	}, showBlockTotals)
	plain := block.Action
	block.Action = func(c *cli.Context) error {
		if c.Bool("totals") {
			return totals.Action(c)
		}
		return plain(c)
	}
	return block
}

func showBlockTotals(p *terminal.Page, a *query.BlockTotalsAnswer) {
	fields := []any{
		"block", terminal.Green(a.Height),
		"hash", a.Hash,
		"size", humanize.Count(a.Size) + " bytes",
	}
	if a.Weight > 0 {
		fields = append(fields, "weight", humanize.Count(a.Weight))
	}
	fields = append(fields,
		"transactions", humanize.Count(a.TxCount),
		"inputs", humanize.Count(a.Inputs)+"  "+p.Amount(a.InputValue),
		"outputs", humanize.Count(a.Outputs)+"  "+p.Amount(a.OutputValue))
	if a.Fees != "" {
		fields = append(fields, "fees", p.Amount(a.Fees))
	}
	p.Fields(fields...)
}

func showBlock(p *terminal.Page, a *query.BlockAnswer) {
	fields := []any{
		"block", terminal.Green(a.Height),
		"hash", a.Hash,
		"previous", a.PrevHash,
		"time", humanize.Clock(a.Time),
		"size", humanize.Count(a.Size) + " bytes",
	}
	for _, f := range humanize.Header(a.Header) {
		fields = append(fields, f[0], f[1])
	}
	p.Fields(fields...)
	p.Heading(humanize.Plural(a.TxCount, "transaction"))
	terminal.Table(p, a.Txs, []string{"#", "hash"}, func(i int, hash string) terminal.Cells {
		return terminal.Cells{terminal.Faint(i), hash}
	})
}
