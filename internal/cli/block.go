package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
)

func (p *program) blockCommand() *cli.Command {
	return p.query(cli.Command{
		Name:      "block",
		Usage:     "show a block and the hashes of its transactions",
		ArgsUsage: "HASH|HEIGHT|tip",
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		a, err := db.Block(ctx, c.Args().First())
		return a, func(pg *page) { pg.block(a) }, err
	})
}

func (p *page) block(a *query.BlockAnswer) {
	fields := []field{
		{"block", cell{count(a.Height), green}},
		{"hash", text(a.Hash)},
		{"previous", text(a.PrevHash)},
		{"time", text(clock(a.Time))},
		{"size", text(count(a.Size) + " bytes")},
	}
	p.fields(append(fields, headerFields(a.Header)...)...)
	p.heading(plural(a.TxCount, "transaction"))
	var rows [][]cell
	for i, hash := range a.Txs {
		rows = append(rows, []cell{{fmt.Sprint(i), faint}, text(hash)})
	}
	p.table([]column{{"#", true}, {name: "hash"}}, rows)
}

// headerFields returns the chain's header fields.
func headerFields(header any) []field {
	var fields []field
	for _, f := range humanize.Header(header) {
		fields = append(fields, field{f[0], text(f[1])})
	}
	return fields
}
