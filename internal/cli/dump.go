package cli

import (
	"bufio"
	"errors"
	"slices"
	"strings"

	"birthmark/core"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"

	"github.com/urfave/cli/v2"
)

func (p *program) dumpCommand() *cli.Command {
	return &cli.Command{
		Name:     "dump",
		Usage:    "dump all rows, or a checksum per column family",
		Category: querying,
		Flags: slices.Concat([]cli.Flag{
			command.String("family", "dump only the family `F`"),
			command.Bool("digest", "print the number of rows and the digest of each family instead of the rows"),
		}, command.DatabaseFlags(), command.ProfileFlags()),
		Action: command.Profiled(p.dump),
	}
}

func (p *program) dump(c *cli.Context) error {
	if p.JSON && !c.Bool("digest") {
		return command.UsageError("bad_value", "--json needs --digest: rows are not printed as JSON")
	}
	return p.Read(c, core.Options{Damaged: true}, func(db *daemon.Database) error { return p.dumpDatabase(c, db) })
}

func (p *program) dumpDatabase(c *cli.Context, db *daemon.Database) error {
	if names := db.Dumped(); c.IsSet("family") && !slices.Contains(names, c.String("family")) {
		return command.BadValue(c, "family", "one of %s", strings.Join(names, ", "))
	}
	if c.Bool("digest") {
		return p.digest(c, db)
	}
	w := bufio.NewWriterSize(p.Stdout, 1<<20)
	only := c.String("family")
	err := db.DumpLines(c.Context, func(family string, line []byte) error {
		if only != "" && only != family {
			return nil
		}
		_, err := w.Write(line)
		return err
	})
	return errors.Join(err, w.Flush())
}

func (p *program) digest(c *cli.Context, db *daemon.Database) error {
	a, err := db.Digest(c.Context, c.String("family"), nil)
	if err != nil {
		return err
	}
	return p.Answer(db.Chain(), a, func(page *terminal.Page) {
		rows := append(slices.Clone(a.Families), core.FamilyDigest{Name: "all", Rows: a.Rows, SHA256: a.SHA256})
		terminal.Table(page, rows, []string{"family", "rows", "sha256"}, func(i int, f core.FamilyDigest) terminal.Cells {
			if i == len(a.Families) {
				return terminal.Cells{terminal.Bold(f.Name), terminal.Bold(f.Rows), terminal.Bold(f.SHA256)}
			}
			return terminal.Cells{f.Name, f.Rows, f.SHA256}
		})
	})
}
