package cli

import (
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/internal/testblocks"
	"birthmark/internal/testrun"
)

// A server answers Blockfrost's API below a path, with API keys in the header project_id and errors in Blockfrost's
// form. A database that lacks required indexes or options is rejected.
func TestServeBlockfrost(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	file, keys := filepath.Join(dir, "birthmark.yaml"), filepath.Join(dir, "keys")
	write(t, keys, "wallet:previewSecretKey0123456789\n")
	settings := fmt.Sprintf("memory: 256MiB\nchain: cardano\nnetwork: preview\nsource: file://%s\ndb: %s\nraw: true\n"+
		"api_keys_file: %s\nserve: { blockfrost: /api/v0 }\n",
		testblocks.Path(t, "cardano", "dingo-immutable"), filepath.Join(dir, "db"), keys)
	write(t, file, settings)
	if r := birthmark("sync", "--config", file, "--to-height", "100"); r.status != exitDone {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	r := birthmark("serve", "--config", file, "--listen", "127.0.0.1:0")
	if r.status == exitDone || !strings.Contains(r.stderr, "birthmark index add address") {
		t.Errorf("without the options: status %d\n%s", r.status, r.stderr)
	}

	write(t, file, strings.Replace(settings, filepath.Join(dir, "db"), filepath.Join(dir, "other"), 1)+"indexes: blockfrost\n")
	if r := birthmark("sync", "--config", file, "--to-height", "100"); r.status != exitDone {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	for _, do := range []string{"drop", "add"} { // the preset defines the index for labels, which otherwise are 501
		if r := birthmark("index", do, "metadata_label", "--config", file); r.status != exitDone {
			t.Fatalf("index %s: status %d: %s", do, r.status, r.stderr)
		}
	}
	s := startRealServer(t, "--config", file)
	for _, c := range []struct {
		path, key string
		status    int
		says      string
	}{
		{"api/v0/blocks/100", "previewSecretKey0123456789", 200, `"height":100`},
		{"api/v0/blocks/9999999", "previewSecretKey0123456789", 404, `"message":"The requested component has not been found."`},
		{"api/v0/metadata/txs/labels", "previewSecretKey0123456789", 200, "[]"},
		{"api/v0/network", "previewSecretKey0123456789", 501, `"error":"Not Implemented"`},
		{"api/v0/blocks/100", "another", 403, `{"status_code":403,"error":"Forbidden","message":"Invalid project token."}`},
		{"api/v0/blocks/100", "", 403, `"status_code":403`},
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.key != "" {
			req.Header.Set("project_id", c.key)
		}
		a, err := s.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(a.Body)
		a.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if a.StatusCode != c.status || !strings.Contains(string(body), c.says) {
			t.Errorf("%s with key %q: %d %.300s, expected %d with %q", c.path, c.key, a.StatusCode, body, c.status, c.says)
		}
	}
}
