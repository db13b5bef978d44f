// Package benchcmd is the command bench: it measures indexing, queries and serving with package bench. Each subcommand
// has its own file.
package benchcmd

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/internal/cli/command"
	"birthmark/internal/config"
)

// commands are the subcommands of bench.
type commands struct {
	*command.Env
}

// Command returns the command bench.
func Command(env *command.Env, category string) *cli.Command {
	b := &commands{env}
	return &cli.Command{
		Name:     "bench",
		Usage:    "measure indexing, queries and serving on this machine",
		Category: category,
		Subcommands: []*cli.Command{
			b.appendCommand(), b.queryCommand(), b.serveCommand(), b.esploraCommand(), b.electrumCommand(), b.tipCommand(), b.rollbackCommand(),
			b.syncCommand(), b.decodeCommand(), b.generateCommand(), b.attackCommand(), b.compareCommand(),
		},
	}
}

// commonFlags returns the flags of commands that create databases from generated blocks.
func commonFlags() []cli.Flag {
	return slices.Concat(generatedFlags(), []cli.Flag{command.MemoryFlag()}, command.ProgressFlags(), command.CommonFlags())
}

// readNumbers reads numeric flags; numbers has their defaults.
func readNumbers(c *cli.Context, numbers map[string]uint64) (map[string]uint64, error) {
	most := map[string]uint64{
		"txs": bench.MaxTxs, "naive-txs": bench.MaxTxs, "block-txs": bench.MaxTxsPerBlock, "seed": 1<<63 - 1, "mb": 1000,
		"repeat": 1000, "connections": 10_000, "seconds": 86_400, "rps": 1_000_000, "samples": 1_000_000, "blocks": 1_000_000,
		"hot-outputs": bench.MaxTxs, "unconfirmed": 1_000_000, "subscriptions": 1000, "visits": 1_000_000,
		"cardano-txs": bench.MaxTxs, "ergo-txs": bench.MaxTxs, "hot-percent": 100, "new-percent": 100, "holders": 10_000_000,
		"large-block": 16_000_000, "rounds": 1000,
	}
	for flag, fallback := range numbers {
		n, err := command.Number(c, flag, fallback, 1, most[flag])
		if err != nil {
			return nil, err
		}
		numbers[flag] = n
	}
	return numbers, nil
}

// inTemporaryFolder calls do with a new folder below --dir, and removes it.
func inTemporaryFolder(c *cli.Context, do func(dir string) error) error {
	dir, err := os.MkdirTemp(c.String("dir"), "birthmark-bench-")
	if err != nil {
		return err
	}
	return errors.Join(do(dir), os.RemoveAll(dir))
}

// thisProgram returns a process of this program with other arguments.
func thisProgram(ctx context.Context, args ...string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, self, args...), nil
}

// databaseOptions returns the options of a database in dir with a memory limit.
func databaseOptions(dir string, limit config.Size) bench.Options {
	memory := config.Divide(limit)
	return bench.Options{
		Dir: dir, Memory: int64(limit), BlockCache: memory.BlockCache, WriteBuffers: memory.WriteBuffers, Caches: memory.Caches,
		WindowBytes: memory.WindowBytes(),
	}
}

// watched returns options that report the progress until stop is called.
func (b *commands) watched(what string, o bench.Options) (_ bench.Options, stop func()) {
	o.Progress, stop = b.WatchSync(what)
	return o, stop
}
