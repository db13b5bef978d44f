package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) findCommand() *cli.Command {
	find := p.query(cli.Command{
		Name:      "find",
		Usage:     "list the outputs of an address (or any indexed value)",
		ArgsUsage: "INDEX [VALUE]",
		Description: "INDEX asset finds the outputs that contain an asset, by its id or fingerprint. With --or and --and: the outputs that contain\n" +
			"VALUE or any --or value, and every --and value.\n" +
			"With --follow: prints a line per new output and then a line per block, which commits the lines before it. A line\n" +
			"\"rollback\" revokes everything above its block; it is also the first line of a run.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "and", Usage: "only outputs that also contain `INDEX=VALUE`; can be repeated"},
			&cli.StringSliceFlag{Name: "or", Usage: "also outputs that contain `INDEX=VALUE`; can be repeated"},
			&cli.BoolFlag{Name: "unspent", DisableDefaultText: true, Usage: "only unspent outputs"},
		}, rangeFlags(), pageFlags("outputs", true), followFlags()),
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		pg, err := pageOf(c)
		if err != nil {
			return nil, nil, err
		}
		terms, err := termsOf(c)
		if err != nil {
			return nil, nil, err
		}
		a, err := db.Find(ctx, c.Args().Get(0), c.Args().Get(1), terms, pg)
		return a, func(pg *page) { pg.find(a) }, err
	})
	page := find.Action
	find.Action = func(c *cli.Context) error {
		if c.Bool("follow") {
			return p.follow(c)
		}
		for _, f := range followFlags() {
			if name := f.Names()[0]; c.IsSet(name) {
				return usageError("missing_flag", "--%s needs --follow", name)
			}
		}
		if c.NArg() < 2 {
			return usageError("missing_argument", "missing argument VALUE: expected %s", c.Command.UsageText)
		}
		return page(c)
	}
	return find
}

// termsOf reads the flags that select outputs of a value.
func termsOf(c *cli.Context) (t query.Terms, err error) {
	t.Unspent = c.Bool("unspent")
	if t.And, err = termsIn(c, "and"); err != nil {
		return t, err
	}
	if t.Or, err = termsIn(c, "or"); err != nil {
		return t, err
	}
	t.Range, err = rangeOf(c)
	return t, err
}

func termsIn(c *cli.Context, flag string) (terms []query.Term, err error) {
	for _, text := range c.StringSlice(flag) {
		index, value, ok := strings.Cut(text, "=")
		if !ok || index == "" || value == "" {
			return nil, usageError("bad_value", "--%s: expected INDEX=VALUE, not %q", flag, text)
		}
		terms = append(terms, query.Term{Index: index, Value: value})
	}
	return terms, nil
}

func (p *page) find(a *query.FindAnswer) {
	fields := []field{{a.Index, cell{a.Value, green}}}
	for _, t := range a.Or {
		fields = append(fields, field{"or " + t.Index, cell{t.Value, green}})
	}
	for _, t := range a.And {
		fields = append(fields, field{"and " + t.Index, cell{t.Value, green}})
	}
	p.fields(append(fields, field{"first seen", text(p.firstSeen(a.FirstSeen))})...)
	p.heading("outputs")
	if len(a.Outputs) == 0 {
		p.printf("none\n")
	}
	var rows [][]cell
	for _, o := range a.Outputs {
		rows = append(rows, []cell{text(count(o.Height)), text(p.unit.Amount(o.Value)), text(fmt.Sprintf("%s:%d", o.Tx, o.Index)), spender(o)})
	}
	p.table([]column{{"block", true}, {"amount", true}, {name: "output"}, {name: "spent by"}}, rows)
	p.assetEntries(a.Outputs)
	p.more(a.Next)
}

// firstSeen returns the first occurrence of a value or an asset, or that it has none.
func (p *page) firstSeen(f *query.FirstSeenAnswer) string {
	if f == nil {
		return "never used"
	}
	return fmt.Sprintf("block %s, %s:%d", count(f.Height), f.Tx, f.Index)
}
