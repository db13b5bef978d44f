package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"birthmark/api"
	"birthmark/api/compat/answertest"
	"birthmark/api/problem"
	"birthmark/api/served"
	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/model"
	"birthmark/storage/memory"
)

const (
	firstPayment = "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16"
	satoshi      = "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S"
	lastHash     = "00000000b3e750f37fdb42e1018799a9f44b546d393b130b369590a072430a1c"
)

// realBlocks returns the file of Bitcoin's first 14,132 blocks in a Go module, or "" if it is missing.
var realBlocks = sync.OnceValue(func() string {
	out, err := exec.Command("go", "-C", filepath.Join("..", "tools"), "list", "-m", "-f", "{{.Dir}}", "github.com/btcsuite/btcd").Output()
	dir := strings.TrimSpace(string(out))
	if err != nil || dir == "" {
		return ""
	}
	return filepath.Join(dir, "blockchain", "testdata", "blk_0_to_14131.dat")
})

// made returns the database of the real blocks. Tests do not write to it.
var made = sync.OnceValues(func() (*core.DB, error) {
	return openBitcoin(context.Background(), nil, nil)
})

func openBitcoin(ctx context.Context, keep map[string]model.IndexOptions, to *model.HeightPk) (*core.DB, error) {
	chain, err := bitcoin.New("mainnet")
	if err != nil {
		return nil, err
	}
	indexes := []string{model.StatisticsIndex}
	for _, x := range chain.Indexes() {
		if x.Default {
			indexes = append(indexes, x.Name)
		}
	}
	db, err := core.Open(ctx, memory.New(), core.Options{Chain: chain, Indexes: indexes, Keep: keep, CacheBytes: 8 << 20})
	if err != nil {
		return nil, err
	}
	return db, syncTo(ctx, db, to)
}

func syncTo(ctx context.Context, db *core.DB, to *model.HeightPk) error {
	src, err := db.Chain().Open(ctx, model.SourceOptions{URI: "file://" + realBlocks(), Indexes: db.Indexes(), To: to})
	if err != nil {
		return err
	}
	defer src.Close()
	return core.Sync(ctx, db, src, core.SyncOptions{To: to})
}

// real returns the database of the real blocks.
func real(t testing.TB) *core.DB {
	t.Helper()
	if realBlocks() == "" {
		t.Skip("real blocks are missing: run make blocks")
	}
	db, err := made()
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// of returns a database as a served chain.
func of(name string, db *core.DB) *served.Chain {
	return &served.Chain{
		Name: name, Model: db.Chain(), View: db.View, Moved: db.Moved,
		State: func() served.State { return served.State{} },
	}
}

// fields returns a small document of fields; the real one comes from the program.
func fields(chain string) (*api.FieldsAnswer, error) {
	return &api.FieldsAnswer{
		Chains:    []api.ChainFields{{Chain: chain, Fields: []api.ExpressionField{{Name: "output.value", Type: "number", Doc: "its value", Example: "7"}}}},
		Functions: []api.ExpressionFunction{{Call: "len(x)", Type: "number", Doc: "how long x is"}},
	}, nil
}

// site is an API whose exchanges can be recorded.
type site struct {
	*api.API
	recorded http.Handler
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.recorded.ServeHTTP(w, r) }

func newAPI(t testing.TB, o api.Options) *site {
	t.Helper()
	h, err := api.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return &site{h, answertest.Recorded(t, h)}
}

// handler serves databases by name; log receives the log.
func handler(t testing.TB, o api.Options, dbs map[string]*core.DB) (h *site, log *bytes.Buffer) {
	t.Helper()
	log = new(bytes.Buffer)
	o.Log = slog.New(slog.NewTextHandler(log, nil))
	o.Fields = fields
	o.Version = "v1.2.3"
	for name, db := range dbs {
		o.Chains = append(o.Chains, of(name, db))
	}
	return newAPI(t, o), log
}

// bitcoinAPI serves the real blocks as bitcoin.
func bitcoinAPI(t testing.TB) *site {
	h, _ := handler(t, api.Options{}, map[string]*core.DB{"bitcoin": real(t)})
	return h
}

// ask sends a request; headers are alternating names and values.
func ask(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, target, reader)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// wantProblem checks that a response is the expected problem document.
func wantProblem(t testing.TB, w *httptest.ResponseRecorder, status int, code, detail string) {
	t.Helper()
	var p problem.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Errorf("%d %s: %v", w.Code, w.Body, err)
		return
	}
	if w.Code != status || p.Status != status || p.Code != code || !strings.Contains(p.Detail, detail) || p.Title != http.StatusText(status) || p.Type != "about:blank" {
		t.Errorf("%d %+v, expected %d %s: …%s…", w.Code, p, status, code, detail)
	}
	if ct := w.Header().Get("Content-Type"); ct != "application/problem+json" {
		t.Errorf("the content type of a problem is %s", ct)
	}
	if w.Header().Get("Etag") != "" || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("a problem may be cached: %v", w.Header())
	}
}
