package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"birthmark/bench"
	"birthmark/internal/config"
	"birthmark/storage"

	"github.com/urfave/cli/v2"
)

func (p *program) benchCommand() *cli.Command {
	return &cli.Command{
		Name:     "bench",
		Usage:    "measure indexing, queries and serving on this machine",
		Category: helping,
		Subcommands: []*cli.Command{
			p.benchAppendCommand(), p.benchQueryCommand(), p.benchServeCommand(), p.benchTipCommand(), p.benchRollbackCommand(),
			p.benchSyncCommand(), p.benchDecodeCommand(), p.benchGenerateCommand(),
		},
	}
}

func (p *program) benchAppendCommand() *cli.Command {
	return &cli.Command{
		Name:  "append",
		Usage: "index generated blocks in several ways and compare",
		Description: "The blocks resemble those of mainnet. They are generated and decoded first; each run then has its own process and\n" +
			"temporary folder:\n" +
			"  naive  a store transaction per block, single reads and writes, no caches\n" +
			"  floor  all rows are made, none are stored\n" +
			"  wal    batches as near the tip\n" +
			"  nowal  the same with --wal=off\n" +
			"  bulk   a normal sync: large batches\n" +
			"Custom indexes in --index-file need serialized blocks, which are then generated for bitcoin. The time they add to decoding is\n" +
			"measured separately, because the runs do not decode.",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "txs", Usage: "index `N` transactions", DefaultText: "1000000"},
			&cli.StringFlag{Name: "naive-txs", Usage: "`N` transactions for naive and floor, which need fewer", DefaultText: "250000"},
			&cli.StringFlag{Name: "runs", Usage: "`RUNS` to execute: some of naive,floor,wal,nowal,bulk", DefaultText: "all"},
			&cli.StringFlag{Name: "wal", Usage: "only runs with the write-ahead log `on` or off, besides naive and floor"},
			compressionFlag(),
			&cli.StringFlag{Name: "repeat", Usage: "repeat the runs `N` times, alternating, and print the median of each figure", DefaultText: "1"},
			&cli.StringFlag{Name: "recording", Hidden: true}, // a run by itself: of the blocks recorded in this folder
		}, generatedFlags(), memoryFlags(), profileFlags(), commonFlags()),
		Action: p.benchAppend,
	}
}

// benchAnswer is the document of bench append.
type benchAnswer struct {
	Indexes    map[string]config.IndexView  `json:"indexes,omitempty"`
	Evaluation map[string]*bench.Evaluation `json:"evaluation,omitempty"` // of custom indexes by name; all: together

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

// benchAppend has each run measured by a process of its own, which is this program, asked for that run alone.
func (p *program) benchAppend(c *cli.Context) (err error) {
	kinds, err := benchKinds(c)
	if err != nil {
		return err
	}
	numbers, err := benchNumbers(c, map[string]uint64{"txs": 1_000_000, "naive-txs": 250_000, "repeat": 1})
	if err != nil {
		return err
	}
	if (len(kinds) > 1 || numbers["repeat"] > 1) && (c.IsSet("cpuprofile") || c.IsSet("memprofile")) {
		return usageError("bad_value", "a profile covers one run: expected --runs with one of %s", bench.KindNames())
	}
	// Reject invalid flags before creating anything.
	chain, err := generatedChain(c, 2000)
	if err != nil {
		return err
	}
	if err := p.load(c); err != nil {
		return err
	}
	if c.IsSet("recording") {
		return p.benchRun(c, kinds[0], int(txsOf(kinds[0], numbers)))
	}
	for _, k := range kinds {
		chain.Txs = max(chain.Txs, int(txsOf(k, numbers)))
	}
	dir, err := os.MkdirTemp(c.String("dir"), "birthmark-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if _, err := p.record(c.Context, dir, chain); err != nil {
		return err
	}
	results := map[bench.Kind][]*bench.Result{}
	for range numbers["repeat"] {
		for _, k := range kinds {
			r, err := p.measureApart(c, k, dir)
			if err != nil {
				return err
			}
			results[k] = append(results[k], r)
		}
	}
	answer := benchAnswer{Indexes: benchIndexes(&chain), Runs: map[bench.Kind]*bench.Result{}}
	for _, k := range kinds {
		answer.set(k, bench.Median(results[k]))
	}
	if answer.Evaluation, err = evaluation(c.Context, &chain); err != nil {
		return err
	}
	return p.answer(nil, answer, func(pg *page) { pg.bench(&answer, kinds) })
}

// benchRun answers with one run, done in this process.
func (p *program) benchRun(c *cli.Context, k bench.Kind, txs int) error {
	answer := benchAnswer{Runs: map[bench.Kind]*bench.Result{}}
	err := profile(c, func(c *cli.Context) error {
		r, err := p.measure(c, k, txs)
		answer.set(k, r)
		return err
	})
	if err != nil {
		return err
	}
	return p.document(answer)
}

// txsOf is how many transactions a run indexes.
func txsOf(k bench.Kind, numbers map[string]uint64) uint64 {
	if k == bench.Naive || k == bench.Floor {
		return min(numbers["txs"], numbers["naive-txs"])
	}
	return numbers["txs"]
}

// benchKinds are the runs to do, in the order of bench.Kinds.
func benchKinds(c *cli.Context) ([]bench.Kind, error) {
	if c.IsSet("runs") && c.IsSet("wal") {
		return nil, usageError("bad_value", "--wal and --runs cannot be combined")
	}
	wanted := slices.Clone(bench.Kinds)
	switch {
	case c.IsSet("wal"):
		on, err := config.ParseSwitch(c.String("wal"))
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

// measure runs one benchmark in this process with txs recorded transactions.
func (p *program) measure(c *cli.Context, k bench.Kind, txs int) (r *bench.Result, err error) {
	blocks, err := bench.OpenRecording(c.String("recording"))
	if err != nil {
		return nil, err
	}
	debug.SetMemoryLimit(config.Divide(p.settings.Memory).Go())
	dir, err := os.MkdirTemp(c.String("dir"), "birthmark-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	o, stop := p.benchProgress("bench "+string(k), benchOptions(dir, p.settings.Memory))
	defer stop()
	if c.IsSet("compression") {
		if o.Compression, err = storage.ParseCompression(c.String("compression")); err != nil {
			return nil, badValue(c, "compression", "default or max")
		}
	}
	return bench.Append(c.Context, k, blocks, txs, o)
}

// measureApart does one run in a process of its own: this program again, with the flags of c but for the runs, of the
// blocks recorded in dir.
func (p *program) measureApart(c *cli.Context, k bench.Kind, dir string) (*bench.Result, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	args := []string{"bench", "append", "--json", "--runs=" + string(k), "--recording=" + dir}
	for _, name := range c.LocalFlagNames() {
		if !slices.Contains([]string{"runs", "wal", "repeat", "json"}, name) {
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
	p.fields(field{"indexes", text(indexesLine(a.Indexes))})
	p.heading("runs")
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
			text(fmt.Sprintf("%.1f", r.RowsPerTx)), number(r.BytesPerTx), peakCell(r), text(strings.Join(quarters, " ")),
		})
		stages = append(stages, []cell{{string(k), green}, text(stagesLine(r.Stages))})
	}
	p.table([]column{
		{name: "run"}, {"txs", true}, {"txs/s", true}, {"× naive", true}, {"settled", true}, {"× naive", true}, {"blocks/s", true},
		{"entities/s", true}, {"CPU µs/tx", true}, {"rows/tx", true}, {"bytes/tx", true}, {"peak memory", true}, {name: "txs/s by quarter"},
	}, rows)
	p.heading("time by stage")
	p.table([]column{{name: "run"}, {name: "stages"}}, stages)
	p.evaluation(a.Evaluation)
}

// peakCell is the peak of a run's memory and, if it has one, its bound.
func peakCell(r *bench.Result) cell {
	switch {
	case r.WithinBound == nil:
		return text(byteSize(r.PeakRSS))
	case *r.WithinBound:
		return text(fmt.Sprintf("%s of %s", byteSize(r.PeakRSS), byteSize(r.PeakRSSBound)))
	}
	return cell{fmt.Sprintf("%s, over its bound of %s", byteSize(r.PeakRSS), byteSize(r.PeakRSSBound)), red}
}
