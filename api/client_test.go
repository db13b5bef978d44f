package api_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"birthmark/api"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testrun"
)

// A client that is generated from the OpenAPI document decodes the answers of a running server: see tools/apiclient.
func TestGeneratedClient(t *testing.T) {
	testrun.Slow(t)
	events := func(*served.Chain) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			io.WriteString(w, "event: tip\n\n")
		})
	}
	h, _ := handler(t, api.Options{Events: events}, map[string]*core.DB{"bitcoin": real(t)})
	server := httptest.NewServer(h)
	defer server.Close()

	tools, dir := absolute(t, filepath.Join("..", "tools")), t.TempDir()
	document, client, overlay := filepath.Join(dir, "openapi.yaml"), filepath.Join(dir, "client.go"), filepath.Join(dir, "overlay.json")
	write(t, document, ask(h, "GET", "/openapi-3.0.yaml", "").Body.Bytes())
	write(t, client, toolOutput(t, tools, "tool", "oapi-codegen", "-config", filepath.Join("apiclient", "oapi-codegen.yaml"), document))
	added, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(tools, "apiclient", "client.go"): client}})
	if err != nil {
		t.Fatal(err)
	}
	write(t, overlay, added)

	other := "address=1Q2TWHE3GMdB6BZKafqwxXtWAWgFt5Jvm3"
	want, err := real(t).Find(t.Context(), "address", satoshi,
		query.Terms{Unspent: true, Or: []query.Term{{Index: "address", Value: other[8:]}}}, query.Page{})
	if err != nil {
		t.Fatal(err)
	}
	toolOutput(t, tools, "run", "-tags", "apiclient", "-overlay", overlay, "./apiclient", "-server", server.URL,
		"-tx", firstPayment, "-address", satoshi, "-or", other, "-outputs", fmt.Sprint(len(want.Outputs)), "-tip", lastHash, "-blocks", "14132")
}

// toolOutput runs a command of Go in the module of the tools, without the flags for RocksDB.
func toolOutput(t testing.TB, tools string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", append([]string{"-C", tools}, args...)...)
	cmd.Env = append(os.Environ(), "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %v: %v\n%s", args, err, stderrOf(err))
	}
	return out
}

func absolute(t testing.TB, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
