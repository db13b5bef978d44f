package cli

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
)

func (p *program) valuesCommand() *cli.Command {
	return listCommand(p, cli.Command{
		Name:      "values",
		Usage:     "list the values of an index in the order of their first occurrence",
		ArgsUsage: "INDEX",
		Flags: slices.Concat([]cli.Flag{
			command.String("prefix", "only values that begin with `TEXT`, at most 255 bytes"),
		}, command.OrderedPageFlags("values")),
	}, func(r *request) (*query.ValuesAnswer, error) {
		if r.IsSet("prefix") {
			return r.queries.ValuesByText(r.ctx, r.arg(0), r.String("prefix"), r.page)
		}
		return r.queries.Values(r.ctx, r.arg(0), r.page)
	}, showValues, func(a *query.ValuesAnswer) ([]query.ValueAnswer, *string) { return a.Values, a.Next })
}

func showValues(p *terminal.Page, a *query.ValuesAnswer) {
	p.Fields("index", terminal.Green(a.Index), "values", a.Count, "prefix", a.Prefix)
	if len(a.Values) > 0 {
		p.Heading("values")
	} else if a.Prefix != "" {
		p.Printf("no value has this prefix\n")
	}
	terminal.Table(p, a.Values, []string{"block", a.Index, "first seen"}, func(_ int, v query.ValueAnswer) terminal.Cells {
		seen := v.FirstSeen
		return terminal.Cells{seen.Height, v.Value, terminal.Faint(fmt.Sprintf("%s:%d", seen.Tx, seen.Index))}
	})
	p.More(a.Next)
}
