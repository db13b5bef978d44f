package cli

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"birthmark/internal/testrun"
)

// Pages of every origin can read the API of Blockbook, and send transactions by it. Its status has the size of the
// database, and without a node no description of one.
func TestServeBlockbookToEveryOrigin(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	write(t, file, fmt.Sprintf("chains:\n- chain: bitcoin\n  source: file://%s\n  db: %s\n%s  serve: { blockbook: /blockbook }\n",
		realBlocks(t), filepath.Join(dir, "db"), walletIndexes))
	s := startRealServer(t, "--config", file)
	until(t, "the first block to be there", func() bool {
		return s.get(t, "blockbook/api/v2/block-index/0").status == http.StatusOK
	})
	const origin = "https://wallet.example.org"
	for _, path := range []string{"blockbook/api/v2", "blockbook/api/v1/block/0", "blockbook/api/block/x"} {
		if r := s.get(t, path, "Origin", origin); r.header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s: %d %v", path, r.status, r.header)
		}
	}
	preflight, err := http.NewRequest(http.MethodOptions, s.URL+"blockbook/api/v2/sendtx/", nil)
	if err != nil {
		t.Fatal(err)
	}
	preflight.Header.Set("Origin", origin)
	preflight.Header.Set("Access-Control-Request-Method", http.MethodPost)
	r, err := s.client.Do(preflight)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusNoContent || r.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("preflight: %d %v", r.StatusCode, r.Header)
	}
	var status struct {
		Blockbook struct{ DBSize int64 }
		Backend   struct{ Version, Error string }
	}
	if body := s.get(t, "blockbook/api/v2").body; json.Unmarshal(body, &status) != nil || status.Blockbook.DBSize <= 0 ||
		status.Backend.Version+status.Backend.Error != "" {
		t.Errorf("status %s", body)
	}
}
