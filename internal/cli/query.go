package cli

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"
)

// request is a query of the command line: the database, the arguments, and the page and range that the flags select.
type request struct {
	*cli.Context
	ctx    context.Context
	db     *daemon.Database
	page   query.Page
	blocks query.Range
}

// arg returns an argument, or "" if it was omitted.
func (r *request) arg(i int) string { return r.Args().Get(i) }

// queryCommand returns a command that queries a database. ask returns the answer, and show prints it as text.
func queryCommand[A any](
	p *program, c cli.Command, ask func(*request) (A, error), show func(*terminal.Page, A),
) *cli.Command {
	c.Category = querying
	c.Flags = slices.Concat(c.Flags, command.DatabaseFlags())
	c.Action = command.Profiled(func(c *cli.Context) (err error) {
		r := &request{Context: c, ctx: c.Context}
		if r.page, err = command.Page(c); err != nil {
			return err
		}
		if r.blocks, err = command.Range(c); err != nil {
			return err
		}
		return p.Read(c, core.Options{}, func(db *daemon.Database) error {
			r.db = db
			a, err := ask(r)
			if err != nil {
				return err
			}
			return p.Answer(db.Chain(), a, func(page *terminal.Page) { show(page, a) })
		})
	})
	return &c
}
