package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
	"birthmark/internal/progress"
)

func (p *program) rollbackCommand() *cli.Command {
	return &cli.Command{
		Name:        "rollback",
		Usage:       "remove the blocks above a height",
		Category:    building,
		Description: "Needs no source. If interrupted, only the newest blocks are removed and the database is consistent.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "to-height", Usage: "keep block `H` and remove the blocks above it"},
		}, databaseFlags(), profileFlags()),
		Action: profiled(p.rollback),
	}
}

func (p *program) rollback(c *cli.Context) (err error) {
	to, err := heightFlag(c, "to-height")
	if err != nil {
		return err
	}
	if to == nil {
		return usageError("missing_flag", "missing --to-height H, the last block to keep")
	}
	set, err := p.one(c)
	if err != nil {
		return err
	}
	set.Indexes = nil // roll back all indexes of the database
	db, err := p.host(c).OpenWriting(c.Context, set)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	point, err := db.PointAt(c.Context, *to)
	if err != nil {
		return err
	}
	from := db.Tip().Height
	pace := progress.NewPace("blocks", p.now)
	stop := p.watch("rollback", func() progress.Reading {
		return pace.Reading(uint64(from-db.Tip().Height), uint64(from-point.Height))
	})
	defer stop()
	if err := db.Rollback(c.Context, point); err != nil {
		return fmt.Errorf("roll back to block %d: stopped at block %d: %w", point.Height, db.Tip().Height, err)
	}
	stop()
	return p.rollbackAnswer(db, int(from-point.Height))
}

// rollbackAnswer is the answer of rollback.
type rollbackAnswer struct {
	Chain   string           `json:"chain"`
	Network string           `json:"network"`
	Tip     *query.TipAnswer `json:"tip"`
	Removed int              `json:"removed"`
}

func (p *program) rollbackAnswer(db *daemon.Database, removed int) error {
	tip, err := tipOf(db)
	if err != nil {
		return err
	}
	a := rollbackAnswer{db.Chain().Name(), db.Chain().Network(), tip, removed}
	return p.answer(db.Chain(), a, func(pg *page) {
		pg.fields(append(tipFields(a.Chain, a.Network, tip), field{"removed", text(plural(removed, "block"))})...)
	})
}
