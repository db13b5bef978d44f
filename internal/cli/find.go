package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func (p *program) findCommand() *cli.Command {
	find := listCommand(p, cli.Command{
		Name:      "find",
		Usage:     "list the outputs of an address (or any indexed value)",
		ArgsUsage: "[INDEX] VALUE",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringSliceFlag{Name: "and", Usage: "only outputs that also contain `INDEX=VALUE`; can be repeated"},
			&cli.StringSliceFlag{Name: "or", Usage: "also outputs that contain `INDEX=VALUE`; can be repeated"},
			command.Bool("unspent", "only unspent outputs"),
		}, []cli.Flag{command.GapFlag()}, command.RangeFlags(), command.OrderedPageFlags("outputs"), followFlags()),
	}, func(r *request) (*query.FindAnswer, error) {
		terms := query.Terms{Unspent: r.Bool("unspent"), Range: r.blocks}
		var err error
		if terms.And, err = termsIn(r.Context, "and"); err != nil {
			return nil, err
		}
		if terms.Or, err = termsIn(r.Context, "or"); err != nil {
			return nil, err
		}
		index, value, err := r.term(true)
		if err != nil {
			return nil, err
		}
		return r.queries.Find(r.ctx, index, value, terms, r.page)
	}, showFind, func(a *query.FindAnswer) ([]query.OutputAnswer, *string) { return a.Outputs, a.Next })
	page := find.Action
	find.Action = func(c *cli.Context) error {
		if c.Bool("follow") {
			return p.follow(c)
		}
		for _, f := range followFlags() {
			if name := f.Names()[0]; c.IsSet(name) {
				return command.UsageError("missing_flag", "--%s needs --follow", name)
			}
		}
		return page(c)
	}
	return find
}

func termsIn(c *cli.Context, flag string) (terms []query.Term, err error) {
	for _, text := range c.StringSlice(flag) {
		index, value, ok := strings.Cut(text, "=")
		if !ok || index == "" || value == "" {
			return nil, command.UsageError("bad_value", "--%s: expected INDEX=VALUE, not %q", flag, text)
		}
		terms = append(terms, query.Term{Index: index, Value: value})
	}
	return terms, nil
}

func showFind(p *terminal.Page, a *query.FindAnswer) {
	fields := []any{a.Index, terminal.Green(a.Value)}
	for _, t := range a.Or {
		fields = append(fields, "or "+t.Index, terminal.Green(t.Value))
	}
	for _, t := range a.And {
		fields = append(fields, "and "+t.Index, terminal.Green(t.Value))
	}
	p.Fields(append(fields, "first seen", firstSeen(a.FirstSeen))...)
	p.Heading("outputs")
	p.IfNone(len(a.Outputs), "none")
	columns := []string{"block", "amount", "output", "spent by"}
	if a.Derived != nil {
		columns = append(columns, "path")
	}
	terminal.Table(p, a.Outputs, columns, func(_ int, o query.OutputAnswer) terminal.Cells {
		cells := terminal.Cells{o.Height, terminal.Right(p.Amount(o.Value)), place(o), spender(o)}
		if a.Derived != nil {
			cells = append(cells, o.Path)
		}
		return cells
	})
	showAssetEntries(p, a.Outputs)
	p.More(a.Next)
}

// firstSeen returns the first occurrence of a value or an asset, or that it has none.
func firstSeen(f *query.FirstSeenAnswer) string {
	if f == nil {
		return "never used"
	}
	return fmt.Sprintf("block %s, %s:%d", humanize.Count(f.Height), f.Tx, f.Index)
}
