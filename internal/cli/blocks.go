package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) blocksCommand() *cli.Command {
	return listCommand(p, cli.Command{
		Name:  "blocks",
		Usage: "list blocks, without their transactions",
		Flags: slices.Concat(command.RangeFlags(), command.OrderedPageFlags("blocks")),
	}, func(r *request) (*query.BlocksAnswer, error) {
		return r.queries.Blocks(r.ctx, r.blocks, r.page)
	}, showBlocks, func(a *query.BlocksAnswer) ([]query.BlockSummaryAnswer, *string) { return a.Blocks, a.Next })
}

func showBlocks(p *terminal.Page, a *query.BlocksAnswer) {
	p.IfNone(len(a.Blocks), "no block")
	columns := []string{"block", "hash", "time", "transactions", "bytes"}
	terminal.Table(p, a.Blocks, columns, func(_ int, b query.BlockSummaryAnswer) terminal.Cells {
		return terminal.Cells{b.Height, b.Hash, humanize.Clock(b.Time), b.TxCount, b.Size}
	})
	p.More(a.Next)
}
