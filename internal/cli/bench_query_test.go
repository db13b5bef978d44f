package cli

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/bench"
	"birthmark/bench/benchcmd"
)

// benchTo returns the arguments of a bench of a small chain. It creates the folder for temporary files, which must be
// empty at the end of the test.
func benchTo(t *testing.T, line string) []string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("remaining files: %v (%v)", left, err)
		}
	})
	return append(strings.Fields("bench "+line+" --memory 64MiB"), "--dir", dir)
}

func rising(l bench.Latencies) bool {
	return l.Count > 0 && l.P50 > 0 && l.P50 <= l.P90 && l.P90 <= l.P99 && l.P99 <= l.Max
}

func TestBenchQueryOfAGeneratedDatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, chain := range []string{"bitcoin", "cardano", "ergo"} {
		var a benchcmd.QueryAnswer
		ask(t, &a, benchTo(t, "query --txs 1500 --block-txs 50 --samples 20 --chain "+chain)...)
		if a.Chain != chain || a.Network == "" || a.Txs != 1500 || a.Index != "address" || a.Hottest.Value == "" || a.Hottest.Sampled ||
			a.Hottest.Outputs < 30 || a.Memory != 64<<20 || a.PeakRSS <= 0 {
			t.Errorf("%s: %+v", chain, a)
		}
		for _, q := range bench.Questions {
			if l := a.Micros[q]; !rising(l) || !strings.HasPrefix(q, "hottest") && (l.Count < 1 || l.Count > 20) {
				t.Errorf("%s: %s: %+v", chain, q, l)
			}
		}
		if len(a.Micros) != len(bench.Questions) {
			t.Errorf("%s: %v", chain, a.Micros)
		}
		find, history := a.Lists["find"], a.Lists["history"]
		if uint64(find.Rows) != a.Hottest.Outputs || !find.Whole || find.RowsPerSecond <= 0 || history.Rows == 0 || !history.Whole {
			t.Errorf("%s: %+v of %d outputs, %+v", chain, find, a.Hottest.Outputs, history)
		}
	}
}

// The first run creates the database and later runs reuse it. Other flags are rejected.
func TestBenchQueryReusesADatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	args := append(benchTo(t, "query --txs 800 --block-txs 50 --samples 5"), "--reuse-db", dir)
	var first, second benchcmd.QueryAnswer
	ask(t, &first, args...)
	db := filepath.Join(dir, "db")
	before, err := os.Stat(filepath.Join(dir, "recording.json"))
	if err != nil {
		t.Fatal(err)
	}
	ask(t, &second, args...)
	if after, err := os.Stat(filepath.Join(dir, "recording.json")); err != nil || !after.ModTime().Equal(before.ModTime()) || first.Hottest != second.Hottest || second.Txs != 800 {
		t.Errorf("%v; %+v, then %+v", err, first, second)
	}
	wantFailure(t, exitRefused, "not_empty", `contains a generated database of bitcoin with 800 transactions`, append(args, "--seed", "2")...)
	wantFailure(t, exitRefused, "not_empty", `is not empty and contains no generated database`, "bench", "query", "--reuse-db", db)

	var sampled benchcmd.QueryAnswer
	ask(t, &sampled, "bench", "query", "--db", db, "--samples", "100")
	if !sampled.Hottest.Sampled || sampled.Hottest.Value != first.Hottest.Value || sampled.Hottest.Outputs != first.Hottest.Outputs ||
		sampled.Txs != 800 {
		t.Errorf("%+v, generated as %+v", sampled, first)
	}
	r := birthmark("bench", "query", "--db", db, "--samples", "5")
	if lines := strings.Split(r.stdout, "\n"); r.status != exitDone || !slices.ContainsFunc(lines, func(l string) bool { return strings.HasPrefix(l, "hottest_balance ") }) {
		t.Errorf("as text: %+v", r)
	}
}

func TestBenchTip(t *testing.T) {
	slow(t)
	t.Parallel()
	for line, least := range map[string]float64{"--txs 3000 --blocks 2": benchcmd.TipTxs, "--chain ergo --txs 300 --blocks 10": 2} {
		var a benchcmd.TipAnswer
		ask(t, &a, benchTo(t, "tip "+line)...)
		if a.Txs < 200 || a.BlockTxs < least || !(a.CPU > 0) || !rising(a.Millis) || a.Millis.Count != map[bool]int{true: 2, false: 10}[a.Chain == "bitcoin"] || len(a.Indexes) == 0 {
			t.Errorf("%s: %+v", line, a)
		}
		sum := 0.0
		for _, part := range bench.Parts {
			if l := a.Parts[part]; !rising(l) || l.Count != a.Millis.Count {
				t.Errorf("%s: %s: %+v", line, part, l)
			} else {
				sum += l.P50
			}
		}
		if sum > 3*a.Millis.Max {
			t.Errorf("%s: the parts take %.3f ms, the block at most %.3f ms", line, sum, a.Millis.Max)
		}
	}
	var a benchcmd.TipAnswer
	ask(t, &a, benchTo(t, "tip --txs 3000 --blocks 2 --watch 1000")...)
	if w := a.Watch; w == nil || w.Values < 1000 || w.Bytes < 21_000 || w.Outputs < 50 || w.Spends == 0 || w.Millis.Count != 2 {
		t.Errorf("with a watch list: %+v", w)
	}
	if r := birthmark(benchTo(t, "tip --txs 500 --blocks 1 --watch 9")...); r.status != exitDone ||
		!strings.Contains(r.stdout, "\nresolve ") || !strings.Contains(r.stdout, "\nevents ") {
		t.Errorf("as text: %+v", r)
	}
}

// Blocks are appended to a copy of a kept database, which does not change, with or without its caches.
func TestBenchTipReusesADatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	args := append(benchTo(t, "tip --txs 3000 --blocks 2"), "--reuse-db", dir)
	files := func() string {
		var all []string
		err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				content, readErr := os.ReadFile(path)
				all, err = append(all, fmt.Sprintf("%s %x", path, sha256.Sum256(content))), readErr
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(all, "\n")
	}
	before := ""
	for _, more := range []string{"", "", "--empty-caches"} {
		var a benchcmd.TipAnswer
		ask(t, &a, append(args, strings.Fields(more)...)...)
		if a.Txs < 3000 || a.Millis.Count != 2 || a.BlockTxs != benchcmd.TipTxs {
			t.Errorf("%q: %+v", more, a)
		}
		if after := files(); before == "" {
			before = after
		} else if after != before {
			t.Errorf("%q: the files were\n%s\nand are\n%s", more, before, after)
		}
	}
	wantFailure(t, exitRefused, "not_empty", `contains a generated database of bitcoin`, append(args, "--blocks", "1")...)
	wantFailure(t, exitUsage, "bad_value", `--reuse-db and --segments cannot be combined`, append(args, "--segments")...)
	wantFailure(t, exitUsage, "bad_value", `--empty-caches requires --reuse-db`, benchTo(t, "tip --empty-caches")...)
}

func TestBenchRollback(t *testing.T) {
	slow(t)
	t.Parallel()
	for _, line := range []string{"--txs 1000,2500 --blocks 20 --block-txs 10", "--chain cardano --txs 300,600 --blocks 10"} {
		var a benchcmd.RollbackAnswer
		ask(t, &a, benchTo(t, "rollback "+line)...)
		if len(a.Sizes) != 2 || a.Sizes[0].Txs >= a.Sizes[1].Txs {
			t.Fatalf("%s: %+v", line, a)
		}
		for _, r := range a.Sizes {
			if r.Blocks < 10 || r.RemovedTxs <= 0 || r.RemovedTxs >= r.Txs || !(r.TxsPerSecond > 0) || !(r.CPUMicrosPerTx > 0) ||
				r.Ratio != r.TxsPerSecond/r.AppendTxsPerSecond || r.BulkRatio != r.TxsPerSecond/r.BulkTxsPerSecond {
				t.Errorf("%s: %+v", line, r)
			}
		}
	}
	if r := birthmark(benchTo(t, "rollback --txs 500 --blocks 2 --block-txs 10")...); r.status != exitDone || !strings.Contains(r.stdout, "appended again") {
		t.Errorf("as text: %+v", r)
	}
}

// Benches do not touch other databases, and reject invalid requests before creating anything.
func TestBenchRejectsInvalidFlags(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		status        int
		code, message string
	}{
		"rollback --db x":                   {exitUsage, "unknown_flag", `--?db`},
		"tip --db x":                        {exitUsage, "unknown_flag", `--?db`},
		"rollback --txs 100,none":           {exitUsage, "bad_value", `^--txs: expected numbers from 1 to 4294967295`},
		"rollback --txs 100 --blocks 1000":  {exitUsage, "bad_value", `cannot take the last 1000 blocks`},
		"tip --blocks 0":                    {exitUsage, "bad_value", `^--blocks: expected a number from 1`},
		"query --chain doge":                {exitUsage, "bad_value", `^--chain: expected bitcoin, cardano, ergo, not "doge"`},
		"query --chain ergo --indexes none": {exitUsage, "unknown_index", `none`},
		"query --db x --reuse-db y":         {exitUsage, "bad_value", `^--db and --reuse-db cannot be combined`},
		"query --db " + os.DevNull:          {exitRefused, "no_database", `no database in `},
		"query --samples 0":                 {exitUsage, "bad_value", `^--samples: expected a number from 1`},
		"append --repeat 2 --runs wal --memprofile " + os.DevNull: {exitUsage, "bad_value", `^a profile covers one run`},
	} {
		wantFailure(t, want.status, want.code, want.message, append([]string{"bench"}, strings.Fields(line)...)...)
	}
}
