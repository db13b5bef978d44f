package cli

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/core/check"
	"birthmark/internal/testseed"
)

// A database whose manifest is truncated at any byte is rejected with a remedy, or it is a complete database of an
// earlier block. It never answers from a part of its files.
func TestADatabaseWithATruncatedManifestIsRefusedOrComplete(t *testing.T) {
	slow(t)
	t.Parallel()
	live := filepath.Join(t.TempDir(), "db")
	source := "file://" + realBlocks(t)
	for _, to := range []string{"3000", "6000", "6050", "9000", "9100", "9200"} { // several sessions of the manifest
		syncTo(t, live, source, "--to-height", to)
	}
	manifests, err := filepath.Glob(filepath.Join(live, "MANIFEST-*"))
	if err != nil || len(manifests) != 1 {
		t.Fatalf("%d manifests, %v", len(manifests), err)
	}
	name := filepath.Base(manifests[0])
	info, err := os.Stat(manifests[0])
	if err != nil {
		t.Fatal(err)
	}
	rng := testseed.Rand(t)
	refused := 0
	for range 12 {
		if cutManifest(t, rng, live, name, info.Size()) {
			refused++
		}
	}
	if refused == 0 {
		t.Errorf("none of 12 truncated manifests was rejected")
	}
}

func cutManifest(t *testing.T, rng *rand.Rand, live, name string, size int64) (refused bool) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "db")
	if err := os.CopyFS(dir, os.DirFS(live)); err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(dir, "control.sock"))
	at := rng.Int64N(size)
	if err := os.Truncate(filepath.Join(dir, name), at); err != nil {
		t.Fatal(err)
	}
	r := birthmark("status", "--json", "--db", dir)
	if r.status == exitRefused {
		var f failure
		if err := json.Unmarshal([]byte(r.stdout), &f); err != nil || !strings.Contains(f.Error.Message, "restore a copy") {
			t.Errorf("cut at byte %d of %d: %s", at, size, r.stdout)
		}
		if r := birthmark("sync", "--source", "file://"+realBlocks(t), "--db", dir); r.status != exitRefused {
			t.Errorf("cut at byte %d of %d: sync ends with %d: %s", at, size, r.status, r.stderr)
		}
		return true
	}
	var a check.Result
	if r := birthmark("check", "--json", "--db", dir); r.status != exitDone || json.Unmarshal([]byte(r.stdout), &a) != nil || !a.OK {
		t.Errorf("cut at byte %d of %d: check ends with %d: %.2000s", at, size, r.status, r.stdout)
	}
	return false
}
