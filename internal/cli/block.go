package cli

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) blockCommand() *cli.Command {
	return queryCommand(p, cli.Command{
		Name:      "block",
		Usage:     "show a block and the hashes of its transactions",
		ArgsUsage: "HASH|HEIGHT|tip",
	}, func(r *request) (*query.BlockAnswer, error) {
		return r.db.Block(r.ctx, r.arg(0))
	}, showBlock)
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
