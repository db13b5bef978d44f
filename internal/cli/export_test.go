package cli

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"birthmark/core/export"
	"birthmark/internal/testseed"
)

// exported is a part of the answer of export.
type exported struct {
	Tip            struct{ Height int }
	Parts, Written int
	Rows           uint64
	Tables         []struct {
		Table string
		Rows  uint64
	}
}

// exportedFiles returns the contents of the files of an export by name.
func exportedFiles(t *testing.T, dir string) map[string]string {
	t.Helper()
	files, err := export.LocalFolder(dir).List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string]string{}
	for name := range files {
		if name != ".lock" {
			contents[name] = readText(t, filepath.Join(dir, name))
		}
	}
	return contents
}

// sameExport compares two exports.
func sameExport(t *testing.T, got, want string) {
	t.Helper()
	a, b := exportedFiles(t, got), exportedFiles(t, want)
	for name := range b {
		if a[name] != b[name] {
			t.Errorf("%s differs, or is missing", name)
		}
	}
	if len(a) != len(b) {
		t.Errorf("%d files, expected %d", len(a), len(b))
	}
}

// The rows of an export are the totals of the database. It is repeated after more blocks, and in each format.
func TestExportOfRealBlocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, out := filepath.Join(dir, "db"), filepath.Join(dir, "out")
	source := "file://" + realBlocks(t)
	syncTo(t, db, source, "--to-height", "9000")
	var a exported
	if ask(t, &a, "export", "--db", db, "--out", out, "--partition", "1000"); a.Tip.Height != 9000 || a.Written != a.Parts {
		t.Errorf("%+v", a)
	}
	syncTo(t, db, source)
	// Eight partitions were final.
	if ask(t, &a, "export", "--db", db, "--out", out, "--partition", "1000"); a.Tip.Height != 14131 || a.Written != a.Parts-8 {
		t.Errorf("%+v", a)
	}
	var status struct {
		Totals struct{ Blocks, Txs, Inputs, Outputs, Assets uint64 }
	}
	ask(t, &status, "status", "--db", db)
	for _, table := range a.Tables {
		want := map[string]uint64{"blocks": status.Totals.Blocks, "transactions": status.Totals.Txs, "inputs": status.Totals.Inputs,
			"outputs": status.Totals.Outputs}[table.Table]
		if table.Rows != want {
			t.Errorf("%d rows of %s, expected %d", table.Rows, table.Table, want)
		}
	}
	for _, format := range export.Formats {
		ask(t, &a, "export", "--db", db, "--out", filepath.Join(dir, format), "--format", format, "--from", "100", "--to", "299", "--tables", "blocks,outputs")
		if len(a.Tables) != 2 || a.Tables[0].Rows != 200 {
			t.Errorf("%s: %+v", format, a)
		}
	}
	wantFailure(t, exitUsage, "missing_flag", "missing --out DIR", "export", "--db", db)
	wantFailure(t, exitUsage, "bad_value", `no table "coins"`, "export", "--db", db, "--out", out, "--tables", "coins")
	wantFailure(t, exitUsage, "bad_value", `no format "xml"`, "export", "--db", db, "--out", out, "--format", "xml")
	wantFailure(t, exitRefused, "export_mismatch", "differs in format", "export", "--db", db, "--out", out, "--partition", "1000", "--format", "csv")
	lock, err := export.LocalFolder(out).Lock("test")
	if err != nil {
		t.Fatal(err)
	}
	wantFailure(t, exitRefused, "locked", "in use", "export", "--db", db, "--out", out)
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
}

// An export whose process is killed, also while the chain is reorganized between the runs, has the files of a new one.
func TestKillsOfExport(t *testing.T) {
	slow(t)
	t.Parallel()
	k := &snapshotKiller{rng: testseed.Rand(t)}
	dir := t.TempDir()
	db, out, fresh := filepath.Join(dir, "db"), filepath.Join(dir, "out"), filepath.Join(dir, "fresh")
	const blocks = 190
	sync := append([]string{"sync", "--db", db, "--to-height", strconv.Itoa(blocks)}, killSource(t)...)
	ask(t, nil, sync...)
	run := func(out string) []string {
		return []string{"export", "--db", db, "--out", out, "--partition", "20", "--confirmations", "10"}
	}
	if k.kill(t, run(filepath.Join(dir, "first"))...) {
		t.Fatal("killed")
	}
	kills, want := 0, snapshotKills(t)
	for kills < want {
		ask(t, nil, sync...)
		if k.rng.IntN(2) == 0 {
			ask(t, nil, "rollback", "--db", db, "--to-height", strconv.Itoa(blocks-1-k.rng.IntN(60)), "--yes")
		}
		for kills < want && k.kill(t, run(out)...) {
			kills++
		}
	}
	for _, folder := range []string{out, fresh} {
		if k.last = 0; k.kill(t, run(folder)...) {
			t.Fatal("killed")
		}
	}
	sameExport(t, out, fresh)
}

// Sizes and weights, of a database with raw transactions, are those in the answers to queries.
func TestExportedSizesAndWeights(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, out := filepath.Join(dir, "db"), filepath.Join(dir, "out")
	ask(t, nil, "bench", "generate", "--chain", "bitcoin", "--txs", "600", "--block-txs", "30", dir)
	ask(t, nil, "sync", "--chain", "bitcoin", "--network", "regtest", "--source", "file://"+filepath.Join(dir, "blocks"), "--db", db, "--raw=keep")
	ask(t, nil, "export", "--db", db, "--out", out, "--format", "ndjson", "--tables", "blocks,transactions")
	witness := 0
	for name, content := range exportedFiles(t, out) {
		for i, line := range strings.Split(strings.TrimSpace(content), "\n") {
			var row struct {
				Hash        string
				BlockNumber int `json:"block_number"`
				Size        int
				Weight      string
				VirtualSize int `json:"virtual_size"`
			}
			if name == export.ManifestName || content == "" {
				continue
			}
			if err := json.Unmarshal([]byte(line), &row); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "blocks/") {
				var a struct{ Size, Weight int }
				if ask(t, &a, "block", strconv.Itoa(row.BlockNumber), "--totals", "--db", db); a.Size != row.Size || strconv.Itoa(a.Weight) != row.Weight {
					t.Errorf("block %d: %+v, expected %+v", row.BlockNumber, row, a)
				}
				continue
			}
			if i%5 > 0 {
				continue
			}
			var a struct{ Size, Weight, Vsize int }
			if ask(t, &a, "tx", row.Hash, "--db", db); a.Size != row.Size || strconv.Itoa(a.Weight) != row.Weight || a.Vsize != row.VirtualSize {
				t.Errorf("transaction %s: %+v, expected %+v", row.Hash, row, a)
			}
			if a.Weight < 4*a.Size {
				witness++
			}
		}
	}
	if witness == 0 {
		t.Error("no transaction has a witness")
	}
}
