package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// benchFigures are JSON keys of each run, which scripts read.
var benchFigures = []string{"txs", "txs_per_s", "txs_per_s_settled", "entities_per_s", "cpu_us_per_tx", "rows_per_tx", "bytes_per_tx",
	"bytes_written_per_tx", "bytes_read_per_tx", "reads_per_tx", "lookups_per_tx", "peak_rss", "stages", "quarters"}

// bounded reports whether a run has a memory bound. Only runs with a database on disk have one.
func bounded(figures map[string]any) bool {
	return figures["peak_rss_bound"] == float64(64<<20+300_000_000) && figures["within_bound"] == (figures["peak_rss"].(float64) <= 64<<20+300_000_000)
}

func TestBenchAppendExecutesEachRunInAProcess(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	args := strings.Fields("bench append --txs 2000 --naive-txs 1000 --block-txs 100 --memory 64MiB --dir " + dir)
	r := birthmark(append(args, "--json")...)
	if r.status != exitDone {
		t.Fatalf("%+v", r)
	}
	type figures map[string]any
	var a struct {
		Indexes      map[string]any
		Naive, Floor figures
		Runs         map[string]figures
	}
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.DisallowUnknownFields()
	if err := d.Decode(&a); err != nil || d.More() {
		t.Fatalf("%v in %s", err, r.stdout)
	}
	for name, c := range map[string]struct {
		figures
		txs float64
	}{
		"naive": {a.Naive, 1000}, "floor": {a.Floor, 1000},
		"wal": {a.Runs["wal"], 2000}, "nowal": {a.Runs["nowal"], 2000}, "bulk": {a.Runs["bulk"], 2000},
	} {
		if c.figures["txs"] != c.txs {
			t.Errorf("%s indexed %v transactions, expected %v", name, c.figures["txs"], c.txs)
		}
		if want := name != "naive" && name != "floor"; bounded(c.figures) != want {
			t.Errorf("%s has bound %v, within it is %v", name, c.figures["peak_rss_bound"], c.figures["within_bound"])
		}
		for _, f := range benchFigures {
			if c.figures[f] == nil {
				t.Errorf("%s has no %s", name, f)
			}
		}
	}
	if len(a.Indexes) != 2 || a.Indexes["address"] == nil {
		t.Errorf("indexes %v", a.Indexes)
	}
	if len(a.Runs) != 3 {
		t.Errorf("%d runs in addition to naive and floor", len(a.Runs))
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) > 0 {
		t.Errorf("remaining files: %v (%v)", left, err)
	}

	profile := filepath.Join(dir, "cpu.prof")
	r = birthmark(append(args, "--runs=wal", "--cpuprofile", profile)...)
	if info, err := os.Stat(profile); r.status != exitDone || err != nil || info.Size() == 0 {
		t.Errorf("the profile: %v; %+v", err, r)
	}

	r = birthmark(append(args, "--runs=naive,wal", "--repeat=2")...)
	if lines := strings.Split(r.stdout, "\n"); r.status != exitDone || !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "wal ") }) {
		t.Errorf("as text: %+v", r)
	}
}

func TestBenchAppendReusesARecording(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	recording, kept := filepath.Join(dir, "recording"), filepath.Join(dir, "kept")
	var first, second struct{ Runs map[string]map[string]any }
	args := strings.Fields("bench append --txs 2000 --block-txs 100 --memory 64MiB --dir " + dir + " --recording " + recording)
	ask(t, &first, append(args, "--runs=bulk")...)
	before, err := os.Stat(filepath.Join(recording, "blocks"))
	if err != nil {
		t.Fatal(err)
	}
	// Fewer transactions and other indexes have the same blocks.
	ask(t, &second, append(args, "--runs=wal", "--txs=1500", "--indexes=address", "--keep-db="+kept)...)
	after, err := os.Stat(filepath.Join(recording, "blocks"))
	if err != nil || !after.ModTime().Equal(before.ModTime()) {
		t.Errorf("the blocks were recorded again: %v", err)
	}
	if first.Runs["bulk"]["txs"] != 2000.0 || second.Runs["wal"]["txs"] != 1500.0 {
		t.Errorf("%+v, %+v", first, second)
	}
	var status map[string]any
	ask(t, &status, "status", "--db", filepath.Join(kept, "wal"))
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 { // the recording and the database
		t.Errorf("remaining files: %v (%v)", left, err)
	}
	refused := func(message string, flags ...string) {
		t.Helper()
		wantFailure(t, exitRefused, "not_empty", message, slices.Concat(args, []string{"--runs=wal"}, flags)...)
	}
	refused(`recording of other blocks \(seed: 1, expected 2\)`, "--seed=2")
	refused(`recording of other blocks \(transactions: 2000, expected 3000\)`, "--txs=3000")
	refused(`wal is not empty: use another folder for --keep-db`, "--keep-db="+kept)
	refused(`contains other files: use an empty folder`, "--recording="+kept)
}

func TestBenchAppendIndexesEveryChain(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, chain := range []string{"cardano", "ergo"} {
		var a struct {
			Naive map[string]any
			Runs  map[string]map[string]any
		}
		ask(t, &a, benchTo(t, "append --txs 400 --naive-txs 150 --runs naive,bulk --chain "+chain)...)
		if a.Naive["txs"] != 150.0 || a.Runs["bulk"]["txs"] != 400.0 {
			t.Errorf("%s: %+v", chain, a)
		}
	}
}

// An interrupted bench leaves no files.
func TestAnInterruptedBenchAppendLeavesNoFiles(t *testing.T) {
	slow(t) // generates 200,000 transactions
	t.Parallel()
	dir := t.TempDir()
	cmd, _, stderr := process(t, -1, "bench", "append", "--runs", "naive,wal", "--txs", "200000", "--dir", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the database of a run", func() bool {
		found, err := filepath.Glob(filepath.Join(dir, "*", "naive", "*"))
		return err == nil && len(found) > 0
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(stderr.String(), "interrupt") {
		t.Errorf("%v: %s", err, stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("remaining files: %v (%v)", left, err)
	}
}

func TestBenchAppendSelectsRunsByWAL(t *testing.T) {
	slow(t)
	t.Parallel()
	for value, expected := range map[string][]string{"on": {"bulk", "wal"}, "off": {"nowal"}} {
		var a struct {
			Naive, Floor any
			Runs         map[string]any
		}
		ask(t, &a, "bench", "append", "--txs=300", "--block-txs=100", "--memory=64MiB", "--dir", t.TempDir(), "--wal", value)
		var names []string
		for name := range a.Runs {
			names = append(names, name)
		}
		if slices.Sort(names); !slices.Equal(names, expected) || a.Naive == nil || a.Floor == nil {
			t.Errorf("--wal %s: runs %v, expected %v, naive and floor", value, names, expected)
		}
	}
}

func TestBenchAppendRejectsInvalidFlags(t *testing.T) {
	t.Parallel()
	for line, message := range map[string]string{
		"--txs none":                 `^--txs: expected a number from 1 to 4294967295, not "none"$`,
		"--txs 0":                    `^--txs: expected a number`,
		"--block-txs 100001":         `^--block-txs: expected a number from 1 to 100000`,
		"--runs wal,quick":           `^--runs: expected some of naive, floor, wal, nowal, bulk, not "wal,quick"$`,
		"--runs wal --wal on":        `^--wal and --runs cannot be combined`,
		"--wal maybe":                `^--wal: expected on or off, not "maybe"$`,
		"--cpuprofile " + os.DevNull: `^a profile covers one run: expected --runs with one of`,
		"--chain doge":               `^--chain: expected bitcoin, cardano, ergo, not "doge"$`,
		"--repeat 2 --keep-db x":     `^--keep-db and --repeat cannot be combined`,
		"--repeat 0":                 `^--repeat: expected a number from 1 to 1000`,
	} {
		wantFailure(t, exitUsage, "bad_value", message, append([]string{"bench", "append"}, strings.Fields(line)...)...)
	}
	wantFailure(t, exitUsage, "bad_setting", `is too little`, "bench", "append", "--memory=1MiB")
	wantFailure(t, exitUsage, "unknown_index", `unsupported index "op_return"`, "bench", "append", "--indexes", "address,op_return")
}
