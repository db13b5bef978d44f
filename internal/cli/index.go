package cli

import (
	"context"
	"errors"
	"slices"

	"birthmark/core"
	"birthmark/core/check"
	"birthmark/internal/control"
	"birthmark/internal/daemon"

	"github.com/urfave/cli/v2"
)

func (p *program) indexCommand() *cli.Command {
	return &cli.Command{
		Name:     "index",
		Usage:    "list, add, drop and check the indexes of a database",
		Category: building,
		Subcommands: []*cli.Command{
			{
				Name:  "list",
				Usage: "list the indexes, their options, and the progress of indexes that are being added or dropped",
				Flags: databaseFlags(),
				Action: func(c *cli.Context) error {
					return p.readIndexes(c, func(ctx context.Context, db *daemon.Database) error {
						a, err := indexesAnswerOf(ctx, db)
						if err != nil {
							return err
						}
						return p.answer(db.Chain(), a, func(pg *page) { pg.indexes(a.Indexes) })
					})
				},
			},
			{
				Name:      "add",
				Usage:     "add an index, or options of an existing index",
				ArgsUsage: "NAME",
				Description: "Definition and options come from the settings of NAME; without settings, a built-in index is added with its defaults.\n" +
					"If another process is syncing the database, that process adds the index while it continues to sync.\n" +
					"If interrupted, run the same command again, or let the next sync resume it.",
				Flags: slices.Concat([]cli.Flag{
					&cli.StringFlag{Name: "source", Usage: "`URI` of the source of the blocks; needed for values that are not in the database"},
					&cli.StringFlag{Name: "password-file", Usage: "`FILE` with the password of the source, or user:password: a node's .cookie file"},
				}, changeFlags()),
				Action: profiled(p.indexAdd),
			},
			{
				Name:        "drop",
				Usage:       "drop an index",
				ArgsUsage:   "NAME",
				Description: "Frees its disk space. Other indexes do not change. If another process is syncing the database, that process drops it.",
				Flags:       changeFlags(),
				Action:      profiled(p.indexDrop),
			},
			{
				Name:        "verify",
				Usage:       "check one index for internal consistency",
				ArgsUsage:   "NAME",
				Description: "Like check, but reads only the families of the index and the outputs. The exit status is 1 if there are inconsistencies.",
				Flags:       slices.Concat(databaseFlags(), profileFlags()),
				Action: profiled(func(c *cli.Context) error {
					return p.readIndexes(c, func(ctx context.Context, db *daemon.Database) error {
						return p.checked(db, "index verify "+c.Args().First(), func(progress func(done, total uint64)) (*check.Result, error) {
							return db.Check(ctx, check.Options{Index: c.Args().First(), Progress: progress})
						})
					})
				}),
			},
		},
	}
}

// changeFlags returns the flags of commands that change an index.
func changeFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		&cli.BoolFlag{Name: "detach", DisableDefaultText: true, Usage: "do not wait until another process that syncs the database is done"},
	}, databaseFlags(), profileFlags())
}

// readIndexes opens the database for reading with its stored indexes, even if the settings define them differently.
func (p *program) readIndexes(c *cli.Context, do func(ctx context.Context, db *daemon.Database) error) error {
	set, err := p.one(c)
	if err != nil {
		return err
	}
	set.Indexes = nil
	db, err := p.host(c).OpenReading(c.Context, set, core.Options{})
	if err != nil {
		return err
	}
	return errors.Join(do(c.Context, db), db.Close())
}

func (p *program) indexAdd(c *cli.Context) error {
	set, err := p.one(c)
	if err != nil {
		return err
	}
	r := control.Request{Do: control.Add, Index: c.Args().First()}
	for _, ix := range set.Indexes {
		if ix.Name == r.Index {
			r.Keep, r.Definition = ix.Options, ix.Definition
		}
	}
	if r.Definition != nil { // errors name the place in the settings
		db, err := p.openReading(c, core.Options{})
		if err != nil {
			return err
		}
		if err := db.Close(); err != nil {
			return err
		}
	}
	return p.change(c, set, r)
}

func (p *program) indexDrop(c *cli.Context) error {
	set, err := p.one(c)
	if err != nil {
		return err
	}
	return p.change(c, set, control.Request{Do: control.Drop, Index: c.Args().First()})
}
