package benchcmd

import (
	"runtime/debug"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/model"
)

func (b *commands) syncCommand() *cli.Command {
	return &cli.Command{
		Name:  "sync",
		Usage: "measure a sync from a source, including reading and decoding",
		Flags: slices.Concat(command.SourceFlags("`URI` of the source of the blocks"), []cli.Flag{
			command.String("to-height", "stop after block `H`"),
			command.StringDefault("dir", "`DIR` for the temporary folder", "the system default"),
		}, command.WriteFlags(), command.DatabaseFlags(), command.ProgressFlags()),
		Action: command.Profiled(b.sync),
	}
}

// SyncAnswer is the document of bench sync: the settings, and the figures of a run of bench append.
type SyncAnswer struct {
	Chain   string                      `json:"chain"`
	Network string                      `json:"network"`
	Indexes map[string]config.IndexView `json:"indexes"`
	Raw     bool                        `json:"raw"`
	WAL     bool                        `json:"wal"`
	Memory  int64                       `json:"memory"` // bytes
	*bench.Result
}

func (b *commands) sync(c *cli.Context) error {
	set, err := b.One(c)
	if err != nil {
		return err
	}
	to, err := command.Height(c, "to-height")
	if err != nil {
		return err
	}
	if set.Source == "" {
		return command.UsageError("missing_flag", "missing --source URI, where blocks come from")
	}
	chain, err := b.Host(c).Chain(set)
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
	a := &SyncAnswer{
		Chain: chain.Name(), Network: chain.Network(), Raw: set.Raw == config.RawKeep, WAL: set.WAL, Memory: int64(b.Settings.Memory),
		Indexes: set.View(chain.Network(), daemon.Chosen(chain, names)).Indexes,
	}
	memory := config.Divide(b.Settings.Memory)
	debug.SetMemoryLimit(memory.Go())
	into := func(dir string) (err error) {
		o, stop := b.watched("bench sync", databaseOptions(dir, b.Settings.Memory))
		defer stop()
		o.Compression = set.Compression
		a.Result, err = bench.Sync(c.Context, bench.SyncOptions{
			Options: o, Chain: chain, Indexes: names, Keep: set.IndexOptions(), Raw: set.Raw == config.RawKeep, WAL: set.WAL,
			Source: model.SourceOptions{URI: set.Source, Password: set.ReadPassword, Proxy: set.Proxy, Memory: memory.Source, Room: b.Settings.Memory.Room(chain.Traits().Pointers == model.WidePointers), To: to},
		})
		return err
	}
	if set.DB == "" {
		err = inTemporaryFolder(c, into)
	} else if found, e := daemon.HoldsDatabase(set.DB); found {
		err = model.Errorf(model.Refused, "not_empty", "%s contains a database: a sync is measured from the first block", set.DB)
	} else if err = e; err == nil {
		err = into(set.DB)
	}
	if err != nil {
		return err
	}
	return b.Answer(nil, a, func(page *terminal.Page) { showSync(page, a) })
}

func showSync(p *terminal.Page, a *SyncAnswer) {
	r := a.Result
	p.Fields(
		"chain", terminal.Green(a.Chain+" "+a.Network),
		"indexes", indexesLine(a.Indexes),
		"transactions", r.Txs,
		"txs/s", terminal.Bold(whole(r.TxsPerSecond)),
		"txs/s compacted", whole(r.SettledTxsPerSecond),
		"txs/s by quarter", quartersLine(r),
		"blocks/s", whole(r.BlocksPerSecond),
		"entities/s", whole(r.EntitiesPerSecond),
		"CPU µs/tx", r.CPUMicrosPerTx,
		"rows/tx", r.RowsPerTx,
		"bytes/tx", whole(r.BytesPerTx),
		"peak memory", peakMemory(r),
		"stages", stagesLine(r),
	)
}
