package cli

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"

	"birthmark/bench"
	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/progress"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

func (p *program) benchSyncCommand() *cli.Command {
	return &cli.Command{
		Name:  "sync",
		Usage: "measure a sync from a source, including reading and decoding",
		Description: "Runs birthmark sync into a temporary folder, or into the folder --db, which must not contain a database and is kept.\n" +
			"birthmark bench generate creates chains to sync.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "source", Usage: "`URI` of the source of the blocks"},
			&cli.StringFlag{Name: "password-file", Usage: "`FILE` with the password of the source"},
			&cli.StringFlag{Name: "to-height", Usage: "stop after block `H`"},
			&cli.StringFlag{Name: "wal", Usage: "write-ahead log, `on|off`", DefaultText: "on"},
			compressionFlag(),
			&cli.StringFlag{Name: "dir", Usage: "`DIR` for the temporary folder", DefaultText: "the system default"},
			indexFlag(), rawFlag(),
		}, databaseFlags(), profileFlags()),
		Action: profiled(p.benchSync),
	}
}

// benchSyncAnswer is the document of bench sync: what was synced, and the figures of a run of bench append.
type benchSyncAnswer struct {
	Chain   string                      `json:"chain"`
	Network string                      `json:"network"`
	Indexes map[string]config.IndexView `json:"indexes"`
	Raw     bool                        `json:"raw"`
	WAL     bool                        `json:"wal"`
	Memory  int64                       `json:"memory"` // bytes
	*bench.Result
}

func (p *program) benchSync(c *cli.Context) (err error) {
	set, err := p.one(c)
	if err != nil {
		return err
	}
	to, err := heightFlag(c, "to-height")
	if err != nil {
		return err
	}
	if set.Source == "" {
		return usageError("missing_flag", "missing --source URI, where blocks come from")
	}
	chain, err := p.host(c).Chain(set)
	if err != nil {
		return err
	}
	names, err := daemon.IndexesOf(set, chain)
	if err != nil {
		return err
	}
	if _, err := set.ReadPassword(); err != nil {
		return err
	}
	dir := set.DB
	if dir == "" {
		if dir, err = os.MkdirTemp(c.String("dir"), "birthmark-bench-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	} else if found, err := daemon.HoldsDatabase(dir); found || err != nil {
		return errors.Join(err, model.Errorf(model.Refused, "not_empty", "%s holds a database already: a sync is measured from its first block on", dir))
	}
	memory := config.Divide(p.settings.Memory)
	debug.SetMemoryLimit(memory.Go())

	var last atomic.Pointer[core.Progress]
	last.Store(&core.Progress{})
	stop := p.watch("bench sync", func() progress.Reading { return daemon.SyncReading(last.Load()) })
	defer stop()
	result, err := bench.Sync(c.Context, bench.SyncOptions{
		Options: bench.Options{
			Dir: dir, BlockCache: memory.BlockCache, WriteBuffers: memory.WriteBuffers, Caches: memory.Caches,
			WindowBytes: memory.WindowBytes(), Memory: int64(p.settings.Memory), Compression: set.Compression,
			Progress: func(now core.Progress) { last.Store(&now) },
		},
		Chain: chain, Indexes: names, Keep: set.IndexOptions(), Raw: set.Raw, WAL: set.WAL,
		Source: model.SourceOptions{URI: set.Source, Password: set.ReadPassword, Memory: memory.Source, To: to},
	})
	if err != nil {
		return err
	}
	stop()
	a := benchSyncAnswer{chain.Name(), chain.Network(), set.View(chain.Network(), daemon.Chosen(chain, names)).Indexes, set.Raw, set.WAL, int64(p.settings.Memory), result}
	return p.answer(nil, a, func(pg *page) { pg.benchSync(&a) })
}

func (p *page) benchSync(a *benchSyncAnswer) {
	r := a.Result
	number := func(f float64) cell { return text(count(uint64(f + 0.5))) }
	fast := number(r.TxsPerSecond)
	fast.style = bold
	quarters := make([]string, len(r.Quarters))
	for i, q := range r.Quarters {
		quarters[i] = count(uint64(q))
	}
	p.fields(
		field{"chain", cell{a.Chain + " " + a.Network, green}},
		field{"indexes", text(indexesLine(a.Indexes))},
		field{"transactions", number(float64(r.Txs))},
		field{"txs/s", fast},
		field{"txs/s settled", number(r.SettledTxsPerSecond)},
		field{"txs/s by quarter", text(strings.Join(quarters, " "))},
		field{"blocks/s", number(r.BlocksPerSecond)},
		field{"entities/s", number(r.EntitiesPerSecond)},
		field{"CPU a tx", text(fmt.Sprintf("%.1f µs", r.CPUMicrosPerTx))},
		field{"rows a tx", text(fmt.Sprintf("%.1f", r.RowsPerTx))},
		field{"bytes a tx", number(r.BytesPerTx)},
		field{"peak memory", peakCell(r)},
		field{"stages", text(stagesLine(r.Stages))},
	)
}

// stagesLine is how many seconds each stage was busy, in one line.
func stagesLine(stages map[string]float64) string {
	var names []string
	for name := range stages {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %.2f s", name, stages[name])
	}
	return strings.Join(names, "  ")
}
