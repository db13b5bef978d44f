package benchcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/model"
	"birthmark/storage"
)

func (b *commands) appendCommand() *cli.Command {
	return &cli.Command{
		Name:  "append",
		Usage: "index generated blocks in several ways and compare",
		Flags: slices.Concat([]cli.Flag{
			command.StringDefault("txs", "index `N` transactions", "1000000"),
			command.StringDefault("naive-txs", "`N` transactions for naive and floor, which need fewer", "250000"),
			command.StringDefault("runs", "`RUNS` to execute: some of naive,floor,wal,nowal,bulk", "all"),
			command.String("wal", "only naive, floor, and the runs with the write-ahead log `on|off`"),
			command.CompressionFlag(),
			command.StringDefault("repeat", "repeat the runs `N` times, alternating, and print the median of each figure", "1"),
			command.StringDefault("recording", "record the blocks in `DIR` and keep them, or use those recorded there", "a temporary folder"),
			command.String("keep-db", "keep the database of each run, in the folder with its name in `DIR`"),
			&cli.StringFlag{Name: stepFlag, Hidden: true},
		}, commonFlags()),
		Action: b.append,
	}
}

// AppendAnswer is the document of bench append.
type AppendAnswer struct {
	Indexes    map[string]config.IndexView  `json:"indexes,omitempty"`
	Evaluation map[string]*bench.Evaluation `json:"evaluation,omitempty"` // of custom indexes by name; all: together

	Naive *bench.Result                `json:"naive,omitempty"`
	Floor *bench.Result                `json:"floor,omitempty"`
	Runs  map[bench.Kind]*bench.Result `json:"runs"`
}

// stepFlag selects one step of bench append for a process of its own: [recordStep], or else the run with the database in
// that folder.
const (
	stepFlag   = "step"
	recordStep = "record"
)

// append records the blocks and executes each run in a process of its own, which is this program with stepFlag: the
// peak memory of a run contains nothing of the generator, whose memory is free before the first run.
func (b *commands) append(c *cli.Context) error {
	kinds, err := runsOf(c)
	if err != nil {
		return err
	}
	numbers, err := readNumbers(c, map[string]uint64{"txs": 1_000_000, "naive-txs": 250_000, "repeat": 1})
	if err != nil {
		return err
	}
	if (len(kinds) > 1 || numbers["repeat"] > 1) && (c.IsSet("cpuprofile") || c.IsSet("memprofile")) {
		return command.UsageError("bad_value", "a profile covers one run: expected --runs with one of %s", bench.KindNames())
	}
	if c.IsSet("keep-db") && numbers["repeat"] > 1 {
		return command.Exclusive(c, "keep-db", "repeat")
	}
	// Reject invalid flags before creating anything.
	chain, err := generatedChain(c, 2000)
	if err != nil {
		return err
	}
	if err := b.Load(c); err != nil {
		return err
	}
	txs := func(k bench.Kind) int {
		if k == bench.Naive || k == bench.Floor {
			return int(min(numbers["txs"], numbers["naive-txs"]))
		}
		return int(numbers["txs"])
	}
	for _, k := range kinds {
		chain.Txs = max(chain.Txs, txs(k))
	}
	switch step := c.String(stepFlag); step {
	case "":
	case recordStep:
		debug.SetGCPercent(25) // the generator's unspent outputs are large, and cheap to mark
		_, err := b.record(c.Context, c.String("recording"), chain)
		return err
	default:
		chain.Txs = 0 // those of all runs were recorded
		return b.appendRecorded(c, chain, kinds[0], txs(kinds[0]), step)
	}
	results := map[bench.Kind][]*bench.Result{}
	err = inTemporaryFolder(c, func(dir string) error {
		databases := cmp.Or(c.String("keep-db"), dir)
		for _, k := range kinds {
			if found, _ := os.ReadDir(filepath.Join(databases, string(k))); len(found) > 0 {
				return model.Errorf(model.Refused, "not_empty", "%s is not empty: use another folder for --keep-db", filepath.Join(databases, string(k)))
			}
		}
		recording := cmp.Or(c.String("recording"), filepath.Join(dir, blocksFolder))
		if found, err := bench.Reuse(recording, chain); err != nil {
			return err
		} else if found == nil {
			if _, err := b.step(c, recordStep, recording, kinds); err != nil {
				return fmt.Errorf("record blocks: %w", err)
			}
		}
		for range numbers["repeat"] {
			for _, k := range kinds {
				r, err := b.appendInProcess(c, k, recording, filepath.Join(databases, string(k)))
				if err != nil {
					return err
				}
				results[k] = append(results[k], r)
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	medians := map[bench.Kind]*bench.Result{}
	for k, rs := range results {
		medians[k] = bench.Median(rs)
	}
	a := &AppendAnswer{
		Indexes: indexViews(&chain), Naive: medians[bench.Naive], Floor: medians[bench.Floor], Runs: maps.Clone(medians),
	}
	delete(a.Runs, bench.Naive)
	delete(a.Runs, bench.Floor)
	if a.Evaluation, err = evaluation(c.Context, &chain); err != nil {
		return err
	}
	return b.Answer(nil, a, func(page *terminal.Page) { showAppend(page, a, kinds, medians) })
}

// runsOf returns the runs that the flags select, in the order of bench.Kinds.
func runsOf(c *cli.Context) ([]bench.Kind, error) {
	if err := command.Exclusive(c, "wal", "runs"); err != nil {
		return nil, err
	}
	selected := bench.Kinds
	switch {
	case c.IsSet("wal"):
		on, err := config.ParseSwitch(c.String("wal"))
		if err != nil {
			return nil, command.BadValue(c, "wal", "on or off")
		}
		selected = []bench.Kind{bench.Naive, bench.Floor, bench.NoWAL}
		if on {
			selected = []bench.Kind{bench.Naive, bench.Floor, bench.WAL, bench.Bulk}
		}
	case c.IsSet("runs"):
		selected = nil
		for name := range strings.SplitSeq(c.String("runs"), ",") {
			k := bench.Kind(strings.TrimSpace(name))
			if !slices.Contains(bench.Kinds, k) {
				return nil, command.BadValue(c, "runs", "some of %s", bench.KindNames())
			}
			selected = append(selected, k)
		}
	}
	others := func(k bench.Kind) bool { return !slices.Contains(selected, k) }
	return slices.DeleteFunc(slices.Clone(bench.Kinds), others), nil
}

// step executes a step of kinds in a process with the flags of c and returns what it printed.
func (b *commands) step(c *cli.Context, step, recording string, kinds []bench.Kind) ([]byte, error) {
	args := []string{"bench", "append", "--json", "--" + stepFlag + "=" + step, "--recording=" + recording, "--runs=" + kindList(kinds)}
	for _, name := range c.LocalFlagNames() {
		if !slices.Contains([]string{"runs", "wal", "repeat", "json", "recording", "keep-db"}, name) {
			args = append(args, "--"+name+"="+c.String(name))
		}
	}
	cmd, err := thisProgram(c.Context, args...)
	if err != nil {
		return nil, err
	}
	cmd.Stderr = b.Stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	out, err := cmd.Output()
	if c.Context.Err() != nil {
		return nil, context.Cause(c.Context)
	}
	return out, err
}

func kindList(kinds []bench.Kind) string {
	names := make([]string, len(kinds))
	for i, k := range kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ",")
}

// appendInProcess executes one run in its own process, with the recorded blocks and a database in dir, which it removes
// unless databases are kept.
func (b *commands) appendInProcess(c *cli.Context, k bench.Kind, recording, dir string) (r *bench.Result, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if !c.IsSet("keep-db") {
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	out, err := b.step(c, dir, recording, []bench.Kind{k})
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	if err != nil && c.Context.Err() == nil {
		err = fmt.Errorf("run %s: %w", k, err)
	}
	return r, err
}

// appendRecorded executes one run in this process with the first txs recorded transactions and a database in dir, and
// prints its result.
func (b *commands) appendRecorded(c *cli.Context, chain bench.Chain, k bench.Kind, txs int, dir string) error {
	var compression storage.Compression
	if c.IsSet("compression") {
		var err error
		if compression, err = storage.ParseCompression(c.String("compression")); err != nil {
			return command.BadValue(c, "compression", "default or max")
		}
	}
	blocks, err := bench.Reuse(c.String("recording"), chain)
	if err != nil {
		return err
	}
	debug.SetMemoryLimit(config.Divide(b.Settings.Memory).Go())
	o, stop := b.watched("bench "+string(k), databaseOptions(dir, b.Settings.Memory))
	defer stop()
	o.Compression = compression
	var r *bench.Result
	if err := command.Profile(c, func() (err error) {
		r, err = bench.Append(c.Context, k, blocks, txs, o)
		return err
	}); err != nil {
		return err
	}
	return b.Document(r)
}

func showAppend(p *terminal.Page, a *AppendAnswer, kinds []bench.Kind, results map[bench.Kind]*bench.Result) {
	p.Fields("indexes", indexesLine(a.Indexes))
	p.Heading("runs")
	times := func(f, naive float64) terminal.Cell {
		if naive == 0 {
			return terminal.Right("")
		}
		return terminal.Bold(f / naive)
	}
	naive := bench.Result{}
	if a.Naive != nil {
		naive = *a.Naive
	}
	columns := []string{
		"run", "txs", "txs/s", "× naive", "compacted", "× naive", "blocks/s", "entities/s", "CPU µs/tx", "rows/tx", "bytes/tx",
		"peak memory", "txs/s by quarter",
	}
	terminal.Table(p, kinds, columns, func(_ int, k bench.Kind) terminal.Cells {
		r := results[k]
		return terminal.Cells{
			terminal.Green(string(k)), r.Txs, terminal.Bold(uint64(r.TxsPerSecond)), times(r.TxsPerSecond, naive.TxsPerSecond),
			whole(r.SettledTxsPerSecond), times(r.SettledTxsPerSecond, naive.SettledTxsPerSecond), whole(r.BlocksPerSecond),
			whole(r.EntitiesPerSecond), r.CPUMicrosPerTx, r.RowsPerTx, whole(r.BytesPerTx), peakMemory(r), quartersLine(r),
		}
	})
	p.Heading("disk, per transaction")
	terminal.Table(p, kinds, []string{"run", "bytes written", "bytes read", "reads", "lookups"}, func(_ int, k bench.Kind) terminal.Cells {
		r := results[k]
		return terminal.Cells{terminal.Green(string(k)), whole(r.BytesWrittenPerTx), whole(r.BytesReadPerTx), r.ReadsPerTx, r.LookupsPerTx}
	})
	p.Heading("time by stage")
	terminal.Table(p, kinds, []string{"run", "stages"}, func(_ int, k bench.Kind) terminal.Cells {
		return terminal.Cells{terminal.Green(string(k)), stagesLine(results[k])}
	})
	showEvaluation(p, a.Evaluation)
}
