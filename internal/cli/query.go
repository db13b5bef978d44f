package cli

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/api/csvlist"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/query/search"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/daemon"
	"birthmark/model"
)

// request is a query of the command line: the database, the arguments, and the page and range that the flags select.
type request struct {
	*cli.Context
	ctx     context.Context
	db      *daemon.Database
	queries query.Queries // of the database, or of one snapshot
	gap     int           // of wallets; 0: the default
	page    query.Page
	blocks  query.Range
}

// arg returns an argument, or "" if it was omitted.
func (r *request) arg(i int) string { return r.Args().Get(i) }

// term returns the arguments [INDEX] VALUE. Without INDEX, the value determines the index. [query.AssetTerm] is an index
// too if assets is set.
func (r *request) term(assets bool) (index, value string, err error) {
	if r.NArg() == 2 {
		return r.arg(0), r.arg(1), nil
	}
	value = r.arg(0)
	if isIndex(r.db, value) {
		return "", "", missingValue(r.Context)
	}
	if assets {
		_, err := r.queries.Asset(r.ctx, value)
		kind, _ := model.KindOf(err)
		if err == nil {
			return query.AssetTerm, value, nil
		} else if kind != model.NotFound && kind != model.Usage {
			return "", "", err
		}
	}
	return search.IndexOf(r.ctx, r.queries, r.db.Chain(), value)
}

// isIndex reports whether a word is the name of an index, not a value.
func isIndex(db *daemon.Database, word string) bool {
	return word == query.AssetTerm || slices.Contains(db.Indexes(), word)
}

func missingValue(c *cli.Context) error {
	return command.UsageError("missing_argument", "missing argument VALUE: expected %s", c.Command.UsageText)
}

// queryCommand returns a command that queries a database. ask returns the answer, and show prints it as text.
func queryCommand[A any](
	p *program, c cli.Command, ask func(*request) (A, error), show func(*terminal.Page, A),
) *cli.Command {
	return p.databaseCommand(c, func(r *request) error {
		a, err := ask(r)
		if err != nil {
			return err
		}
		return answer(p, r, a, show)
	})
}

// listCommand returns a command that queries a list, which --csv prints as CSV, the whole list from one snapshot unless
// --limit is set: entries returns the entries of an answer and the cursor of the next page.
func listCommand[A, E any](
	p *program, c cli.Command, ask func(*request) (A, error), show func(*terminal.Page, A), entries func(A) ([]E, *string),
) *cli.Command {
	c.Flags = append(c.Flags, csvFlags()...)
	return p.databaseCommand(c, func(r *request) error {
		if r.Bool("csv") {
			return printCSV(p, r, ask, entries)
		}
		a, err := ask(r)
		if err != nil {
			return err
		}
		return answer(p, r, a, show)
	})
}

// printCSV prints a list as CSV.
func printCSV[A, E any](p *program, r *request, ask func(*request) (A, error), entries func(A) ([]E, *string)) error {
	return r.db.View(r.ctx, func(v *query.View) error {
		v.ReadAhead(new(query.Ahead))
		r.queries = v.WithGap(r.gap)
		o := csvlist.OptionsOf(v.IndexNames(), r.db.Chain(), func(id string) (*query.AssetAnswer, error) { return v.Asset(r.ctx, id) })
		o.Raw = r.Bool("raw-amounts")
		whole := !r.IsSet("limit") && r.hasFlag("after")
		if whole {
			r.page.Limit = csvPage
		}
		var w *csvlist.Writer
		for {
			a, err := ask(r)
			if err == nil && w == nil {
				o.Describe(a)
				w, err = csvlist.New(p.Stdout, reflect.TypeFor[E](), o)
			}
			if err != nil {
				return truncated(p, r, w, err)
			}
			list, next := entries(a)
			for i := range list {
				if err := w.Write(&list[i]); err != nil {
					return err
				}
			}
			if err := w.Flush(); err != nil {
				return err
			}
			switch {
			case next == nil:
				return nil
			case !whole:
				fmt.Fprintln(p.Stderr, "birthmark: there is more: --after", *next)
				return nil
			}
			r.page.After = *next
		}
	})
}

// hasFlag reports whether the command has a flag.
func (r *request) hasFlag(name string) bool {
	return slices.ContainsFunc(r.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// csvPage is the number of entries that are read at once.
const csvPage = 1000

// truncated prints where a list that failed continues, and returns the error.
func truncated(p *program, r *request, w *csvlist.Writer, err error) error {
	if w != nil && r.page.After != "" {
		fmt.Fprintln(p.Stderr, "birthmark: the list is incomplete: continue with --after", r.page.After)
	}
	return err
}

func csvFlag() cli.Flag {
	return command.Bool("csv", "print CSV with a header, all entries unless --limit is set")
}

func csvFlags() []cli.Flag {
	return []cli.Flag{
		csvFlag(),
		command.Bool("raw-amounts", "in CSV: amounts in the smallest unit and times in unix seconds"),
	}
}

func (p *program) checkCSV(c *cli.Context) error {
	if c.Bool("csv") && p.JSON {
		return command.UsageError("bad_value", "--csv and --json cannot be combined")
	}
	if c.Bool("raw-amounts") && !c.Bool("csv") {
		return command.UsageError("missing_flag", "--raw-amounts needs --csv")
	}
	return nil
}

// databaseCommand returns a command that reads a database.
func (p *program) databaseCommand(c cli.Command, do func(*request) error) *cli.Command {
	c.Category = querying
	c.Flags = slices.Concat(c.Flags, []cli.Flag{
		command.Bool("wide", "print whole hashes also if they do not fit the terminal"),
	}, command.DatabaseFlags())
	c.Action = command.Profiled(func(c *cli.Context) (err error) {
		r := &request{Context: c, ctx: c.Context}
		if err = p.checkCSV(c); err != nil {
			return err
		}
		if r.page, err = command.Page(c); err != nil {
			return err
		}
		if r.blocks, err = command.Range(c); err != nil {
			return err
		}
		if r.hasFlag("gap") {
			if r.gap, err = command.Gap(c); err != nil {
				return err
			}
		}
		return p.Read(c, core.Options{}, func(db *daemon.Database) error {
			r.db, r.queries = db, db.WithGap(r.gap)
			return do(r)
		})
	})
	return &c
}

// answer prints the answer to a query.
func answer[A any](p *program, r *request, a A, show func(*terminal.Page, A)) error {
	return p.Answer(r.db.Chain(), a, func(page *terminal.Page) {
		if r.Bool("wide") {
			page.Width = 0
		}
		page.Asset = r.assets()
		show(page, a)
	})
}

// maxAssets is the maximum number of assets of an answer whose names and decimals are read.
const maxAssets = 1000

// assets returns a function that returns the name and the decimals of an asset.
func (r *request) assets() func(id string) terminal.Asset {
	known := map[string]terminal.Asset{}
	return func(id string) terminal.Asset {
		a, ok := known[id]
		if ok || len(known) == maxAssets {
			return a
		}
		if found, err := r.db.Asset(r.ctx, id); err == nil { // the amount is shown without decimals if it is unknown
			a = assetOf(r.db.Chain(), found)
		}
		known[id] = a
		return a
	}
}

func assetOf(chain model.Chain, a *query.AssetAnswer) terminal.Asset {
	return terminal.Asset{Name: query.AssetName(chain, a), Decimals: a.ShownDecimals()}
}
