package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"slices"

	"birthmark/bench"
	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

func (p *program) benchQueryCommand() *cli.Command {
	return &cli.Command{
		Name:  "query",
		Usage: "measure queries",
		Description: "Queries random transactions, outputs, blocks and values, and the value with the most outputs. Each query runs twice and the\n" +
			"second run is measured, when its data is in memory. The database is --db, or a generated one that is removed at the end or\n" +
			"kept in --reuse-db. For --db, the hottest value is the most frequent one in the sample.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "db", Usage: "database folder `DIR`", DefaultText: "a generated database"},
			&cli.StringFlag{Name: "txs", Usage: "generate `N` transactions", DefaultText: "1000000"},
			&cli.StringFlag{Name: "reuse-db", Usage: "create the generated database in `DIR`, or reuse the one in it"},
			&cli.StringFlag{Name: "samples", Usage: "sample `N` of each kind", DefaultText: "1000"},
		}, generatedFlags(), memoryFlags(), []cli.Flag{
			&cli.StringFlag{Name: "network", Usage: "`NETWORK` of --db, if it cannot be detected"},
		}, profileFlags(), commonFlags()),
		Action: p.benchQuery,
	}
}

// benchQueryAnswer is the document of bench query.
type benchQueryAnswer struct {
	Chain   string                      `json:"chain"`
	Network string                      `json:"network"`
	Memory  int64                       `json:"memory"`            // bytes
	Indexes map[string]config.IndexView `json:"indexes,omitempty"` // of a generated database
	*bench.QueryResult
}

func (p *program) benchQuery(c *cli.Context) (err error) {
	numbers, err := benchNumbers(c, map[string]uint64{"txs": 1_000_000, "samples": 1000, "seed": 1})
	if err != nil {
		return err
	}
	set, err := p.one(c)
	if err != nil {
		return err
	}
	var indexes map[string]config.IndexView
	o := bench.QueryOptions{Samples: int(numbers["samples"]), Seed: numbers["seed"]}
	if c.IsSet("db") {
		for _, name := range []string{"txs", "reuse-db", "block-txs", "indexes", "index-file", "hot-outputs", "hot-unspent"} {
			if c.IsSet(name) {
				return usageError("bad_value", "--%s is of a generated database: expected it without --db", name)
			}
		}
	} else {
		chain, err := generatedChain(c, 2000)
		if err != nil {
			return err
		}
		chain.Txs = int(numbers["txs"])
		dir := c.String("reuse-db")
		if dir == "" {
			if dir, err = os.MkdirTemp(c.String("dir"), "birthmark-bench-"); err != nil {
				return err
			}
			defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
		}
		made, err := p.keptDatabase(c, dir, chain)
		if err != nil {
			return err
		}
		// The database stores its chain and network.
		set = &config.Chain{DB: filepath.Join(dir, keptFolder), Indexes: indexesSet(&chain), Memory: p.settings.Memory}
		indexes = benchIndexes(&chain)
		o.Hottest = made.Hottest
	}
	db, err := p.host(c).OpenReading(c.Context, set, core.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var result *bench.QueryResult
	err = profile(c, func(c *cli.Context) (err error) {
		result, err = bench.Query(c.Context, db.DB, o)
		return err
	})
	if err != nil {
		return err
	}
	a := benchQueryAnswer{db.Chain().Name(), db.Chain().Network(), int64(p.settings.Memory), indexes, result}
	return p.answer(db.Chain(), a, func(pg *page) { pg.benchQuery(&a) })
}

// Content of a folder with a generated database: the database, and its blocks while it is created.
const (
	keptFolder     = "db"
	unfinishedWork = "blocks"
)

// keptDatabase makes a settled database of generated blocks in dir, or finds the one that was made of the same.
func (p *program) keptDatabase(c *cli.Context, dir string, chain bench.Chain) (*bench.Recording, error) {
	if made, err := bench.OpenRecording(dir); err == nil {
		if !reflect.DeepEqual(made.Chain, chain) {
			return nil, model.Errorf(model.Refused, "not_empty", "%s holds a generated database of %s with %d transactions, made with other flags: name another folder", dir, made.Chain.Name, made.Chain.Txs)
		}
		return made, nil
	}
	if found, err := os.ReadDir(dir); len(found) > 0 {
		return nil, model.Errorf(model.Refused, "not_empty", "%s is not empty and holds no generated database: name another folder", dir)
	} else if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	blocks, err := p.record(c.Context, filepath.Join(dir, unfinishedWork), chain)
	if err != nil {
		return nil, err
	}
	limit := debug.SetMemoryLimit(config.Divide(p.settings.Memory).Go())
	defer debug.SetMemoryLimit(limit)
	o, stop := p.benchProgress("bench query", benchOptions(filepath.Join(dir, keptFolder), p.settings.Memory))
	defer stop()
	if err := bench.Build(c.Context, blocks, chain.Txs, o); err != nil {
		return nil, err
	}
	if err := os.RemoveAll(filepath.Join(dir, unfinishedWork)); err != nil {
		return nil, err
	}
	return blocks, blocks.Save(dir)
}

func (p *page) benchQuery(a *benchQueryAnswer) {
	hot := a.Hottest
	found := "known"
	if hot.Sampled {
		found = "met most often"
	}
	p.fields(
		field{"chain", cell{a.Chain + " " + a.Network, green}},
		field{"transactions", text(count(a.Txs))},
		field{"indexes", text(indexesLine(a.Indexes))},
		field{"index", text(a.Index)},
		field{"hottest", text(hot.Value)},
		field{"its outputs", text(fmt.Sprintf("%s (%s)", count(hot.Outputs), found))},
		field{"peak memory", text(byteSize(a.PeakRSS))},
	)
	p.heading("microseconds")
	p.latencies(bench.Questions, a.Micros)
	p.heading("whole lists of the hottest")
	var rows [][]cell
	for _, name := range []string{"find", "history"} {
		l, there := a.Lists[name]
		if !there {
			continue
		}
		end := "whole"
		if !l.Whole {
			end = "not to its end"
		}
		rows = append(rows, []cell{{name, green}, text(count(uint64(l.Rows))), {count(uint64(l.RowsPerSecond)), bold}, text(end)})
	}
	p.table([]column{{name: "list"}, {"rows", true}, {"rows/s", true}, {name: ""}}, rows)
}

// latencies is a table of those of names that there are.
func (p *page) latencies(names []string, of map[string]bench.Latencies) {
	var rows [][]cell
	for _, name := range names {
		l, there := of[name]
		if !there {
			continue
		}
		number := func(f float64) cell { return text(fmt.Sprintf("%.1f", f)) }
		half := number(l.P50)
		half.style = bold
		rows = append(rows, []cell{{name, green}, text(count(uint64(l.Count))), half, number(l.P90), number(l.P99), number(l.Max)})
	}
	p.table([]column{{name: "what"}, {"times", true}, {"p50", true}, {"p90", true}, {"p99", true}, {"most", true}}, rows)
}
