package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"birthmark/bench"
	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/progress"

	"github.com/urfave/cli/v2"
)

// generatedFlags returns the flags of the generated blocks.
func generatedFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "chain", Usage: "`CHAIN` whose blocks are generated: " + strings.Join(bench.ChainNames(), ", "), DefaultText: bitcoin.Name},
		&cli.StringFlag{Name: "indexes", Usage: "`INDEXES` to build", DefaultText: "address,script_hash; for other chains their defaults"},
		&cli.StringFlag{Name: "index-file", Usage: "indexes to build, with options and custom indexes, from a settings `FILE`"},
		&cli.StringFlag{Name: "hot-outputs", Usage: "bitcoin: give one address `N` additional outputs"},
		&cli.BoolFlag{Name: "hot-unspent", DisableDefaultText: true, Usage: "never spend --hot-outputs; by default most are spent"},
		&cli.BoolFlag{Name: "raw", DisableDefaultText: true, Usage: "also store raw transactions; bitcoin blocks are then generated in serialized form"},
		&cli.StringFlag{Name: "block-txs", Usage: "mean number `N` of transactions per block", DefaultText: "2000; for other chains as on mainnet"},
		&cli.StringFlag{Name: "seed", Usage: "`SEED` of the generator", DefaultText: "1"},
		&cli.StringFlag{Name: "dir", Usage: "`DIR` for temporary folders", DefaultText: "the system default"},
	}
}

func memoryFlags() []cli.Flag {
	return []cli.Flag{&cli.StringFlag{Name: "memory", Usage: "memory limit, a `SIZE` such as 4GiB"}}
}

// benchNumbers reads numeric flags; numbers has their defaults.
func benchNumbers(c *cli.Context, numbers map[string]uint64) (map[string]uint64, error) {
	most := map[string]uint64{
		"txs": bench.MaxTxs, "naive-txs": bench.MaxTxs, "block-txs": bench.MaxTxsPerBlock, "seed": 1<<63 - 1, "mb": 1000,
		"repeat": 1000, "connections": 10_000, "seconds": 86_400, "rps": 1_000_000, "samples": 1_000_000, "blocks": 1_000_000, "hot-outputs": bench.MaxTxs,
	}
	for name := range numbers {
		if !c.IsSet(name) {
			continue
		}
		n, err := strconv.ParseUint(c.String(name), 10, 64)
		if err != nil || n < 1 || n > most[name] {
			return nil, badValue(c, name, "a number from 1 to %d", most[name])
		}
		numbers[name] = n
	}
	return numbers, nil
}

// generatedChain returns the chain that the flags of c describe, without its number of transactions. perBlock is the
// default number of transactions in a block of Bitcoin.
func generatedChain(c *cli.Context, perBlock uint64) (bench.Chain, error) {
	name := cmp.Or(c.String("chain"), bitcoin.Name)
	if !slices.Contains(bench.ChainNames(), name) {
		return bench.Chain{}, badValue(c, "chain", "%s", oneOf(bench.ChainNames()))
	}
	if name != bitcoin.Name {
		perBlock = 0
	}
	numbers, err := benchNumbers(c, map[string]uint64{"block-txs": perBlock, "seed": 1, "hot-outputs": 0})
	if err != nil {
		return bench.Chain{}, err
	}
	chain := bench.Chain{
		Name: name, TxsPerBlock: int(numbers["block-txs"]), Seed: numbers["seed"],
		HotOutputs: int(numbers["hot-outputs"]), HotUnspent: c.Bool("hot-unspent"),
	}
	switch {
	case c.IsSet("index-file"):
		if c.IsSet("indexes") {
			return chain, usageError("bad_value", "--indexes and --index-file both say which indexes to keep: expected one of them")
		}
		if err := indexFile(c.String("index-file"), &chain); err != nil {
			return chain, err
		}
	case c.IsSet("indexes"):
		chain.Indexes = strings.Split(c.String("indexes"), ",")
	case name == bitcoin.Name:
		chain.Indexes = []string{"address", "script_hash"}
	}
	if chain.Raw = c.Bool("raw"); chain.Raw && name == bitcoin.Name {
		chain.Serialized = true
	}
	return chain.Resolve(c.Context)
}

// record generates the blocks of a chain in a folder and logs progress.
func (p *program) record(ctx context.Context, dir string, chain bench.Chain) (*bench.Recording, error) {
	var made atomic.Int64
	started := time.Now()
	stop := p.watch("generate", func() progress.Reading {
		done := uint64(made.Load())
		return progress.Reading{Done: done, Total: uint64(chain.Txs), Rates: []progress.Rate{{Name: "txs", PerSecond: float64(done) / time.Since(started).Seconds()}}}
	})
	defer stop()
	return bench.Record(ctx, dir, chain, func(txs int) { made.Store(int64(txs)) })
}

// benchOptions are those of a database in dir.
func benchOptions(dir string, whole config.Size) bench.Options {
	memory := config.Divide(whole)
	return bench.Options{
		Dir: dir, Memory: int64(whole), BlockCache: memory.BlockCache, WriteBuffers: memory.WriteBuffers, Caches: memory.Caches,
		WindowBytes: memory.WindowBytes(),
	}
}

// benchProgress has what is indexed with o told, until stop is called.
func (p *program) benchProgress(what string, o bench.Options) (_ bench.Options, stop func()) {
	var last atomic.Pointer[core.Progress]
	last.Store(&core.Progress{})
	o.Progress = func(now core.Progress) { last.Store(&now) }
	return o, p.watch(what, func() progress.Reading { return daemon.SyncReading(last.Load()) })
}

// usualTxs is more transactions than blocks of Cardano and Ergo have in the mean.
const usualTxs = 8

// onRecording calls measure with the recorded blocks of a chain, in a folder that is removed, and with what gives options
// for one database after the other there.
func (p *program) onRecording(c *cli.Context, chain bench.Chain, what string, measure func(made *bench.Recording, next func() bench.Options) error) (err error) {
	dir, err := os.MkdirTemp(c.String("dir"), "birthmark-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	made, err := p.record(c.Context, filepath.Join(dir, "blocks"), chain)
	if err != nil {
		return err
	}
	limit := debug.SetMemoryLimit(config.Divide(p.settings.Memory).Go())
	defer debug.SetMemoryLimit(limit)
	databases := 0
	stop := func() {}
	defer func() { stop() }()
	return profile(c, func(*cli.Context) error {
		return measure(made, func() (o bench.Options) {
			stop()
			databases++
			o, stop = p.benchProgress(what, benchOptions(filepath.Join(dir, fmt.Sprint("db", databases)), p.settings.Memory))
			return o
		})
	})
}
