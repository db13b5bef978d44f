package benchcmd

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"birthmark/bench"
	"birthmark/bench/compare"
	"birthmark/chains/bitcoin"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/model"
)

func (b *commands) compareCommand() *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "compare two birthmark-bench programs, which run other benchmarks on the same blocks in turn",
		ArgsUsage: "OLD NEW",
		Flags: slices.Concat([]cli.Flag{
			command.StringDefault("txs", "generate `N` transactions", "300000"),
			command.StringDefault("rounds", "run each part `N` times with each program", "5"),
			command.StringDefault("parts", "`PARTS` to compare, some of "+partNames(parts), "all parts of the chain"),
			command.StringDefault("blocks", "tip: append `N` blocks", "50"),
			command.StringDefault("seconds", "http, esplora, electrum: measure for `N` seconds", "5"),
			command.StringDefault("samples", "query, http, esplora, electrum: sample `N` of each kind", "1000"),
			command.StringDefault("chain", "`CHAIN` to generate: "+strings.Join(bench.ChainNames(), ", "), bitcoin.Name),
			command.StringDefault("indexes", "`INDEXES` to build", "those of bench append"),
			command.StringDefault("block-txs", "mean number `N` of transactions per block", "2000; other chains: as on mainnet"),
			command.StringDefault("dir", "`DIR` for temporary folders", "the system default"),
		}, []cli.Flag{command.MemoryFlag()}, command.CommonFlags()),
		Action: b.compare,
	}
}

// CompareAnswer is the document of bench compare.
type CompareAnswer struct {
	Chain   string     `json:"chain"`
	Txs     uint64     `json:"txs"`
	Rounds  int        `json:"rounds"`
	Figures []Compared `json:"figures"`
}

// Compared is a figure of a part, measured with both programs.
type Compared struct {
	Part   string    `json:"part"`
	Figure string    `json:"figure"`
	Higher bool      `json:"higher_is_better"`
	Old    []float64 `json:"old"` // by round
	New    []float64 `json:"new"`
	compare.Ratio
	Verdict compare.Verdict `json:"verdict"`
}

// part is a benchmark that is compared.
type part struct {
	name    string
	chain   string // only of this chain; empty: of all
	args    string // of its program, with the placeholders of [comparison.arguments]
	figures []figure
}

// figure is a number in the document of a benchmark.
type figure struct {
	name   string
	path   string // of the JSON keys; A/B: the quotient of two; empty: the CPU time of the processes
	higher bool   // more is better
}

func appendFigures(run string) []figure { return syncFigures("runs." + run + ".") }

func syncFigures(prefix string) []figure {
	return []figure{
		{"txs/s", prefix + "txs_per_s", true}, {"txs/s compacted", prefix + "txs_per_s_settled", true},
		{"CPU µs/tx", prefix + "cpu_us_per_tx", false}, {"lookups/tx", prefix + "lookups_per_tx", false},
		{"bytes/tx", prefix + "bytes_per_tx", false}, {"peak memory", prefix + "peak_rss", false}, {"CPU s", "", false},
	}
}

var (
	queryFigures = []figure{
		{"tx µs", "latencies_us.tx.p50", false}, {"output µs", "latencies_us.output.p50", false},
		{"block µs", "latencies_us.block.p50", false}, {"find µs", "latencies_us.find.p50", false},
		{"history µs", "latencies_us.history.p50", false}, {"balance µs", "latencies_us.balance.p50", false},
	}
	loadFigures = []figure{
		{"requests/s", "requests_per_s", true}, {"CPU s/request", "server.cpu_s/requests", false},
		{"p99 ms", "latency_ms.p99", false},
	}
)

// served returns the arguments of a benchmark of queries.
func served(command string) string {
	return command + " {generated} --txs={txs} --samples={samples} --reuse-db={db}"
}

// parts are the parts of bench compare in order.
var parts = []part{
	{"sync", "", "append {generated} --txs={txs} --runs=bulk --recording={recording}", appendFigures("bulk")},
	{"log", "", "append {generated} --txs={txs} --runs=wal --recording={recording}", appendFigures("wal")},
	{"files", "", "sync {files}", syncFigures("")},
	{"tip", "", "tip {generated} --txs={txs} --blocks={blocks} --reuse-db={db}", []figure{
		{"ms", "latency_ms.p50", false}, {"p99 ms", "latency_ms.p99", false}, {"CPU ms", "cpu_ms", false},
	}},
	{"query", "", served("query"), queryFigures},
	{"http", "", served("serve --no-cache --seconds={seconds}"), loadFigures},
	{"esplora", bitcoin.Name, served("esplora --seconds={seconds}"), loadFigures},
	{"electrum", bitcoin.Name, served("electrum --seconds={seconds}"), loadFigures},
}

func partNames(of []part) string {
	names := make([]string, len(of))
	for i, p := range of {
		names[i] = p.name
	}
	return strings.Join(names, ", ")
}

// partsOf returns the parts that the flags select.
func partsOf(c *cli.Context, chain string) ([]part, error) {
	all := slices.DeleteFunc(slices.Clone(parts), func(p part) bool { return p.chain != "" && p.chain != chain })
	if !c.IsSet("parts") {
		return all, nil
	}
	var selected []part
	for name := range strings.SplitSeq(c.String("parts"), ",") {
		i := slices.IndexFunc(all, func(p part) bool { return p.name == strings.TrimSpace(name) })
		if i < 0 {
			return nil, command.BadValue(c, "parts", "some of %s", partNames(all))
		}
		selected = append(selected, all[i])
	}
	return selected, nil
}

func (b *commands) compare(c *cli.Context) error {
	numbers, err := readNumbers(c, map[string]uint64{
		"txs": 300_000, "rounds": 5, "blocks": 50, "seconds": 5, "samples": 1000, "block-txs": 0,
	})
	if err != nil {
		return err
	}
	chain := cmp.Or(c.String("chain"), bitcoin.Name)
	if !slices.Contains(bench.ChainNames(), chain) {
		return command.BadValue(c, "chain", "%s", strings.Join(bench.ChainNames(), ", "))
	}
	selected, err := partsOf(c, chain)
	if err != nil {
		return err
	}
	if err := b.Load(c); err != nil {
		return err
	}
	for _, program := range c.Args().Slice() {
		if _, err := exec.LookPath(program); err != nil {
			return model.Errorf(model.Usage, "missing_program", "%s is not a program: %w", program, err)
		}
	}
	a := &CompareAnswer{Chain: chain, Txs: numbers["txs"], Rounds: int(numbers["rounds"])}
	err = inTemporaryFolder(c, func(dir string) error {
		r := &comparison{commands: b, c: c, dir: dir, chain: chain, numbers: numbers}
		for _, p := range selected {
			compared, err := r.compare(p, a.Rounds)
			if err != nil {
				return err
			}
			a.Figures = append(a.Figures, compared...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return b.Answer(nil, a, func(page *terminal.Page) { showCompare(page, a) })
}

// comparison runs the parts of bench compare below a folder.
type comparison struct {
	*commands
	c       *cli.Context
	dir     string
	numbers map[string]uint64
	chain   string

	files *GenerateAnswer // for the part files; nil: not generated yet
}

// compare runs a part with both programs in turn; the one that begins changes with each round. Databases and recordings
// are created before the first round, which measures neither.
func (r *comparison) compare(p part, rounds int) ([]Compared, error) {
	if strings.Contains(p.args, "{files}") && r.files == nil {
		out, _, err := r.run(r.c.Args().Get(0), "generate", "--json", "--chain="+r.chain,
			fmt.Sprintf("--txs=%d", r.numbers["txs"]), filepath.Join(r.dir, "files"))
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(out, &r.files); err != nil {
			return nil, err
		}
	}
	var compared []Compared
	for _, f := range p.figures {
		compared = append(compared, Compared{Part: p.name, Figure: f.name, Higher: f.higher})
	}
	first := 1
	if strings.Contains(p.args, "{db}") || strings.Contains(p.args, "{recording}") {
		first = 0
	}
	for round := first; round <= rounds; round++ {
		for i := range 2 {
			program := (i + round) % 2 // in the round before the first one, the old program begins
			values, err := r.measure(p, program)
			if err != nil {
				return nil, err
			}
			for j, v := range values {
				switch {
				case round == 0:
				case program == 0:
					compared[j].Old = append(compared[j].Old, v)
				default:
					compared[j].New = append(compared[j].New, v)
				}
			}
		}
	}
	for i := range compared {
		d := &compared[i]
		d.Ratio = compare.Of(d.Old, d.New, d.Higher)
		d.Verdict = d.Ratio.Verdict()
	}
	return compared, errors.Join(os.RemoveAll(r.database(p, 0)), os.RemoveAll(r.database(p, 1)))
}

// database returns the folder for the database of one of the programs, whose formats may differ.
func (r *comparison) database(p part, program int) string {
	return filepath.Join(r.dir, fmt.Sprintf("%s-%d", p.name, program))
}

// measure runs a part with one of the programs, and returns its figures.
func (r *comparison) measure(p part, program int) (values []float64, err error) {
	out, cpu, err := r.run(r.c.Args().Get(program), r.arguments(p, program)...)
	if err != nil {
		return nil, err
	}
	var document map[string]any
	if err := json.Unmarshal(out, &document); err != nil {
		return nil, err
	}
	for _, f := range p.figures {
		v := cpu.Seconds()
		if f.path != "" {
			v = f.of(document)
		}
		values = append(values, v)
	}
	return values, nil
}

// arguments replaces the placeholders in the arguments of a part: numbers by the name of their flag, {generated} and
// {files} by the flags of the chain, {recording} and {db} by folders.
func (r *comparison) arguments(p part, program int) (args []string) {
	replace := []string{"{recording}", filepath.Join(r.dir, blocksFolder), "{db}", r.database(p, program)}
	for name, n := range r.numbers {
		replace = append(replace, "{"+name+"}", strconv.FormatUint(n, 10))
	}
	forward := func(names ...string) {
		for _, name := range names {
			if r.c.IsSet(name) {
				args = append(args, "--"+name+"="+r.c.String(name))
			}
		}
	}
	for _, field := range strings.Fields(p.args) {
		switch field {
		case "{generated}":
			args = append(args, "--chain="+r.chain)
			forward("indexes", "block-txs")
		case "{files}":
			args = append(args, "--chain="+r.chain, "--network="+r.files.Network, "--source="+r.files.Source)
			if r.c.IsSet("indexes") {
				args = append(args, "--index="+r.c.String("indexes"))
			}
		default:
			args = append(args, strings.NewReplacer(replace...).Replace(field))
		}
	}
	forward("memory", "config")
	return append(args, "--json", "--dir="+r.dir)
}

// run executes a benchmark with a program, and returns its output and the CPU time of all its processes.
func (r *comparison) run(program string, args ...string) (out []byte, cpu time.Duration, err error) {
	cmd := exec.CommandContext(r.c.Context, program, slices.Concat([]string{"bench"}, args)...)
	var log bytes.Buffer
	cmd.Stderr = &log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 30 * time.Second
	out, err = cmd.Output()
	if r.c.Context.Err() != nil {
		return nil, 0, context.Cause(r.c.Context)
	}
	if err != nil {
		err = fmt.Errorf("%s bench %s: %w: %s", program, strings.Join(args, " "), err, bytes.TrimSpace(log.Bytes()))
		return nil, 0, err
	}
	return out, cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}

// of returns the figure in a document; 0 if it or its divisor is missing.
func (f figure) of(document map[string]any) float64 {
	path, divisor, quotient := strings.Cut(f.path, "/")
	v := numberAt(document, path)
	if !quotient {
		return v
	}
	by := numberAt(document, divisor)
	if by == 0 {
		return 0
	}
	return v / by
}

// numberAt returns the number at a path of keys, separated by dots; 0 if it is missing.
func numberAt(document map[string]any, path string) float64 {
	key, rest, nested := strings.Cut(path, ".")
	if nested {
		inner, _ := document[key].(map[string]any)
		return numberAt(inner, rest)
	}
	n, _ := document[key].(float64)
	return n
}

func showCompare(p *terminal.Page, a *CompareAnswer) {
	p.Fields("chain", terminal.Green(a.Chain), "transactions", a.Txs, "rounds", a.Rounds)
	p.Heading("medians; a ratio above 1 is better")
	median := func(values []float64) terminal.Cell {
		return terminal.Right(strconv.FormatFloat(bench.MedianOf(slices.Clone(values)), 'g', 5, 64))
	}
	columns := []string{"part", "figure", "old", "new", "ratio", "95% interval", "verdict"}
	terminal.Table(p, a.Figures, columns, func(_ int, f Compared) terminal.Cells {
		interval, verdict := "", any(string(f.Verdict))
		if f.Low > 0 {
			interval = fmt.Sprintf("%.3f to %.3f", f.Low, f.High)
		}
		switch f.Verdict {
		case compare.Better:
			verdict = terminal.Green(verdict)
		case compare.Worse:
			verdict = terminal.Red(verdict)
		}
		return terminal.Cells{
			terminal.Green(f.Part), f.Figure, median(f.Old), median(f.New),
			terminal.Bold(terminal.Right(fmt.Sprintf("%.3f", f.Mean))), terminal.Right(interval), verdict,
		}
	})
}
