// Command birthmark is the program of cmd/birthmark with databases in TiKV: --db tikv://HOST:PORT/NAME, and a command
// that loads a database of a folder into a cluster. It is a program of its own so that the other one has none of the
// dependencies of TiKV's client.
package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"birthmark/core"
	"birthmark/core/schema"
	"birthmark/distributed/tikv"
	birthmark "birthmark/internal/cli"
	"birthmark/internal/cli/command"
	"birthmark/internal/daemon"
	"birthmark/storage"
)

func main() {
	daemon.RegisterStore(tikv.Scheme, open)
	os.Exit(birthmark.Main(loadCommand))
}

func open(ctx context.Context, url string, readOnly bool, purpose string) (storage.Store, error) {
	c, err := tikv.ParseURL(url)
	if err != nil {
		return nil, command.UsageError("bad_setting", "%w", err)
	}
	s, err := tikv.Open(ctx, c, tikv.Options{ReadOnly: readOnly, Purpose: purpose})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func loadCommand(e *command.Env, category string) *cli.Command {
	return &cli.Command{
		Name:     "load",
		Usage:    "copy a database from a folder to an empty database in TiKV",
		Category: category,
		Description: "Run the same command again to continue a load that was interrupted. The database in the folder must\n" +
			"not be synced meanwhile: stop its process, or load a snapshot.",
		Flags: slices.Concat([]cli.Flag{
			command.String("from", "the folder `DIR` of the database"),
			command.String("to", "the `URL` of the new database, tikv://HOST:PORT/NAME"),
		}, command.CommonFlags()),
		Action: func(c *cli.Context) error { return load(e, c) },
	}
}

func load(e *command.Env, c *cli.Context) error {
	for _, flag := range []string{"from", "to"} {
		if c.String(flag) == "" {
			return command.UsageError("missing_flag", "missing --%s", flag)
		}
	}
	to, err := tikv.ParseURL(c.String("to"))
	if err != nil {
		return command.UsageError("bad_value", "%w", err)
	}
	set, err := e.One(c)
	if err != nil {
		return err
	}
	set.DB = c.String("from")
	return e.ReadChain(c, set, core.Options{}, func(db *daemon.Database) error {
		tip := db.Tip()
		source := fmt.Sprintf("%s %s at height %d, %s", db.Chain().Name(), db.Chain().Network(), tip.Height, db.Chain().FormatHash(tip.Hash))
		s, err := tikv.Open(c.Context, to, tikv.Options{Purpose: "birthmark load", Load: source})
		if err != nil {
			return err
		}
		defer s.Close()
		advance, stop := e.WatchCount("load", "rows")
		var rows atomic.Uint64
		err = s.Load(c.Context, db.Store, db.Families(), schema.FamilyMeta, func(n int) { advance(rows.Add(uint64(n)), 0) })
		stop()
		if err != nil {
			return fmt.Errorf("after %d rows: %w", rows.Load(), err)
		}
		_, err = fmt.Fprintf(e.Stdout, "loaded %d rows of %s into %s\n", rows.Load(), source, to)
		return err
	})
}
