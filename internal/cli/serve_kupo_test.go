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

// A server answers Kupo's API below a path, with its methods and its errors. A database without the required indexes or
// options is rejected.
func TestServeKupo(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "birthmark.yaml")
	settings := fmt.Sprintf("memory: 256MiB\nchain: cardano\nnetwork: preview\nsource: file://%s\ndb: %s\nraw: true\nserve: { kupo: /kupo }\n",
		testblocks.Path(t, "cardano", "dingo-immutable"), filepath.Join(dir, "db"))
	write(t, file, settings)
	if r := birthmark("sync", "--config", file, "--to-height", "300"); r.status != exitDone {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	r := birthmark("serve", "--config", file, "--listen", "127.0.0.1:0")
	if r.status == exitDone || !strings.Contains(r.stderr, "birthmark index add payment_credential") {
		t.Errorf("without the indexes: status %d\n%s", r.status, r.stderr)
	}

	write(t, file, strings.Replace(settings, filepath.Join(dir, "db"), filepath.Join(dir, "other"), 1)+"indexes: kupo\n")
	if r := birthmark("sync", "--config", file, "--to-height", "300"); r.status != exitDone {
		t.Fatalf("status %d: %s", r.status, r.stderr)
	}
	s := startRealServer(t, "--config", file)
	for _, c := range []struct {
		method, path string
		status       int
		says         string
	}{
		{"GET", "kupo/matches/*?unspent", 200, `"transaction_index":`},
		{"GET", "kupo/v1/metrics", 200, `"connection_status":"connected"`},
		{"PUT", "kupo/patterns/*", 200, `["*"]`},
		{"DELETE", "kupo/matches/*", 400, `{"hint":"nothing can be deleted`},
		{"OPTIONS", "kupo/matches", 200, ""},
		{"PUT", "v1/cardano-preview/tip", 405, "method_not_allowed"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), c.method, s.URL+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "application/json")
		a, err := s.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(a.Body)
		a.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		body := string(raw)
		if a.StatusCode != c.status || !strings.Contains(body, c.says) {
			t.Errorf("%s %s: %d %.200s, expected %d with %q", c.method, c.path, a.StatusCode, body, c.status, c.says)
		}
	}
}
