package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) forksCommand() *cli.Command {
	return p.query(cli.Command{
		Name:  "forks",
		Usage: "list blocks orphaned by reorganizations, newest first",
		Description: "Prints the last 1,000 orphaned blocks: their confirmations, the time of the reorganization, and the blocks that replaced\n" +
			"them. Blocks removed by birthmark rollback are not included.",
		Flags: pageFlags("blocks", false),
	}, func(ctx context.Context, c *cli.Context, db *daemon.Database) (any, func(*page), error) {
		pg, err := pageOf(c)
		if err != nil {
			return nil, nil, err
		}
		a, err := db.Forks(ctx, pg)
		return a, func(pg *page) { pg.forks(a) }, err
	})
}

func (p *page) forks(a *query.ForksAnswer) {
	p.fields(field{"chain", cell{a.Chain + " " + a.Network, green}})
	p.heading("forks")
	if len(a.Forks) == 0 {
		p.printf("no reorganizations recorded\n")
	}
	var rows [][]cell
	for i, lost := range a.Forks {
		at, depth := cell{}, cell{}
		if i == 0 || a.Forks[i-1].Depth == 1 { // the lowest block of a fork, which had the most confirmations
			at, depth = text(clock(lost.LostAt)), cell{count(lost.Depth), bold}
		}
		by := cell{"nothing yet", yellow}
		switch {
		case lost.ReplacedBy != nil && *lost.ReplacedBy == lost.Hash:
			by = cell{"it came back", green}
		case lost.ReplacedBy != nil:
			by = text(*lost.ReplacedBy)
		}
		rows = append(rows, []cell{at, depth, text(count(lost.Height)), text(lost.Hash), by})
	}
	p.table([]column{{name: "lost"}, {"depth", true}, {"block", true}, {name: "hash"}, {name: "replaced by"}}, rows)
	p.more(a.Next)
}
