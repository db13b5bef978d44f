package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"birthmark/bench"
	"birthmark/cmd/birthmark/settings"
	"birthmark/core"

	"github.com/urfave/cli/v2"
)

func (p *program) benchCommand() *cli.Command {
	return &cli.Command{
		Name:        "bench",
		Usage:       "measure how fast this machine indexes",
		Category:    helping,
		Subcommands: []*cli.Command{p.benchAppendCommand(), p.benchSyncCommand(), p.benchDecodeCommand(), p.benchGenerateCommand()},
	}
}

func (p *program) benchAppendCommand() *cli.Command {
	return &cli.Command{
		Name:  "append",
		Usage: "index generated blocks in several ways and compare",
		Description: "Blocks have the shape of Bitcoin's. Each run has a process and a temporary folder of its own:\n" +
			"  naive  a store transaction for each block, every read and write by itself, no caches\n" +
			"  floor  every row made, none stored\n" +
			"  wal    windows as they are near the tip\n" +
			"  nowal  the same with --wal=off\n" +
			"  bulk   a sync as users run it: large windows, in bulk",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "txs", Usage: "index `N` transactions", DefaultText: "1000000"},
			&cli.StringFlag{Name: "naive-txs", Usage: "`N` transactions for naive and floor, which need fewer", DefaultText: "250000"},
			&cli.StringFlag{Name: "block-txs", Usage: "`N` transactions in a block, in the mean", DefaultText: "2000"},
			&cli.StringFlag{Name: "indexes", Usage: "the `INDEXES` to keep", DefaultText: "address,script_hash"},
			&cli.StringFlag{Name: "runs", Usage: "the `RUNS` to do, of naive,floor,wal,nowal,bulk", DefaultText: "all"},
			&cli.StringFlag{Name: "wal", Usage: "only runs with the write-ahead log `on` or off, beside naive and floor"},
			&cli.StringFlag{Name: "memory", Usage: "the most memory to work with, a `SIZE` such as 4GiB"},
			&cli.StringFlag{Name: "seed", Usage: "the same `SEED` makes the same blocks", DefaultText: "1"},
			&cli.StringFlag{Name: "dir", Usage: "`DIR` for the temporary folders", DefaultText: "the system's"},
			&cli.StringFlag{Name: "chain", Usage: "`CHAIN` whose blocks are generated: bitcoin", DefaultText: "bitcoin"},
		}, profileFlags(), commonFlags()),
		Action: p.benchAppend,
	}
}

// benchAnswer is the document of bench append.
type benchAnswer struct {
	Naive *bench.Result                `json:"naive,omitempty"`
	Floor *bench.Result                `json:"floor,omitempty"`
	Runs  map[bench.Kind]*bench.Result `json:"runs"`
}

// of is where the answer has the result of a run.
func (a *benchAnswer) of(k bench.Kind) *bench.Result {
	switch k {
	case bench.Naive:
		return a.Naive
	case bench.Floor:
		return a.Floor
	}
	return a.Runs[k]
}

func (a *benchAnswer) set(k bench.Kind, r *bench.Result) {
	switch k {
	case bench.Naive:
		a.Naive = r
	case bench.Floor:
		a.Floor = r
	default:
		a.Runs[k] = r
	}
}

// benchAppend measures a single run itself. Several are each measured by a process of their own, which is asked for
// that run alone.
func (p *program) benchAppend(c *cli.Context) error {
	kinds, err := benchKinds(c)
	if err != nil {
		return err
	}
	if len(kinds) > 1 && (c.IsSet("cpuprofile") || c.IsSet("memprofile")) {
		return usageError("bad_value", "a profile is of one run: expected --runs with one of %s", bench.KindNames())
	}
	// What is wrong with the flags is told before the first run.
	chain, err := benchChain(c, kinds[0])
	if err != nil {
		return err
	}
	if _, err := bench.NewSource(chain); err != nil {
		return err
	}
	if err := p.load(c); err != nil {
		return err
	}
	answer := benchAnswer{Runs: map[bench.Kind]*bench.Result{}}
	for _, k := range kinds {
		var r *bench.Result
		if len(kinds) == 1 {
			err = profile(c, func(c *cli.Context) error { r, err = p.measure(c, k); return err })
		} else {
			r, err = p.measureApart(c, k)
		}
		if err != nil {
			return err
		}
		answer.set(k, r)
	}
	return p.answer(nil, answer, func(pg *page) { pg.bench(&answer, kinds) })
}

// benchKinds are the runs to do, in the order of bench.Kinds.
func benchKinds(c *cli.Context) ([]bench.Kind, error) {
	if name := c.String("chain"); name != "" && name != "bitcoin" {
		return nil, badValue(c, "chain", "bitcoin")
	}
	if c.IsSet("runs") && c.IsSet("wal") {
		return nil, usageError("bad_value", "--wal and --runs both say which runs to do: expected one of them")
	}
	wanted := slices.Clone(bench.Kinds)
	switch {
	case c.IsSet("wal"):
		on, err := settings.ParseSwitch(c.String("wal"))
		if err != nil {
			return nil, badValue(c, "wal", "on or off")
		}
		wanted = []bench.Kind{bench.Naive, bench.Floor, bench.NoWAL}
		if on {
			wanted = []bench.Kind{bench.Naive, bench.Floor, bench.WAL, bench.Bulk}
		}
	case c.IsSet("runs"):
		wanted = nil
		for name := range strings.SplitSeq(c.String("runs"), ",") {
			k := bench.Kind(strings.TrimSpace(name))
			if !slices.Contains(bench.Kinds, k) {
				return nil, badValue(c, "runs", "some of %s", bench.KindNames())
			}
			wanted = append(wanted, k)
		}
	}
	return slices.DeleteFunc(slices.Clone(bench.Kinds), func(k bench.Kind) bool { return !slices.Contains(wanted, k) }), nil
}

// measure does one run in this process.
func (p *program) measure(c *cli.Context, k bench.Kind) (r *bench.Result, err error) {
	chain, err := benchChain(c, k)
	if err != nil {
		return nil, err
	}
	memory := settings.Divide(p.settings.Memory)
	debug.SetMemoryLimit(memory.Go())
	dir, err := os.MkdirTemp(c.String("dir"), "birthmark-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	var last atomic.Pointer[core.Progress]
	last.Store(&core.Progress{})
	stop := p.watch("bench "+string(k), func() reading { return syncReading(last.Load()) })
	defer stop()
	return bench.Append(c.Context, k, chain, bench.Options{
		Dir: dir, BlockCache: memory.BlockCache, WriteBuffers: memory.WriteBuffers, Caches: memory.Caches,
		WindowBytes: memory.WindowBytes(),
		Progress:    func(now core.Progress) { last.Store(&now) },
	})
}

// benchNumbers reads flags that are numbers, each with what it is where it is not set.
func benchNumbers(c *cli.Context, numbers map[string]uint64) (map[string]uint64, error) {
	most := map[string]uint64{"txs": bench.MaxTxs, "naive-txs": bench.MaxTxs, "block-txs": bench.MaxTxsPerBlock, "seed": 1<<63 - 1, "mb": 1000}
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

// benchChain is the blocks that flags of c ask for.
func benchChain(c *cli.Context, k bench.Kind) (bench.Chain, error) {
	numbers, err := benchNumbers(c, map[string]uint64{"txs": 1_000_000, "naive-txs": 250_000, "block-txs": 2000, "seed": 1})
	if err != nil {
		return bench.Chain{}, err
	}
	txs := numbers["txs"]
	if k == bench.Naive || k == bench.Floor {
		txs = min(txs, numbers["naive-txs"])
	}
	indexes := []string{"address", "script_hash"}
	if c.IsSet("indexes") {
		indexes = strings.Split(c.String("indexes"), ",")
	}
	return bench.Chain{Txs: int(txs), TxsPerBlock: int(numbers["block-txs"]), Seed: numbers["seed"], Indexes: indexes}, nil
}

// measureApart does one run in a process of its own: this program again, with the flags of c but for the runs.
func (p *program) measureApart(c *cli.Context, k bench.Kind) (*bench.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"bench", "append", "--json", "--runs=" + string(k)}
	for _, name := range c.LocalFlagNames() {
		if !slices.Contains([]string{"runs", "wal", "json"}, name) {
			args = append(args, "--"+name+"="+c.String(name))
		}
	}
	cmd := exec.CommandContext(c.Context, self, args...)
	cmd.Stderr = p.stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second // it removes its folder
	out, err := cmd.Output()
	if c.Context.Err() != nil {
		return nil, context.Cause(c.Context)
	}
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", k, err)
	}
	var a benchAnswer
	if err := json.Unmarshal(out, &a); err != nil || a.of(k) == nil {
		return nil, fmt.Errorf("run %s: its answer is %q: %w", k, out, err)
	}
	return a.of(k), nil
}

func (p *page) bench(a *benchAnswer, kinds []bench.Kind) {
	number := func(f float64) cell { return text(count(uint64(f + 0.5))) }
	times := func(f, naive float64) cell {
		if a.Naive == nil || naive == 0 {
			return cell{"", faint}
		}
		return cell{fmt.Sprintf("%.1f", f/naive), bold}
	}
	var rows, stages [][]cell
	for _, k := range kinds {
		r := a.of(k)
		var naive bench.Result
		if a.Naive != nil {
			naive = *a.Naive
		}
		quarters := make([]string, len(r.Quarters))
		for i, q := range r.Quarters {
			quarters[i] = count(uint64(q))
		}
		rows = append(rows, []cell{
			{string(k), green}, number(float64(r.Txs)), {count(uint64(r.TxsPerSecond)), bold}, times(r.TxsPerSecond, naive.TxsPerSecond),
			number(r.SettledTxsPerSecond), times(r.SettledTxsPerSecond, naive.SettledTxsPerSecond),
			number(r.BlocksPerSecond), number(r.EntitiesPerSecond), text(fmt.Sprintf("%.1f", r.CPUMicrosPerTx)),
			text(fmt.Sprintf("%.1f", r.RowsPerTx)), number(r.BytesPerTx), text(byteSize(r.PeakRSS)), text(strings.Join(quarters, " ")),
		})
		stages = append(stages, []cell{{string(k), green}, text(stagesLine(r.Stages))})
	}
	p.table([]column{
		{name: "run"}, {"txs", true}, {"txs/s", true}, {"× naive", true}, {"settled", true}, {"× naive", true}, {"blocks/s", true},
		{"entities/s", true}, {"CPU µs/tx", true}, {"rows/tx", true}, {"bytes/tx", true}, {"peak memory", true}, {name: "txs/s by quarter"},
	}, rows)
	p.heading("time by stage")
	p.table([]column{{name: "run"}, {name: "stages"}}, stages)
}
