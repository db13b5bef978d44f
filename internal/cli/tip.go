package cli

import (
	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
)

func (p *program) tipCommand() *cli.Command {
	return queryCommand(p, cli.Command{Name: "tip", Usage: "show the last block: height, hash and time"},
		func(r *request) (*query.TipAnswer, error) { return r.db.Queries.Tip(r.ctx) },
		func(p *terminal.Page, a *query.TipAnswer) { p.Fields("tip", command.TipCell(a)) })
}
