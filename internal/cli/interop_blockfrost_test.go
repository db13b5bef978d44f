//go:build interop

package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/internal/testblocks"
)

// serveBlockfrost serves the API on real blocks of the preview network.
func serveBlockfrost(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	write(t, file, fmt.Sprintf("memory: 256MiB\nchain: cardano\nnetwork: preview\nsource: file://%s\ndb: %s\nraw: true\nindexes: blockfrost\n"+
		"serve: { blockfrost: /api/v0 }\n", testblocks.Path(t, "cardano", "dingo-immutable"), filepath.Join(dir, "db")))
	if r := birthmark("sync", "--config", file); r.status != exitDone {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	return startRealServer(t, "--config", file).URL + "api/v0"
}

// Every answer has the schema of Blockfrost's OpenAPI document, and blockfrost-js and Lucid Evolution return what the server
// answers.
func TestInteropBlockfrost(t *testing.T) {
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), "node", "client.js", serveBlockfrost(t), "46000", "50900", "350")
	cmd.Dir = filepath.Join("..", "..", "tools", "interop", "blockfrost")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node client.js: %v: make test-interop installs what it needs", err)
	}
	var a struct {
		Counts map[string]int
		Faults []string
	}
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	if len(a.Faults) > 0 {
		t.Errorf("%d faults:\n%s", len(a.Faults), strings.Join(a.Faults[:min(len(a.Faults), 20)], "\n"))
	}
	if len(a.Counts) < 55 {
		t.Errorf("only %d endpoints were requested", len(a.Counts))
	}
	t.Log(a.Counts)
}
