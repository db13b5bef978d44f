package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
	"birthmark/internal/progress"
	"birthmark/model"
)

func (p *program) rollbackCommand() *cli.Command {
	return &cli.Command{
		Name:     "rollback",
		Usage:    "remove the blocks above a height",
		Category: building,
		Flags: slices.Concat([]cli.Flag{
			command.String("to-height", "keep block `H` and remove the blocks above it"),
			command.Bool("dry-run", "show what would be removed, and change nothing"),
			command.Bool("yes", "do not ask for confirmation"),
		}, command.DatabaseFlags(), command.ProgressFlags()),
		Action: command.Profiled(p.rollback),
	}
}

type rollbackAnswer struct {
	Chain   string           `json:"chain"`
	Network string           `json:"network"`
	Tip     *query.TipAnswer `json:"tip"`
	Removed int              `json:"removed"`
	DryRun  bool             `json:"dry_run,omitempty"` // nothing was removed; the tip would be Tip
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
	if c.Bool("dry-run") || !c.Bool("yes") && !p.JSON && p.interactive() {
		plan, err := p.planRollback(c, set, *to)
		if err != nil || c.Bool("dry-run") {
			return err
		}
		if err := p.confirmRollback(c, plan); err != nil {
			return err
		}
	}
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
	a := &rollbackAnswer{Chain: db.Chain().Name(), Network: db.Chain().Network(), Tip: tip, Removed: int(from - point.Height)}
	return p.answerRollback(db, a)
}

func (p *program) answerRollback(db *daemon.Database, a *rollbackAnswer) error {
	removed := "removed"
	if a.DryRun {
		removed = "would remove"
	}
	return p.Answer(db.Chain(), a, func(page *terminal.Page) {
		page.Fields(
			"chain", terminal.Green(a.Chain+" "+a.Network),
			"tip", command.TipCell(a.Tip),
			removed, humanize.Plural(a.Removed, "block"),
		)
	})
}

// planRollback returns the effects of a rollback. With --dry-run it prints it.
func (p *program) planRollback(c *cli.Context, set *config.Chain, to model.HeightPk) (a *rollbackAnswer, err error) {
	err = p.ReadChain(c, set, core.Options{}, func(db *daemon.Database) error {
		point, err := db.PointAt(c.Context, to)
		if err != nil {
			return err
		}
		block, err := db.Block(c.Context, db.Chain().FormatHash(point.Hash))
		if err != nil {
			return err
		}
		a = &rollbackAnswer{
			Chain: db.Chain().Name(), Network: db.Chain().Network(), Removed: int(db.Tip().Height - point.Height), DryRun: true,
			Tip: &query.TipAnswer{Height: block.Height, Hash: block.Hash, Time: block.Time},
		}
		if c.Bool("dry-run") {
			return p.answerRollback(db, a)
		}
		return nil
	})
	return a, err
}

// confirmRollback asks on the terminal whether to remove blocks.
func (p *program) confirmRollback(c *cli.Context, plan *rollbackAnswer) error {
	if plan.Removed == 0 {
		return nil
	}
	question := fmt.Sprintf("Remove %s above block %s of %s %s?", humanize.Plural(plan.Removed, "block"),
		humanize.Count(plan.Tip.Height), plan.Chain, plan.Network)
	if !p.confirm(c.Context, question) {
		return command.UsageError("not_confirmed", "nothing was removed, because the rollback was not confirmed")
	}
	return nil
}
