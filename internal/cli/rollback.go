package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
	"birthmark/internal/progress"
)

func (p *program) rollbackCommand() *cli.Command {
	return &cli.Command{
		Name:     "rollback",
		Usage:    "remove the blocks above a height",
		Category: building,
		Flags: slices.Concat([]cli.Flag{
			command.String("to-height", "keep block `H` and remove the blocks above it"),
		}, command.DatabaseFlags(), command.ProfileFlags()),
		Action: command.Profiled(p.rollback),
	}
}

type rollbackAnswer struct {
	Chain   string           `json:"chain"`
	Network string           `json:"network"`
	Tip     *query.TipAnswer `json:"tip"`
	Removed int              `json:"removed"`
}

func (p *program) rollback(c *cli.Context) (err error) {
	to, err := command.Height(c, "to-height")
	if err != nil {
		return err
	}
	if to == nil {
		return command.UsageError("missing_flag", "missing --to-height H, the last block to keep")
	}
	set, err := p.One(c)
	if err != nil {
		return err
	}
	set.Indexes = nil // roll back all indexes of the database
	db, err := p.Host(c).OpenWriting(c.Context, set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	point, err := db.PointAt(c.Context, *to)
	if err != nil {
		return err
	}
	from := db.Tip().Height
	pace := progress.NewPace("blocks", p.Now)
	stop := p.Watch("rollback", func() progress.Reading {
		return pace.Reading(uint64(from-db.Tip().Height), uint64(from-point.Height))
	})
	defer stop()
	if err := db.Rollback(c.Context, point); err != nil {
		return fmt.Errorf("roll back to block %d: stopped at block %d: %w", point.Height, db.Tip().Height, err)
	}
	stop()
	tip, err := tipOf(db)
	if err != nil {
		return err
	}
	a := rollbackAnswer{db.Chain().Name(), db.Chain().Network(), tip, int(from - point.Height)}
	return p.Answer(db.Chain(), a, func(page *terminal.Page) {
		page.Fields(
			"chain", terminal.Green(a.Chain+" "+a.Network),
			"tip", tipCell(tip),
			"removed", humanize.Plural(a.Removed, "block"),
		)
	})
}
