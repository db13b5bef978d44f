package cli

import (
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/check"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/model"
)

func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name:     "check",
		Usage:    "check the database for internal consistency",
		Category: building,
		Flags:    slices.Concat(command.DatabaseFlags(), command.ProgressFlags()),
		Action: command.Profiled(func(c *cli.Context) error {
			return p.Read(c, core.Options{Damaged: true}, func(db *daemon.Database) error {
				return p.check(c, db, check.Options{})
			})
		}),
	}
}

// check checks a database or one of its indexes and prints the result.
func (p *program) check(c *cli.Context, db *daemon.Database, o check.Options) error {
	what := "check"
	if o.Index != "" {
		what = "index verify " + o.Index
	}
	advance, stop := p.WatchCount(what, "rows")
	defer stop()
	o.Progress = advance
	a, err := db.Check(c.Context, o)
	if err != nil {
		return err
	}
	stop()
	if err := p.Answer(db.Chain(), a, func(page *terminal.Page) { showCheck(page, a) }); err != nil {
		return err
	}
	if !a.OK {
		return model.Errorf(model.Internal, "faults_found", "the check found %s", humanize.Plural(len(a.Problems), "problem"))
	}
	return nil
}

func showCheck(p *terminal.Page, a *check.Result) {
	verdict := terminal.Green("no inconsistencies found")
	if !a.OK {
		verdict = terminal.Red("inconsistencies found")
	}
	blocks := ""
	if a.Blocks > 0 { // a check of one index reads no blocks
		blocks = humanize.Count(a.Blocks)
	}
	p.Fields("check", verdict, "blocks", blocks, "rows", a.Rows)
	if len(a.Problems) > 0 {
		p.Heading(humanize.Plural(len(a.Problems), "problem"))
	}
	columns := []string{"family", "key", "problem"}
	terminal.Table(p, a.Problems, columns, func(_ int, x check.Problem) terminal.Cells {
		return terminal.Cells{x.Family, terminal.Faint(x.Key), terminal.Red(x.Problem)}
	})
}
