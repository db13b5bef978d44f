package cli

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/core"
)

// first200 syncs Bitcoin's first 200 blocks, in which Satoshi pays Hal Finney.
func first200(t *testing.T, more ...string) string {
	t.Helper()
	db := filepath.Join(t.TempDir(), "db")
	syncTo(t, db, "file://"+realBlocks(t), append([]string{"--to-height", "199", "--wal=off"}, more...)...)
	return db
}

// varying matches values that differ between machines and runs: sizes on disk and durations.
var varying = []struct {
	pattern *regexp.Regexp
	with    string
}{
	{regexp.MustCompile(`"bytes":\d+`), `"bytes":0`},
	{regexp.MustCompile(`"seconds":[\d.e-]+`), `"seconds":0`},
	{regexp.MustCompile(`(?m) +\d[\d.]* (B|[KMG]iB)$`), "  SIZE"},
	{regexp.MustCompile(`(?m)  \([\d,]+/s\)$`), "  (RATE/s)"},
	{regexp.MustCompile(`(?m)^time  (.*)  [\d.]+(µs|ms|s)$`), "time  $1  TOOK"},
}

func normalized(text string) string {
	for _, v := range varying {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return text
}

const (
	firstPayment = "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"
	satoshi      = "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S"
)

func TestAnswersInTextAndJSON(t *testing.T) {
	slow(t)
	t.Parallel()
	db := first200(t, "--index", "address,script_hash")
	for name, line := range map[string]string{
		"status":         "status",
		"tip":            "tip",
		"block":          "block 170",
		"block_tip":      "block tip",
		"tx":             "tx " + firstPayment,
		"output":         "output " + firstPayment + ":1",
		"find":           "find address " + satoshi + " --limit 3 --order desc",
		"find_unspent":   "find --unspent address " + satoshi,
		"find_terms":     "find address 1Q2TWHE3GMdB6BZKafqwxXtWAWgFt5Jvm3 --or address=" + satoshi + " --and script_hash=8131e31b9b2da6ddb7cca24c537869c94320f19e80fc2ee72c9558e5a9296978 --height-from 182 --time-to 2009-01-12T21:30:00Z",
		"find_unused":    "find address 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
		"history_unused": "history address 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
		"balance_unused": "balance address 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
		"values":         "values address --limit 3 --order desc",
		"assets_none":    "assets",
		"history":        "history address " + satoshi,
		"balance":        "balance address " + satoshi,
		"richest":        "richest address --limit 3",
		"blocks":         "blocks --height-to 180 --order desc --limit 3",
		"check":          "check",
	} {
		args := append(strings.Fields(line), "--db", db)
		people, programs := birthmark(args...), birthmark(append(args, "--json")...)
		if people.status != exitDone || programs.status != exitDone || people.stderr+programs.stderr != "" {
			t.Errorf("%s: %+v, %+v", line, people, programs)
			continue
		}
		d := json.NewDecoder(strings.NewReader(programs.stdout))
		var document any
		if err := d.Decode(&document); err != nil || d.More() {
			t.Errorf("%s: not one JSON document (%v): %s", line, err, programs.stdout)
		}
		golden(t, name+".txt", normalized(people.stdout))
		golden(t, name+".json", normalized(programs.stdout))
	}
}

func TestSyncAndRollbackPrintTheirResult(t *testing.T) {
	slow(t)
	t.Parallel()
	source := "file://" + realBlocks(t)
	db := filepath.Join(t.TempDir(), "made", "on", "the", "way")
	var b strings.Builder
	for _, line := range []string{
		"sync --chain bitcoin --source " + source + " --to-height 99 --json",
		"sync --source " + source + " --to-height 199",
		"sync --source " + source + " --to-height 150",
		"rollback --to-height 170",
		"rollback --to-height 169 --json",
		"rollback --to-height 169",
		"sync --source " + source + " --to-height 20000 --wal=off",
	} {
		r := birthmark(append(strings.Fields(line), "--db", db)...)
		if r.status != exitDone {
			t.Fatalf("%s: %+v", line, r)
		}
		b.WriteString("$ birthmark " + strings.ReplaceAll(line, source, "SOURCE") + "\n" + r.stdout)
		if r.stderr != "" {
			b.WriteString("to stderr: " + regexp.MustCompile(`time=\S+`).ReplaceAllString(r.stderr, "time=T"))
		}
	}
	golden(t, "sync.txt", normalized(b.String()))
}

// The cursor at the end of a page selects the next page. The pages together equal the list.
func TestPagesContinueAtTheirCursor(t *testing.T) {
	t.Parallel()
	db := first200(t)
	type page struct {
		Outputs []struct{ Tx string }
		Next    *string
	}
	var all, got page
	ask(t, &all, "find", "--db", db, "address", satoshi)
	if all.Next != nil || len(all.Outputs) < 3 {
		t.Fatalf("%+v", all)
	}
	after := []string{}
	for {
		var p page
		ask(t, &p, append([]string{"find", "--db", db, "address", satoshi, "--limit=2"}, after...)...)
		got.Outputs = append(got.Outputs, p.Outputs...)
		if p.Next == nil {
			break
		}
		after = []string{"--after", *p.Next}
	}
	if len(got.Outputs) != len(all.Outputs) {
		t.Errorf("the pages have %d outputs, the list %d", len(got.Outputs), len(all.Outputs))
	}
	for i := range min(len(got.Outputs), len(all.Outputs)) {
		if got.Outputs[i] != all.Outputs[i] {
			t.Errorf("output %d differs", i)
		}
	}
	r := birthmark("find", "--db", db, "address", satoshi, "--limit=2")
	if !strings.Contains(r.stdout, "there is more: --after "+after[1]) && !strings.Contains(r.stdout, "there is more: --after ") {
		t.Errorf("the cursor of the next page is absent: %s", r.stdout)
	}
}

func TestDigestMatchesDump(t *testing.T) {
	t.Parallel()
	db := first200(t)
	var a core.Digest
	ask(t, &a, "dump", "--digest", "--db", db)
	all := birthmark("dump", "--db", db)
	if got := sha256Hex(all.stdout); got != a.SHA256 || uint64(strings.Count(all.stdout, "\n")) != a.Rows {
		t.Errorf("the dump has digest %s, expected %s, of %d rows", got, a.SHA256, a.Rows)
	}
	for _, f := range a.Families {
		one := birthmark("dump", "--db", db, "--family", f.Name)
		if got := sha256Hex(one.stdout); got != f.SHA256 || uint64(strings.Count(one.stdout, "\n")) != f.Rows || f.Rows == 0 {
			t.Errorf("%s has digest %s, expected %+v", f.Name, got, f)
		}
		if !strings.Contains(all.stdout, one.stdout) {
			t.Errorf("the complete dump lacks the family %s", f.Name)
		}
	}
	wantFailure(t, exitUsage, "bad_value", `^--family: expected one of .*utxo_by_utxo_pk.*, not "utxos"$`, "dump", "--digest", "--family", "utxos", "--db", db)
}

func TestDecodePrintsADocumentPerLine(t *testing.T) {
	t.Parallel()
	blocks := realBlocks(t)
	r := birthmark("decode", "--chain", "bitcoin", blocks, "--index=address,script_hash")
	if r.status != exitDone || r.stderr != "" {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(r.stdout, "\n"), "\n")
	if len(lines) != 14_132 {
		t.Fatalf("%d lines", len(lines))
	}
	golden(t, "decode.json", lines[170])
	content, err := os.ReadFile(blocks)
	if err != nil {
		t.Fatal(err)
	}
	second := hex.EncodeToString(content[8+285+8 : 8+285+8+215]) // records are magic, length, block
	piped := birthmarkReading(second, "decode", "-", "--chain=bitcoin", "--index=address,script_hash", "--height=1")
	if piped.status != exitDone || piped.stdout != lines[1] {
		t.Errorf("hex of block 1: %+v", piped)
	}
	high := birthmarkReading(second, "decode", "-", "--chain=bitcoin", "--height", "7")
	if !strings.Contains(high.stdout, `"height":7,`) {
		t.Errorf("with --height 7: %+v", high)
	}
	wantFailure(t, exitSource, "no_file", `^open /none/such: no such file or directory$`, "decode", "--chain", "bitcoin", "/none/such")
	for _, bad := range []string{"", "zz", "00", second[:300]} {
		r := birthmarkReading(bad, "decode", "-", "--chain", "bitcoin", "--json")
		if r.status != exitSource || !strings.HasPrefix(r.stdout, `{"error":{"code":"`) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%q: %+v", bad, r)
		}
	}
}

func TestSchemaIsTheDocument(t *testing.T) {
	plain := birthmark("schema")
	if plain.status != exitDone || !strings.HasPrefix(plain.stdout, "# ") {
		t.Fatalf("%+v", plain)
	}
	t.Setenv("BIRTHMARK_CHAIN", "bitcoin")
	if r := birthmark("schema"); r != plain {
		t.Error("the document depends on the environment")
	}
	withChain := birthmark("schema", "--chain", "bitcoin")
	if !strings.HasPrefix(withChain.stdout, plain.stdout) || !strings.Contains(withChain.stdout, "| `script_hash` | one-to-many | off |") {
		t.Errorf("with --chain: %s", withChain.stdout)
	}
	var a api.SchemaAnswer
	ask(t, &a, "schema", "--chain", "bitcoin")
	if a.Text != plain.stdout || len(a.Indexes) == 0 || !a.Indexes[0].Default {
		t.Errorf("%+v", a)
	}
}

func TestVersionNamesTheFormat(t *testing.T) {
	t.Parallel()
	var a versionAnswer
	ask(t, &a, "version")
	if a.Format == 0 || a.Version == "" || !strings.HasPrefix(a.Go, "go") {
		t.Errorf("%+v", a)
	}
}
