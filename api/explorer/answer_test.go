package explorer

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"birthmark/api"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// A conditional request with the ETag of the page returns 304 until the tip or the minute changes.
func TestConditionalRequests(t *testing.T) {
	v := modeltest.Variants()[1]
	blocks := v.NewGenerator(testseed.Of(t, 11)).Blocks(12)
	db := variant(t, v, blocks[:11])
	now := testNow
	h, err := New(Options{Chains: []*served.Chain{chainOf("made-up", db, nil)}, now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/made-up", "/made-up/blocks", "/made-up/block/3", "/made-up/search"} {
		first := ask(t, h, path)
		tag := first.Header.Get("ETag")
		if first.StatusCode != http.StatusOK || !strings.HasPrefix(tag, "W/") {
			t.Fatalf("%s: status %d, ETag %q", path, first.StatusCode, tag)
		}
		for _, known := range []string{tag, `"other", ` + tag, strings.TrimPrefix(tag, "W/")} {
			again := ask(t, h, path, "If-None-Match", known)
			body, err := io.ReadAll(again.Body)
			if again.StatusCode != http.StatusNotModified || len(body) > 0 || again.Header.Get("ETag") != tag || err != nil {
				t.Errorf("%s with If-None-Match %s: status %d, %d bytes, %v", path, known, again.StatusCode, len(body), err)
			}
		}
		if other := ask(t, h, path, "If-None-Match", `"other"`); other.StatusCode != http.StatusOK {
			t.Errorf("%s with another ETag: status %d", path, other.StatusCode)
		}
		now = now.Add(time.Minute)
		if later := ask(t, h, path, "If-None-Match", tag); later.StatusCode != http.StatusOK {
			t.Errorf("%s a minute later: status %d", path, later.StatusCode)
		}
	}
	tag := ask(t, h, "/made-up").Header.Get("ETag")
	if err := db.Append(t.Context(), blocks[11:]); err != nil {
		t.Fatal(err)
	}
	if res := ask(t, h, "/made-up", "If-None-Match", tag); res.StatusCode != http.StatusOK {
		t.Errorf("after a block: status %d", res.StatusCode)
	}
}

// A page names its tip as the API does, and links to its JSON, which has the same tip.
func TestPagesNameTheirTipAndTheirJSON(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		db := variant(t, v, v.NewGenerator(testseed.Of(t, 16)).Blocks(25))
		chain := chainOf("made-up", db, nil)
		h := explorerOf(t, chain)
		v1, err := api.New(api.Options{Chains: []*served.Chain{chain}})
		if err != nil {
			t.Fatal(err)
		}
		tip := db.Tip().Hash.String()
		kinds := map[string]int{}
		crawled(t, h, "/made-up", 90, func(d *document) {
			for _, n := range d.each("link") {
				if kind, _ := attr(n, "type"); kind != "application/json" {
					continue
				}
				path, _ := attr(n, "href")
				kinds[strings.Split(path, "/")[3]]++
				if res := ask(t, v1, path); res.StatusCode != http.StatusOK || res.Header.Get("X-Tip") != tip {
					t.Errorf("%s links to %s: status %d", d.path, path, res.StatusCode)
				}
			}
			if got := ask(t, h, d.path).Header.Get("X-Tip"); got != tip {
				t.Errorf("%s has the tip %q, expected %s", d.path, got, tip)
			}
		})
		for _, kind := range []string{"status", "blocks", "block", "tx", "output", "find", "values", "richest", "asset", "assets", "forks"} {
			if kinds[kind] == 0 {
				t.Errorf("%s: no page links to %s: %v", v.Name, kind, kinds)
			}
		}
	})
}

// A timeout or a shutdown has an error page.
func TestRequestsThatTimeOut(t *testing.T) {
	v := modeltest.Variants()[0]
	db := variant(t, v, v.NewGenerator(testseed.Of(t, 17)).Blocks(3))
	h := explorerOf(t, chainOf("one", db, nil), chainOf("two", db, nil))
	for _, path := range []string{"/", "/one", "/one/block/1", "/search?q=1"} {
		ctx, cancel := context.WithDeadline(t.Context(), time.Unix(1, 0))
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil))
		cancel()
		if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "timed out") {
			t.Errorf("%s: status %d\n%s", path, w.Code, w.Body)
		}
	}
}

// Pages of a chain that is syncing are not cached, because they change all the time.
func TestPagesOfASyncAreNotCached(t *testing.T) {
	v := modeltest.Variants()[0]
	db := variant(t, v, v.NewGenerator(testseed.Of(t, 12)).Blocks(5))
	for state, want := range map[*served.State]string{
		{Sync: &core.Progress{Height: 4, Target: 400, TxsPerSecond: 1500.4, BlocksPerSecond: 7, Left: 3 * time.Hour}}: "Syncing: block 4 of 400, 1,500 transactions/s, about 3 hours left",
		{Failed: "node refuses", Since: testNow.Add(-time.Hour)}:                                                      "Sync error since 1 hour ago",
	} {
		h := explorerOf(t, chainOf("made-up", db, state))
		res := ask(t, h, "/made-up")
		if tag := res.Header.Get("ETag"); tag != "" || res.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("ETag %q, Cache-Control %q", tag, res.Header.Get("Cache-Control"))
		}
		for _, path := range []string{"/made-up", "/made-up/block/2", "/made-up/status"} {
			read(t, h, path, http.StatusOK).has(t, want)
		}
		read(t, h, "/made-up/block/99", http.StatusNotFound).has(t, want)
	}
	ends := &served.State{Sync: &core.Progress{Height: 4, Target: 400, Left: 20 * time.Second}}
	soon := explorerOf(t, chainOf("made-up", db, ends), chainOf("other", db, nil))
	for _, path := range []string{"/", "/made-up"} {
		read(t, soon, path, http.StatusOK).has(t, ", less than a minute left")
	}
	blank := variant(t, v, nil)
	for _, c := range []struct {
		state served.State
		want  string
	}{
		{served.State{}, "waiting for the source."},
		{served.State{Preparation: &served.Preparation{What: "connecting to peers"}}, "connecting to peers."},
		{served.State{Preparation: &served.Preparation{What: "loading headers", Done: 1500, Total: 3000}}, "loading headers, 1,500 of 3,000."},
	} {
		c.state.Sync = &core.Progress{}
		h := explorerOf(t, chainOf("made-up", blank, &c.state), chainOf("other", db, nil))
		read(t, h, "/made-up", http.StatusOK).has(t, "Preparing the sync: "+c.want)
		overview := read(t, h, "/", http.StatusOK)
		overview.has(t, "Preparing the sync: "+strings.TrimSuffix(strings.ReplaceAll(c.want, "1,500 of 3,000", "50%"), "."))
	}
	answered := explorerOf(t, chainOf("made-up", blank, &served.State{Sync: &core.Progress{Elapsed: time.Second}}))
	if text := read(t, answered, "/made-up", http.StatusOK).main(); strings.Contains(text, "Preparing") {
		t.Errorf("the page of a chain whose source has no blocks: %s", text)
	}
	near := explorerOf(t, chainOf("made-up", db, &served.State{Sync: &core.Progress{Height: 4, Target: 5}}))
	if text := read(t, near, "/made-up", http.StatusOK).main(); strings.Contains(text, "syncing") {
		t.Errorf("a chain at its tip is shown as syncing: %s", text)
	}
}

func TestErrorPagesNameTheRemedy(t *testing.T) {
	v := modeltest.Variants()[0]
	db := variant(t, v, v.NewGenerator(testseed.Of(t, 13)).Blocks(5))
	unknown := strings.Repeat("ab", 32)
	h := explorerOf(t, chainOf("made-up", db, nil))
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/nowhere":                    {404, "Paths begin with a chain: made-up."},
		"/static/x/style.css":         {404, "Page not found"},
		"/made-up/nowhere":            {404, "No page /made-up/nowhere."},
		"/made-up/block/99":           {404, "No block at height 99: the tip is 4."},
		"/made-up/block/zz":           {400, "named by its hash, its height, tip, tip-N or genesis"},
		"/made-up/block/" + unknown:   {404, "No block " + unknown},
		"/made-up/block/2?page=9":     {404, "No page 9: the last is 1."},
		"/made-up/block/2?page=-1":    {400, "expected a number"},
		"/made-up/blocks?to=x":        {400, "expected a number"},
		"/made-up/tx/" + unknown:      {404, "No transaction " + unknown},
		"/made-up/tx/zz":              {400, "expected 64 hex digits"},
		"/made-up/output/zz":          {400, "expected TXHASH:N"},
		"/made-up/assets?after=wrong": {400, "Invalid cursor"},
	} {
		read(t, h, path, want.status).has(t, want.text)
	}
}

// Internal errors are logged and not shown.
func TestInternalErrorsAreOnlyLogged(t *testing.T) {
	v := modeltest.Variants()[0]
	db := variant(t, v, nil)
	for _, c := range []struct {
		err    error
		status int
		text   string
		logged bool
	}{
		{errors.New("read /secret/path: broken"), 500, "Internal error", true},
		{model.Errorf(model.Refused, "locked", "another process writes it"), 503, "Another process writes it.", false},
		{context.DeadlineExceeded, 503, "Request timed out", false},
	} {
		var log bytes.Buffer
		chain := chainOf("made-up", db, nil)
		chain.View = func(context.Context, func(*query.View) error) error { return c.err }
		h, err := New(Options{Chains: []*served.Chain{chain, chainOf("other", db, nil)}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/made-up", "/made-up/tx/00", "/search?q=1"} {
			d := read(t, h, path, c.status)
			d.has(t, c.text)
			if strings.Contains(d.text, "secret") {
				t.Errorf("%s shows an internal error: %s", path, d.main())
			}
		}
		if got := strings.Contains(log.String(), "secret"); got != c.logged {
			t.Errorf("%v: logged %q", c.err, log.String())
		}
		read(t, h, "/", http.StatusOK).has(t, "The database is not available.")
	}
}

func TestPagesRejectOtherMethods(t *testing.T) {
	v := modeltest.Variants()[0]
	h := explorerOf(t, chainOf("made-up", variant(t, v, v.NewGenerator(testseed.Of(t, 14)).Blocks(3)), nil))
	for _, path := range []string{"/", "/made-up", "/made-up/block/1", "/search", "/made-up/search"} {
		allowed := "GET, HEAD"
		if strings.HasSuffix(path, "/search") {
			allowed += ", POST"
		}
		for _, method := range []string{http.MethodPost, http.MethodDelete, "BREW"} {
			if strings.Contains(allowed, method) {
				continue
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader("q=1")))
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != allowed {
				t.Errorf("%s %s: status %d, Allow %q", method, path, w.Code, w.Header().Get("Allow"))
			}
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodHead, "/made-up/block/1", nil))
	if w.Code != http.StatusOK || w.Body.Len() > 0 || w.Header().Get("Content-Length") == "" {
		t.Errorf("HEAD: status %d, %d bytes, Content-Length %q", w.Code, w.Body.Len(), w.Header().Get("Content-Length"))
	}
}

func TestNamesOfChainsAreValidInPaths(t *testing.T) {
	v := modeltest.Variants()[0]
	db := variant(t, v, nil)
	for _, names := range [][]string{{""}, {"static"}, {"search"}, {"a/b"}, {"a b"}, {"{x}"}, {"one", "one"}} {
		var chains []*served.Chain
		for _, n := range names {
			chains = append(chains, chainOf(n, db, nil))
		}
		if _, err := New(Options{Chains: chains}); err == nil {
			t.Errorf("chains %q are accepted", names)
		}
	}
}

// Pages are complete while blocks are appended and rolled back.
func TestPagesDuringReorganizations(t *testing.T) {
	testrun.Slow(t)
	v := modeltest.Variants()[3]
	g := v.NewGenerator(testseed.Of(t, 15))
	stay := g.Blocks(20)
	gone := g.Blocks(6)
	db := variant(t, v, stay)
	h := explorerOf(t, chainOf("made-up", db, nil))
	paths := []string{"/made-up", "/made-up/blocks", "/made-up/block/tip", "/made-up/tx/" + stay[9].Txs[0].Hash.String(), "/made-up/assets", "/made-up/status"}
	var readers sync.WaitGroup
	ended := make(chan struct{})
	for _, path := range paths {
		readers.Go(func() {
			for {
				select {
				case <-ended:
					return
				default:
				}
				if res := ask(t, h, path); res.StatusCode != http.StatusOK {
					body, _ := io.ReadAll(res.Body)
					t.Errorf("%s: status %d: %s", path, res.StatusCode, body)
					return
				}
			}
		})
	}
	for range 20 {
		for _, b := range gone {
			if err := db.Append(t.Context(), []*model.Block{b}); err != nil {
				t.Error(err)
			}
		}
		rollback(t, db, stay[19].Point())
	}
	close(ended)
	readers.Wait()
}
