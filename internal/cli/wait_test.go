package cli

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"birthmark/core/query"
)

// A sync without --follow waits for a node that is starting or busy. With --source-wait 0 it ends.
func TestSyncWaitsForANodeThatIsStartingOrBusy(t *testing.T) {
	t.Parallel()
	_, node := serveBlocks(t, "main", false, mainnetBlocks(t, 5)...)
	to, err := url.Parse(node)
	if err != nil {
		t.Fatal(err)
	}
	answer := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, text)
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
	}{
		"starting":            {answer(500, `{"result":null,"error":{"code":-28,"message":"Loading block index…"},"id":null}`), "is starting: Loading block index…"},
		"full queue":          {answer(500, "Work queue depth exceeded"), "is too busy (500): Work queue depth exceeded"},
		"unavailable":         {answer(503, "Service temporarily unavailable"), "is too busy (503)"},
		"too many requests":   {answer(429, ""), "is too busy (429)"},
		"gateway":             {answer(502, "<html><h1>502 Bad Gateway</h1></html>"), "is too busy (502)"},
		"gateway timeout":     {answer(504, "<html>"), "is too busy (504)"},
		"a closed connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "closed the connection"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var bad atomic.Int64 // the next bad answers
			bad.Store(math.MaxInt64)
			proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.HasPrefix(r.URL.Path, "/rest/"):
					w.WriteHeader(http.StatusNotFound)
				case bad.Add(-1) < 0:
					proxy.ServeHTTP(w, r)
				default:
					c.answer(w, r)
				}
			}))
			defer s.Close()
			source := strings.Replace(s.URL, "://", "://user:password@", 1)
			db := filepath.Join(t.TempDir(), "db")
			sync := []string{"sync", "--chain", "bitcoin", "--source", source, "--db", db}
			if r := birthmark(append(sync, "--source-wait", "0")...); r.status != exitSource || !strings.Contains(r.stderr, c.says) {
				t.Errorf("without waiting: %+v", r)
			}
			bad.Store(2) // net/http repeats a request at once if the connection closed
			r := birthmark(sync...)
			if r.status != exitDone {
				t.Fatalf("%+v", r)
			}
			var status query.StatusAnswer
			if ask(t, &status, "status", "--db", db); status.Tip == nil || status.Tip.Height != 4 {
				t.Errorf("the tip is %+v", status.Tip)
			}
		})
	}
}
