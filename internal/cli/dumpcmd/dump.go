// Package dumpcmd is the command birthmark dump, which prints all rows or checksums of them.
package dumpcmd

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"slices"
	"strings"

	"birthmark/core"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"

	"github.com/urfave/cli/v2"
)

// Command returns the command dump.
func Command(e *command.Env, category string) *cli.Command {
	return &cli.Command{
		Name:     "dump",
		Usage:    "dump all rows, or a checksum per column family",
		Category: category,
		Flags: slices.Concat([]cli.Flag{
			command.String("family", "dump only the family `F`"),
			command.Bool("digest", "print the number of rows and the digest of each family instead of the rows"),
		}, command.DatabaseFlags(), command.ProfileFlags()),
		Action: command.Profiled(func(c *cli.Context) error { return dump(e, c) }),
	}
}

func dump(p *command.Env, c *cli.Context) error {
	if p.JSON && !c.Bool("digest") {
		return command.UsageError("bad_value", "--json needs --digest: rows are not printed as JSON")
	}
	return p.Read(c, core.Options{Damaged: true}, func(db *daemon.Database) error { return dumpDatabase(p, c, db) })
}

func dumpDatabase(p *command.Env, c *cli.Context, db *daemon.Database) error {
	if names := db.Dumped(); c.IsSet("family") && !slices.Contains(names, c.String("family")) {
		return command.BadValue(c, "family", "one of %s", strings.Join(names, ", "))
	}
	if c.Bool("digest") {
		return digest(p, c, db)
	}
	w := bufio.NewWriterSize(p.Stdout, 1<<20)
	err := dumpLines(c.Context, db, c.String("family"), func(_ string, line []byte) error {
		_, err := w.Write(line)
		return err
	})
	return errors.Join(err, w.Flush())
}

// dumpLines calls a function with the line of each row, of one family or with "" of all.
func dumpLines(
	ctx context.Context, db *daemon.Database, only string, use func(family string, line []byte) error,
) error {
	var line []byte
	return db.Dump(ctx, func(family string, key, value []byte) error {
		if only != "" && only != family {
			return nil
		}
		line = append(append(line[:0], family...), ' ')
		line = append(hex.AppendEncode(line, key), ' ')
		line = append(hex.AppendEncode(line, value), '\n')
		return use(family, line)
	})
}

// Digest is the checksums that make databases comparable.
type Digest struct {
	Families []FamilyDigest `json:"families"` // families with rows, by name
	Rows     uint64         `json:"rows"`
	SHA256   string         `json:"sha256"`
}

// FamilyDigest is the checksum of a family.
type FamilyDigest struct {
	Name   string `json:"name"`
	Rows   uint64 `json:"rows"`
	SHA256 string `json:"sha256"`
}

func digest(p *command.Env, c *cli.Context, db *daemon.Database) error {
	all, a := sha256.New(), Digest{Families: []FamilyDigest{}}
	hashes := []hash.Hash{} // of the families
	err := dumpLines(c.Context, db, c.String("family"), func(family string, line []byte) error {
		last := len(a.Families) - 1
		if last < 0 || a.Families[last].Name != family {
			a.Families, hashes, last = append(a.Families, FamilyDigest{Name: family}), append(hashes, sha256.New()), last+1
		}
		a.Families[last].Rows++
		a.Rows++
		_, err := io.MultiWriter(all, hashes[last]).Write(line)
		return err
	})
	if err != nil {
		return err
	}
	for i, h := range hashes {
		a.Families[i].SHA256 = hex.EncodeToString(h.Sum(nil))
	}
	a.SHA256 = hex.EncodeToString(all.Sum(nil))
	return p.Answer(db.Chain(), a, func(page *terminal.Page) {
		rows := append(slices.Clone(a.Families), FamilyDigest{"all", a.Rows, a.SHA256})
		terminal.Table(page, rows, []string{"family", "rows", "sha256"}, func(i int, f FamilyDigest) terminal.Cells {
			if i == len(a.Families) {
				return terminal.Cells{terminal.Bold(f.Name), terminal.Bold(f.Rows), terminal.Bold(f.SHA256)}
			}
			return terminal.Cells{f.Name, f.Rows, f.SHA256}
		})
	})
}
