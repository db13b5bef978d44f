package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) valuesCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "values",
		Usage:     "list the values of an index in the order of their first occurrence",
		ArgsUsage: "INDEX",
		Description: "With --prefix: the values that begin with TEXT, in alphabetical order; needs an index with the option prefix. An empty TEXT\n" +
			"lists all values.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "prefix", Usage: "only values that begin with `TEXT`, at most 255 bytes"},
		}, pageFlags("values", true)),
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		pg, err := pageOf(c)
		if err != nil {
			return nil, nil, err
		}
		var a *query.ValuesAnswer
		if c.IsSet("prefix") {
			a, err = db.ValuesByText(ctx, c.Args().First(), c.String("prefix"), pg)
		} else {
			a, err = db.Values(ctx, c.Args().First(), pg)
		}
		return a, func(pg *page) { pg.values(a) }, err
	})
}

func (p *page) values(a *query.ValuesAnswer) {
	p.fields(field{"index", cell{a.Index, green}}, field{"values", text(count(a.Count))}, field{"prefix", text(a.Prefix)})
	if a.Prefix != "" && len(a.Values) == 0 {
		p.printf("no value has this prefix\n")
	}
	if len(a.Values) > 0 {
		p.heading("values")
	}
	var rows [][]cell
	for _, v := range a.Values {
		rows = append(rows, []cell{text(count(v.FirstSeen.Height)), text(v.Value), {fmt.Sprintf("%s:%d", v.FirstSeen.Tx, v.FirstSeen.Index), faint}})
	}
	p.table([]column{{"block", true}, {name: a.Index}, {name: "first seen"}}, rows)
	p.more(a.Next)
}
