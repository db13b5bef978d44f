package benchcmd

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/api/watchlist"
	"birthmark/bench"
	"birthmark/bench/watch"
	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// TipTxs is the number of transactions in each block of Bitcoin that bench tip appends.
const TipTxs = 2500

func (b *commands) tipCommand() *cli.Command {
	return &cli.Command{
		Name:  "tip",
		Usage: "measure appending single blocks to a large database",
		Flags: slices.Concat([]cli.Flag{
			command.StringDefault("txs", "initial database size of `N` transactions", "1000000"),
			command.StringDefault("blocks", "append `N` blocks", "200"),
			command.Bool("segments", "also record each block as a segment for replicas"),
			command.String("reuse-db", "create the database in `DIR`, or reuse the one in it; blocks are appended to a copy of it"),
			command.Bool("empty-caches", "the copy of --reuse-db has no snapshot of the caches"),
			command.StringDefault("watch", "also read the events of a watch list with `N` values", "0"),
		}, commonFlags()),
		Action: b.tip,
	}
}

// TipAnswer is the document of bench tip.
type TipAnswer struct {
	Setup
	*bench.TipResult
	Watch *watch.Result `json:"watch,omitempty"`
}

func (b *commands) tip(c *cli.Context) error {
	numbers, err := readNumbers(c, map[string]uint64{"txs": 1_000_000, "blocks": 200})
	if err != nil {
		return err
	}
	values, err := command.Number(c, "watch", 0, 0, watchlist.MaxValues)
	if err != nil {
		return err
	}
	if err := command.Exclusive(c, "reuse-db", "segments"); err != nil {
		return err
	}
	if c.Bool("empty-caches") && !c.IsSet("reuse-db") {
		return command.UsageError("bad_value", "--empty-caches requires --reuse-db")
	}
	var also func(*core.DB, *model.Block) (func() error, error)
	var list *watch.List
	if values > 0 {
		if list, err = watch.New(int(values)); err != nil {
			return err
		}
		also = func(db *core.DB, b *model.Block) (func() error, error) { return list.Next(c.Context, db, b) }
	}
	chain, err := generatedChain(c, 2000)
	if err != nil {
		return err
	}
	if err := b.Load(c); err != nil {
		return err
	}
	txs, blocks := int(numbers["txs"]), int(numbers["blocks"])
	if chain.Name == bitcoin.Name && !chain.Serialized {
		chain.TipBlocks, chain.TipTxs = blocks, TipTxs
	}
	chain.Txs = txs + blocks*max(chain.TipTxs, chain.TxsPerBlock, usualTxs)
	a := TipAnswer{Setup: b.setup(&chain)}
	err = b.withTipDatabase(c, chain, blocks, func(recording *bench.Recording, from string, o bench.Options) (err error) {
		o.Segments, o.EmptyCaches = c.Bool("segments"), c.Bool("empty-caches")
		a.TipResult, err = bench.Tip(c.Context, recording, blocks, from, o, also)
		return err
	})
	if err != nil {
		return err
	}
	if list != nil {
		a.Watch = list.Result()
	}
	return b.Answer(nil, a, func(page *terminal.Page) {
		page.Fields(
			"chain", terminal.Green(a.Chain),
			"indexes", indexesLine(a.Indexes),
			"transactions before", a.Txs,
			"transactions per block", a.BlockTxs,
			"CPU per block", fmt.Sprintf("%.1f ms", a.CPU),
			"bytes per segment", int64(a.SegmentBytes),
		)
		page.Heading("milliseconds per block")
		latencies := maps.Clone(a.Parts)
		latencies["block"] = a.Millis
		showLatencies(page, append([]string{"block"}, bench.Parts...), latencies)
		if w := a.Watch; w != nil {
			page.Heading("watch list")
			page.Fields("values", w.Values, "memory", humanize.Bytes(w.Bytes),
				"bytes per value", fmt.Sprintf("%.1f", float64(w.Bytes)/float64(w.Values)), "outputs", w.Outputs, "spends", w.Spends)
			page.Heading("milliseconds per block")
			showLatencies(page, []string{"events", "CPU"}, map[string]bench.Latencies{"events": w.Millis, "CPU": w.CPU})
		}
	})
}

// withTipDatabase calls measure with the recorded blocks of a chain, the folder of a database of all but the last blocks
// if it is kept, and the options of a new database.
func (b *commands) withTipDatabase(
	c *cli.Context, chain bench.Chain, blocks int, measure func(recording *bench.Recording, from string, o bench.Options) error,
) error {
	kept := c.String("reuse-db")
	if kept == "" {
		return b.withRecording(c, chain, "bench tip", func(recording *bench.Recording, next func() bench.Options) error {
			return measure(recording, "", next())
		})
	}
	recording, err := b.generateDatabase(c, kept, chain, blocks)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(kept, "copy-") // on the same file system, for hard links
	if err != nil {
		return err
	}
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(config.Divide(b.Settings.Memory).Go()))
	o, stop := b.watched("bench tip", databaseOptions(filepath.Join(dir, DatabaseFolder), b.Settings.Memory))
	defer stop()
	err = command.Profile(c, func() error { return measure(recording, filepath.Join(kept, DatabaseFolder), o) })
	return errors.Join(err, os.RemoveAll(dir))
}
