package cli

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"birthmark/core/query"
	"birthmark/internal/daemon"
)

func (p *program) statusCommand() *cli.Command {
	return p.query(cli.Command{
		Name:  "status",
		Usage: "show chain, tip, indexes, and the rows and bytes of each column family",
	}, func(ctx context.Context, _ *cli.Context, db *daemon.Database) (any, func(*page), error) {
		a, err := db.Status(ctx)
		return a, func(pg *page) { pg.status(a) }, err
	})
}

func (p *page) status(a *query.StatusAnswer) {
	t := a.Totals
	genesis := ""
	if t.GenesisOutputs > 0 {
		genesis = count(t.GenesisOutputs)
	}
	p.fields(
		field{"chain", cell{a.Chain + " " + a.Network, green}},
		field{"format", text(fmt.Sprint(a.Format))},
		field{"tip", tipCell(a.Tip)},
		field{"blocks", text(count(t.Blocks))},
		field{"transactions", text(count(t.Txs))},
		field{"inputs", text(count(t.Inputs))},
		field{"outputs", text(count(t.Outputs))},
		field{"genesis outputs", text(genesis)},
		field{"assets", text(count(t.Assets))},
		field{"unspent", text(plural(t.Unspent, "output") + ", " + p.unit.Amount(t.UnspentValue))},
	)
	p.heading("indexes")
	var rows [][]cell
	for _, ix := range a.Indexes {
		rows = append(rows, []cell{text(ix.Name), text(ix.Kind), text(count(ix.Values))})
	}
	p.table([]column{{name: "name"}, {name: "kind"}, {"values", true}}, rows)
	p.heading("families")
	rows = nil
	var keys uint64
	var size int64
	for _, f := range a.Families {
		rows = append(rows, []cell{text(f.Name), text(count(f.Keys)), text(byteSize(f.Bytes))})
		keys, size = keys+f.Keys, size+f.Bytes
	}
	rows = append(rows, []cell{{"all", bold}, text(count(keys)), text(byteSize(size))})
	p.table([]column{{name: "name"}, {"rows", true}, {"size", true}}, rows)
}
