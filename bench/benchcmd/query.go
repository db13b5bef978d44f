package benchcmd

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/core"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/humanize"
)

func (b *commands) queryCommand() *cli.Command {
	return &cli.Command{
		Name:  "query",
		Usage: "measure queries",
		Flags: slices.Concat([]cli.Flag{
			command.StringDefault("db", "database folder `DIR`", "a generated database"),
			command.StringDefault("txs", "generate `N` transactions", "1000000"),
			command.String("reuse-db", "create the generated database in `DIR`, or reuse the one in it"),
			command.StringDefault("samples", "sample `N` of each kind", "1000"),
			command.String("network", "`NETWORK` of --db, if it cannot be detected"),
		}, commonFlags()),
		Action: b.query,
	}
}

// QueryAnswer is the document of bench query.
type QueryAnswer struct {
	Chain   string                      `json:"chain"`
	Network string                      `json:"network"`
	Memory  int64                       `json:"memory"`            // bytes
	Indexes map[string]config.IndexView `json:"indexes,omitempty"` // of a generated database
	*bench.QueryResult
}

func (b *commands) query(c *cli.Context) error {
	numbers, err := readNumbers(c, map[string]uint64{"txs": 1_000_000, "samples": 1000, "seed": 1})
	if err != nil {
		return err
	}
	err = command.Exclusive(c, "db", "txs", "reuse-db", "block-txs", "indexes", "index-file", "hot-outputs", "hot-unspent")
	if err != nil {
		return err
	}
	set, err := b.One(c)
	if err != nil {
		return err
	}
	o := bench.QueryOptions{Samples: int(numbers["samples"]), Seed: numbers["seed"]}
	if c.IsSet("db") {
		return b.queryDatabase(c, set, nil, o)
	}
	return b.withGeneratedDatabase(c, numbers["txs"], func(set *config.Chain, recording *bench.Recording) error {
		o.Hottest = recording.Hottest
		return b.queryDatabase(c, set, indexViews(&recording.Chain), o)
	})
}

func (b *commands) queryDatabase(
	c *cli.Context, set *config.Chain, indexes map[string]config.IndexView, o bench.QueryOptions,
) error {
	return b.ReadChain(c, set, core.Options{}, func(db *daemon.Database) error {
		a := &QueryAnswer{
			Chain: db.Chain().Name(), Network: db.Chain().Network(), Memory: int64(b.Settings.Memory), Indexes: indexes,
		}
		err := command.Profile(c, func() (err error) {
			a.QueryResult, err = bench.Query(c.Context, db.DB, o)
			return err
		})
		if err != nil {
			return err
		}
		return b.Answer(db.Chain(), a, func(page *terminal.Page) { showQuery(page, a) })
	})
}

func showQuery(p *terminal.Page, a *QueryAnswer) {
	hottest, found := a.Hottest, "known"
	if hottest.Sampled {
		found = "the most frequent in the sample"
	}
	p.Fields(
		"chain", terminal.Green(a.Chain+" "+a.Network),
		"transactions", a.Txs,
		"indexes", indexesLine(a.Indexes),
		"index", a.Index,
		"hottest", hottest.Value,
		"its outputs", fmt.Sprintf("%s (%s)", humanize.Count(hottest.Outputs), found),
		"peak memory", humanize.Bytes(a.PeakRSS),
	)
	p.Heading("microseconds")
	showLatencies(p, bench.Questions, a.Micros)
	p.Heading("complete lists of the hottest value")
	lists := slices.DeleteFunc([]string{"find", "history"}, func(name string) bool { _, ok := a.Lists[name]; return !ok })
	terminal.Table(p, lists, []string{"list", "rows", "rows/s", ""}, func(_ int, name string) terminal.Cells {
		l, end := a.Lists[name], "complete"
		if !l.Whole {
			end = "truncated"
		}
		return terminal.Cells{terminal.Green(name), l.Rows, terminal.Bold(uint64(l.RowsPerSecond)), end}
	})
}
