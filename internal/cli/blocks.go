package cli

import (
	"context"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) blocksCommand() *cli.Command {
	return p.query(cli.Command{
		Name:  "blocks",
		Usage: "list blocks, without their transactions",
		Flags: slices.Concat(rangeFlags(), pageFlags("blocks", true)),
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		pg, err := pageOf(c)
		if err != nil {
			return nil, nil, err
		}
		r, err := rangeOf(c)
		if err != nil {
			return nil, nil, err
		}
		a, err := db.Blocks(ctx, r, pg)
		return a, func(pg *page) { pg.blocks(a) }, err
	})
}

func (p *page) blocks(a *query.BlocksAnswer) {
	if len(a.Blocks) == 0 {
		p.printf("no block\n")
	}
	var rows [][]cell
	for _, b := range a.Blocks {
		rows = append(rows, []cell{text(count(b.Height)), text(b.Hash), text(clock(b.Time)), text(count(b.TxCount)), text(count(b.Size))})
	}
	p.table([]column{{"block", true}, {name: "hash"}, {name: "time"}, {"transactions", true}, {"bytes", true}}, rows)
	p.more(a.Next)
}
