package cli

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) forksCommand() *cli.Command {
	return listCommand(p, cli.Command{
		Name:  "forks",
		Usage: "list blocks orphaned by reorganizations, newest first",
		Flags: command.PageFlags("blocks"),
	}, func(r *request) (*query.ForksAnswer, error) {
		return r.queries.Forks(r.ctx, r.page)
	}, showForks, func(a *query.ForksAnswer) ([]query.LostBlockAnswer, *string) { return a.Forks, a.Next })
}

func showForks(p *terminal.Page, a *query.ForksAnswer) {
	p.Fields("chain", terminal.Green(a.Chain+" "+a.Network))
	p.Heading("orphaned blocks")
	p.IfNone(len(a.Forks), "no reorganizations recorded")
	columns := []string{"orphaned", "blocks", "height", "hash", "replaced by"}
	terminal.Table(p, a.Forks, columns, func(i int, b query.LostBlockAnswer) terminal.Cells {
		at, blocks := "", terminal.Right("")
		if i == 0 || a.Forks[i-1].Depth == 1 { // the first block of a reorganization
			at, blocks = humanize.Clock(b.LostAt), terminal.Bold(b.Depth)
		}
		var by any = terminal.Yellow("no block yet")
		switch {
		case b.ReplacedBy != nil && *b.ReplacedBy == b.Hash:
			by = terminal.Green("the same block")
		case b.ReplacedBy != nil:
			by = *b.ReplacedBy
		}
		return terminal.Cells{at, blocks, b.Height, b.Hash, by}
	})
	p.More(a.Next)
}
