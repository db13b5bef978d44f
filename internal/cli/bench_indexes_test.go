package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/bench"
	"birthmark/bench/benchcmd"
)

const customIndexes = `chain: bitcoin
indexes:
  address: { balance: true, unspent: true, history: true }
  script_hash: {}
  memo:
    when: output.script_type == 'nulldata'
    value: output.data[0:4]
`

func TestBenchReadsIndexesFromAFile(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	custom, options := filepath.Join(dir, "custom.yaml"), filepath.Join(dir, "options.yaml")
	write(t, custom, customIndexes)
	write(t, options, "indexes:\n  address: { balance: true, unspent: true, history: true, prefix: true }\n")

	var a benchcmd.AppendAnswer
	ask(t, &a, benchTo(t, "append --txs 600 --naive-txs 300 --block-txs 100 --runs naive,bulk --index-file "+custom)...)
	if v := a.Indexes["address"]; len(a.Indexes) != 3 || !v.Balance || !v.Unspent || !v.History || v.Prefix || a.Indexes["memo"].Value != "output.data[0:4]" ||
		a.Indexes["memo"].Kind != "one-to-many" {
		t.Errorf("%+v", a.Indexes)
	}
	if e := a.Evaluation["memo"]; e == nil || len(a.Evaluation) != 1 || e.Values == 0 || e.Values >= e.Outputs || e.Base <= 0 {
		t.Errorf("%+v", a.Evaluation)
	}
	if a.Runs[bench.Bulk].Txs != 600 || a.Naive.Txs != 300 {
		t.Errorf("%+v", a)
	}
	r := birthmark(benchTo(t, "append --txs 300 --block-txs 100 --runs floor --index-file "+custom)...)
	if r.status != exitDone || !strings.Contains(r.stdout, "address (balance, unspent, history), memo (custom), script_hash") || !strings.Contains(r.stdout, "\nmemo ") {
		t.Errorf("as text: %+v", r)
	}

	var q, plain benchcmd.QueryAnswer
	hot := "query --txs 1500 --block-txs 50 --samples 10 --hot-outputs 2000"
	ask(t, &q, benchTo(t, hot+" --index-file "+options)...)
	ask(t, &plain, benchTo(t, hot)...)
	if q.Hottest.Outputs < 2000 || q.Hottest != plain.Hottest || !q.Indexes["address"].History || q.Lists["find"].Rows != plain.Lists["find"].Rows ||
		q.Lists["history"].Rows != plain.Lists["history"].Rows {
		t.Errorf("%+v, without options %+v", q, plain)
	}
	var serialized benchcmd.QueryAnswer
	ask(t, &serialized, benchTo(t, "query --txs 500 --block-txs 50 --samples 10 --index-file "+custom)...)
	if serialized.Network != "regtest" || serialized.Txs != 500 || len(serialized.Indexes) != 3 {
		t.Errorf("%+v", serialized)
	}

	var tip benchcmd.TipAnswer
	ask(t, &tip, benchTo(t, "tip --txs 500 --blocks 2 --index-file "+options)...)
	var back benchcmd.RollbackAnswer
	ask(t, &back, benchTo(t, "rollback --txs 500 --blocks 5 --block-txs 20 --index-file "+custom)...)
	if !tip.Indexes["address"].Prefix || tip.Millis.Count != 2 || len(back.Indexes) != 3 || back.Sizes[0].RemovedTxs == 0 {
		t.Errorf("%+v, %+v", tip, back)
	}
}

func TestBenchRejectsInvalidIndexFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct{ text, more, code, message string }{
		"none":         {"memory: 1GiB\n", "", "bad_setting", `: expected indexes of bitcoin$`},
		"of another":   {"chain: ergo\nindexes:\n  address: {}\n", "", "bad_setting", `: expected indexes of bitcoin$`},
		"unknown":      {"indexes:\n  adress: {}\n", "", "unknown_index", `unknown.yaml:2: bitcoin has no index "adress"`},
		"bad field":    {"indexes:\n  mine: { value: output.nothing }\n", "", "bad_definition", `bad field.yaml:2: .*nothing`},
		"two ways":     {"indexes:\n  address: {}\n", "--indexes address", "bad_value", `^--indexes and --index-file cannot be combined`},
		"hot custom":   {"indexes:\n  mine: { value: output.script }\n", "--hot-outputs 5", "bad_value", `^hot outputs are supported for bitcoin without custom indexes`},
		"not settings": {"indexes: 3\n", "", "bad_setting", `indexes must map`},
	} {
		path := filepath.Join(dir, name+".yaml")
		write(t, path, c.text)
		wantFailure(t, exitUsage, c.code, c.message, append([]string{"bench", "append", "--index-file", path}, strings.Fields(c.more)...)...)
	}
	wantFailure(t, exitUsage, "no_settings", `^--index-file: open `, "bench", "append", "--index-file", filepath.Join(dir, "absent"))
	wantFailure(t, exitUsage, "bad_value", `^--hot-outputs: expected a number`, "bench", "query", "--hot-outputs", "many")
	wantFailure(t, exitUsage, "bad_value", `^--db and --hot-outputs cannot be combined`, "bench", "query", "--db", os.DevNull, "--hot-outputs", "3")
}
