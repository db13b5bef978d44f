package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"birthmark/core/export"
	targets "birthmark/internal/snapshot/target"
	"birthmark/internal/testnode/s3test"
	"birthmark/internal/testseed"
)

// exportedTip returns the height of a complete export in a folder; -1: there is none.
func exportedTip(dir string) int {
	b, err := os.ReadFile(filepath.Join(dir, export.ManifestName))
	var m export.Manifest
	if err != nil || json.Unmarshal(b, &m) != nil || !m.Complete || m.Tip == nil {
		return -1
	}
	return int(m.Tip.Height)
}

// export --follow adds the blocks that another process writes. The files are those of an export at the end.
func TestExportFollowsTheDatabase(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, out, fresh := filepath.Join(dir, "db"), filepath.Join(dir, "out"), filepath.Join(dir, "fresh")
	source := "file://" + realBlocks(t)
	syncTo(t, db, source, "--to-height", "4000")
	cmd, stdout, stderr := process(t, all, "export", "--json", "--follow", "--db", db, "--out", out, "--partition", "1000")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	until(t, "the first export", func() bool { return exportedTip(out) == 4000 })
	syncTo(t, db, source, "--to-height", "5000")
	until(t, "an export of more blocks", func() bool { return exportedTip(out) == 5000 })
	ask(t, nil, "rollback", "--db", db, "--to-height", "4500", "--yes")
	until(t, "an export of fewer blocks", func() bool { return exportedTip(out) == 4500 })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v: %s%s", err, stdout, stderr)
	}
	var a exported
	if err := json.Unmarshal(stdout.Bytes(), &a); err != nil || a.Tip.Height != 4500 {
		t.Errorf("%s: %v", stdout, err)
	}
	ask(t, nil, "export", "--db", db, "--out", fresh, "--partition", "1000")
	sameExport(t, out, fresh)
}

// An export in a bucket has the files of one in a folder, also after it was repeated.
func TestExportToABucket(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, local := filepath.Join(dir, "db"), filepath.Join(dir, "local")
	url := "s3://" + s3test.Bucket + "/tables?region=us-east-1&endpoint=" + s3test.Start(t)
	source := "file://" + realBlocks(t)
	syncTo(t, db, source, "--to-height", "3000")
	run := func(out string) { ask(t, nil, "export", "--db", db, "--out", out, "--partition", "1000") }
	run(url)
	syncTo(t, db, source, "--to-height", "3500")
	run(url)
	run(local)
	want := exportedFiles(t, local)
	bucket, err := targets.Open(url, targets.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range want {
		r, err := bucket.Open(t.Context(), name, 0)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b, err := io.ReadAll(r)
		if err != nil || string(b) != content {
			t.Errorf("%s differs (%v)", name, err)
		}
		r.Close()
	}
	count := 1 // the manifest
	for _, table := range export.Tables {
		for e, err := range bucket.List(t.Context(), table) {
			if err != nil {
				t.Fatal(err)
			}
			if count++; want[e.Name] == "" {
				t.Errorf("%s is left", e.Name)
			}
		}
	}
	if count != len(want) {
		t.Errorf("%d files, expected %d", count, len(want))
	}
	wantFailure(t, exitUsage, "bad_url", "can only be read", "export", "--db", db, "--out", "https://example.org/tables")
}

// rangeOf requests a part of a file.
func rangeOf(t *testing.T, s *serverProcess, path string, from, to int, header ...string) (status int, body string) {
	t.Helper()
	r := s.get(t, path, append([]string{"Range", fmt.Sprintf("bytes=%d-%d", from, to-1), "Accept-Encoding", "gzip"}, header...)...)
	return r.status, string(r.body)
}

// serve keeps the tables up to date and serves their files with ranges, but nothing else of the folder.
func TestServeExportsTables(t *testing.T) {
	t.Parallel()
	rng := testseed.Rand(t)
	dir := t.TempDir()
	db, out, fresh, settings := filepath.Join(dir, "db"), filepath.Join(dir, "tables"), filepath.Join(dir, "fresh"), filepath.Join(dir, "birthmark.yaml")
	write(t, settings, "chain: bitcoin\ndb: "+db+"\nexport: { dir: "+out+", tables: [transactions, blocks] }\n")
	source := "file://" + realBlocks(t)
	syncTo(t, db, source, "--to-height", "3000")
	s := startServer(t, "--config", settings, "--source", source)
	until(t, "the tables", func() bool { return exportedTip(out) == 14131 })
	ask(t, nil, "export", "--db", db, "--out", fresh, "--tables", "blocks,transactions")
	sameExport(t, out, fresh)
	for name, content := range exportedFiles(t, out) {
		path := "export/bitcoin/" + name
		if r := s.get(t, path); r.status != http.StatusOK || string(r.body) != content {
			t.Errorf("%s: status %d, %d bytes", name, r.status, len(r.body))
		}
		readRanges(t, rng, s, path, content)
	}
	for _, name := range []string{
		".lock", "", "blocks", "blocks/from=000000000", "blocks/from=000000000/part.parquet~", "outputs/from=000000000/part.parquet",
		"..%2fbirthmark.yaml", "blocks/..%2f..%2f..%2fbirthmark.yaml", "blocks/from=..%2f/part",
	} {
		if r := s.get(t, "export/bitcoin/"+name); r.status != http.StatusNotFound {
			t.Errorf("%q: status %d", name, r.status)
		}
	}
	if status, _ := s.post(t, "export/bitcoin/manifest.json", ""); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: status %d", status)
	}
	metrics := string(s.get(t, "metrics").body)
	if !strings.Contains(metrics, `birthmark_export_height{chain="bitcoin"} 14131`) {
		t.Error("no metric of the height")
	}
	s.stop(t)
	write(t, settings, "chain: bitcoin\nexport: { dir: "+out+", tables: [coins] }\n")
	wantFailure(t, exitUsage, "bad_setting", `export.tables.*no table "coins"`, "serve", "--config", settings)
}

// readRanges reads a file in ranges, as readers of Parquet do: the end first.
func readRanges(t *testing.T, rng *rand.Rand, s *serverProcess, path, content string) {
	t.Helper()
	if r := s.get(t, path, "Range", "bytes=-8"); r.status != http.StatusPartialContent || string(r.body) != content[len(content)-8:] {
		t.Errorf("%s: the end: status %d, %q", path, r.status, r.body)
	}
	for from := 0; from < len(content); {
		to := min(len(content), from+1+rng.IntN(len(content)))
		if status, body := rangeOf(t, s, path, from, to); status != http.StatusPartialContent || body != content[from:to] {
			t.Errorf("%s: bytes %d to %d: status %d, %d bytes", path, from, to, status, len(body))
		}
		from = to
	}
	tag := s.get(t, path).header.Get("ETag")
	if status, _ := rangeOf(t, s, path, 0, 8, "If-Range", tag); status != http.StatusPartialContent {
		t.Errorf("%s: status %d for a range of the same file", path, status)
	}
	if status, body := rangeOf(t, s, path, 0, 8, "If-Range", `"other"`); status != http.StatusOK || body != content {
		t.Errorf("%s: status %d for a range of another file", path, status)
	}
	if status, _ := rangeOf(t, s, path, len(content), len(content)+1); status != http.StatusRequestedRangeNotSatisfiable {
		t.Errorf("%s: status %d for a range after the end", path, status)
	}
}
