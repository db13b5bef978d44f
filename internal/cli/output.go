package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) outputCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "output",
		Usage:     "show an output: value, address and spending input (Ergo: also by box id)",
		ArgsUsage: "TXHASH:N",
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		a, err := db.Output(ctx, c.Args().First())
		return a, func(pg *page) { pg.output(a) }, err
	})
}

func (p *page) output(a *query.OutputAnswer) {
	fields := []field{
		{"output", cell{fmt.Sprintf("%s:%d", a.Tx, a.Index), green}},
		{"block", text(fmt.Sprintf("%s, transaction %s", count(a.Height), count(a.TxIndex)))},
		{"value", text(p.unit.Amount(a.Value))},
		{"spent by", spender(*a)},
	}
	for _, name := range slices.Sorted(maps.Keys(a.Keys)) {
		fields = append(fields, field{name, text(keyText(a.Keys[name]))})
	}
	p.fields(fields...)
	p.assetEntries([]query.OutputAnswer{*a})
}
