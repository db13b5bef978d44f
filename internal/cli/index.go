package cli

import (
	"slices"
	"strings"

	"birthmark/chains/adapter"
	"birthmark/core"
	"birthmark/core/check"
	"birthmark/core/schema"
	"birthmark/internal/cli/command"
	"birthmark/internal/config"
	"birthmark/internal/control"
	"birthmark/internal/daemon"

	"github.com/urfave/cli/v2"
)

func (p *program) indexCommand() *cli.Command {
	return &cli.Command{
		Name:     "index",
		Usage:    "list, add, drop, check and try the indexes of a database",
		Category: building,
		Subcommands: []*cli.Command{
			{
				Name:  "list",
				Usage: "list the indexes, their options, and the progress of indexes that are being added or dropped",
				Flags: append([]cli.Flag{csvFlag()}, command.DatabaseFlags()...),
				Action: func(c *cli.Context) error {
					if err := p.checkCSV(c); err != nil {
						return err
					}
					return p.readIndexes(c, func(db *daemon.Database) error { return p.listIndexes(c, db) })
				},
			},
			{
				Name:      "add",
				Usage:     "add an index, options of an existing index, raw transactions (raw), or derived assets (such as runes)",
				ArgsUsage: "NAME",
				Flags: slices.Concat(
					[]cli.Flag{command.String("index", "`PRESETS` whose options and definition the index gets too: "+
						strings.Join(config.Presets(), ", ")),
						command.Optional("raw", "of raw: `keep|files`, the database stores the transactions (the default), "+
							"or their places in the node's block files")},
					command.SourceFlags("`URI` of the source of the blocks; needed for values that are not in the database"),
					changeFlags(),
				),
				Action: command.Profiled(p.indexAdd),
			},
			p.indexTryCommand(),
			{
				Name:      "drop",
				Usage:     "drop an index, or raw transactions (raw)",
				ArgsUsage: "NAME",
				Flags:     changeFlags(),
				Action:    command.Profiled(p.indexDrop),
			},
			{
				Name:      "verify",
				Usage:     "check one index for internal consistency",
				ArgsUsage: "NAME",
				Flags:     slices.Concat(command.DatabaseFlags(), command.ProgressFlags()),
				Action: command.Profiled(func(c *cli.Context) error {
					return p.readIndexes(c, func(db *daemon.Database) error {
						return p.check(c, db, check.Options{Index: c.Args().First()})
					})
				}),
			},
		},
	}
}

// changeFlags returns the flags of commands that change an index.
func changeFlags() []cli.Flag {
	return slices.Concat([]cli.Flag{
		command.Bool("detach", "do not wait until another process that syncs the database is done"),
	}, command.DatabaseFlags(), command.ProgressFlags())
}

// readIndexes opens the database for reading with its stored indexes, even if the settings define them differently.
func (p *program) readIndexes(c *cli.Context, do func(*daemon.Database) error) error {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	set.Indexes = nil
	return p.ReadChain(c, set, core.Options{}, do)
}

func (p *program) indexAdd(c *cli.Context) error {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	r := control.Request{Do: control.Add, Index: c.Args().First()}
	if c.IsSet("source") { // the process that reads it can have another working folder
		if r.Source, err = adapter.Absolute(set.Source); err != nil {
			return err
		}
	}
	if r.Index == schema.RawName {
		return p.rawAdd(c, set, r)
	}
	named := func(ix config.Index) bool { return ix.Name == r.Index }
	if c.IsSet("index") && !slices.ContainsFunc(set.Indexes, named) {
		return command.UsageError("unknown_index", "--index: %s does not have index %s", c.String("index"), r.Index)
	}
	for _, ix := range set.Indexes {
		if ix.Name == r.Index {
			r.Keep, r.Definition = ix.Options, ix.Definition
		}
	}
	if r.Definition != nil { // errors name the place in the settings
		if err := p.Read(c, core.Options{}, func(*daemon.Database) error { return nil }); err != nil {
			return err
		}
	}
	return p.change(c, set, r)
}

// rawAdd adds raw transactions or their places.
func (p *program) rawAdd(c *cli.Context, set *config.Chain, r control.Request) error {
	switch set.Raw {
	case config.RawFiles:
		r.Index = schema.RawFilesName
	case config.RawNode:
		return command.UsageError("bad_option", "raw: node needs nothing in the database: to store raw transactions, run birthmark index add raw --raw=keep")
	}
	return p.change(c, set, r)
}

func (p *program) indexDrop(c *cli.Context) error {
	set, err := p.One(c)
	if err != nil {
		return err
	}
	return p.change(c, set, control.Request{Do: control.Drop, Index: c.Args().First()})
}
