package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"birthmark/api/metrics"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// measuring is a store in memory with measurements.
type measuring struct{ storage.Store }

func (measuring) Metrics() ([]storage.Metric, error) {
	return []storage.Metric{{Name: "depth_bytes", Help: "How deep it is.", Value: 7}}, nil
}

func open(t *testing.T, s storage.Store) (*core.DB, []*model.Block) {
	t.Helper()
	v := modeltest.Variants()[0]
	db, err := core.Open(t.Context(), s, core.Options{Chain: v.Chain("one"), CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	blocks := v.NewGenerator(1).Blocks(10)
	if err := db.Append(t.Context(), blocks); err != nil {
		t.Fatal(err)
	}
	return db, blocks
}

func chainOf(db *core.DB, name string, state *served.State) *served.Chain {
	return &served.Chain{Name: name, Model: db.Chain(), View: db.View, Moved: db.Moved, State: func() served.State { return *state }, Measures: db.Stats}
}

// scrape returns the values of a scrape by name and labels.
func scrape(t *testing.T, m *metrics.Metrics) (values map[string]string, text string) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	values = map[string]string{}
	for line := range strings.Lines(w.Body.String()) {
		if line[0] != '#' {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "} ")
			if value == "" {
				name, value, _ = strings.Cut(strings.TrimSpace(line), " ")
			} else {
				name += "}"
			}
			values[name] = value
		}
	}
	return values, w.Body.String()
}

// want checks some of the values.
func want(t *testing.T, got map[string]string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		i := strings.LastIndex(line, " ")
		if v, ok := got[line[:i]]; v != line[i+1:] {
			t.Errorf("%s is %q (%t), expected %s", line[:i], v, ok, line[i+1:])
		}
	}
}

func TestMetricsOfChains(t *testing.T) {
	db, blocks := open(t, measuring{memory.New()})
	tip := blocks[len(blocks)-1]
	state := &served.State{Sync: &core.Progress{
		Height: tip.Height, Target: tip.Height + 90, Blocks: 10, Txs: 20, Entities: 30, Elapsed: time.Second, BlocksPerSecond: 4.5, Left: 20 * time.Second,
		Stages: map[string]float64{"read": 1, "resolve": 2, "write": 3.5},
	}}
	m := metrics.New([]*served.Chain{chainOf(db, "one", state)}, "1.2.3")
	got, text := scrape(t, m)
	status, err := db.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, got, `birthmark_database_up{chain="one"} 1`,
		fmt.Sprintf(`birthmark_tip_height{chain="one"} %d`, tip.Height),
		fmt.Sprintf(`birthmark_sync_target_height{chain="one"} %d`, tip.Height+90),
		`birthmark_sync_remaining_blocks{chain="one"} 90`,
		`birthmark_sync_failed{chain="one"} 0`,
		`birthmark_synced_entities_total{chain="one"} 30`,
		`birthmark_sync_eta_seconds{chain="one"} 20`,
		`birthmark_sync_stage_seconds_total{chain="one",stage="write"} 3.5`,
		fmt.Sprintf(`birthmark_transactions{chain="one"} %d`, status.Totals.Txs),
		fmt.Sprintf(`birthmark_unspent_outputs{chain="one"} %d`, status.Totals.Unspent),
		fmt.Sprintf(`birthmark_cache_lookups_total{cache="outputs",chain="one"} %d`, status.Totals.Inputs),
		fmt.Sprintf(`birthmark_index_values{chain="one",index="%s"} %d`, status.Indexes[0].Name, status.Indexes[0].Values),
		`birthmark_store_depth_bytes{chain="one"} 7`,
		`birthmark_event_subscribers{chain="one"} 0`, `birthmark_http_requests_rejected_total{reason="timeout"} 0`)
	for _, name := range []string{"go_goroutines", "process_resident_memory_bytes", "birthmark_tip_timestamp_seconds"} {
		if !strings.Contains(text, "\n"+name) {
			t.Errorf("no %s", name)
		}
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}

	left := m.Subscribed("one")
	m.Connections(3)
	m.Rejected(ratelimit.Reasons()[0])
	state.Failed, state.Sync = "no node", nil
	got, _ = scrape(t, m)
	want(t, got, `birthmark_sync_failed{chain="one"} 1`, `birthmark_event_subscribers{chain="one"} 1`, `birthmark_http_connections 3`,
		`birthmark_http_requests_rejected_total{reason="method_not_allowed"} 1`)
	if _, told := got[`birthmark_sync_target_height{chain="one"}`]; told {
		t.Error("a chain without a sync has a target")
	}
	left()
	got, _ = scrape(t, m)
	want(t, got, `birthmark_event_subscribers{chain="one"} 0`)
}

func TestFailingDatabaseDoesNotAffectOthers(t *testing.T) {
	db, _ := open(t, memory.New())
	good, bad := chainOf(db, "good", &served.State{}), chainOf(db, "bad", &served.State{})
	bad.View = func(context.Context, func(*query.View) error) error { return errors.New("no") }
	bad.Measures = func() (core.Stats, error) { return core.Stats{}, errors.New("no") }
	got, _ := scrape(t, metrics.New([]*served.Chain{good, bad}, "1.2.3"))
	want(t, got, `birthmark_database_up{chain="good"} 1`, `birthmark_database_up{chain="bad"} 0`, `birthmark_sync_failed{chain="bad"} 0`)
	if _, told := got[`birthmark_tip_height{chain="bad"}`]; told {
		t.Error("a database that cannot be read has a tip")
	}
}

// A scrape beyond the number of concurrent scrapes waits until another one ends or its client disconnects.
func TestScrapesWaitForEachOther(t *testing.T) {
	db, _ := open(t, memory.New())
	synctest.Test(t, func(t *testing.T) {
		slow := chainOf(db, "one", &served.State{})
		slow.View = func(context.Context, func(*query.View) error) error {
			time.Sleep(time.Second)
			return errors.New("slow")
		}
		m := metrics.New([]*served.Chain{slow}, "1.2.3")
		began := time.Now()
		var all sync.WaitGroup
		for range 6 {
			all.Go(func() { scrape(t, m) })
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, httptest.NewRequestWithContext(ctx, "GET", "/metrics", nil))
		if w.Code != 503 || time.Since(began) != time.Millisecond {
			t.Errorf("%d after %s", w.Code, time.Since(began))
		}
		all.Wait()
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("six scrapes, two at a time, took %s", took)
		}
	})
}

func TestRequestsAreCountedByTheirRoute(t *testing.T) {
	m := metrics.New(nil, "1.2.3")
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{chain}/tx/{hash}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("hash") == "none" {
			w.WriteHeader(404)
		}
		io.WriteString(w, "12345")
	})
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "1")
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		panic(http.ErrAbortHandler)
	})
	h := m.Wrap(ratelimit.New(ratelimit.Options{Rejected: m.Rejected}, mux))
	ask := func(method, path string) {
		defer func() { _ = recover() }()
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, path, nil))
	}
	for i := range 100 {
		ask("GET", fmt.Sprintf("/v1/bitcoin/tx/%d", i))
		ask("GET", fmt.Sprintf("/nothing/%d", i))
		ask(fmt.Sprintf("METHOD%d", i), "/v1/bitcoin/tx/0")
	}
	ask("GET", "/v1/bitcoin/tx/none")
	ask("GET", "/stream")
	got, _ := scrape(t, m)
	want(t, got, `birthmark_http_requests_total{code="200",method="get",route="/v1/{chain}/tx/{hash}"} 100`,
		`birthmark_http_requests_total{code="404",method="get",route="/v1/{chain}/tx/{hash}"} 1`,
		`birthmark_http_requests_total{code="404",method="get",route="none"} 100`,
		`birthmark_http_requests_total{code="405",method="unknown",route="none"} 100`,
		`birthmark_http_requests_total{code="200",method="get",route="/stream"} 1`,
		`birthmark_http_request_duration_seconds_count{route="/v1/{chain}/tx/{hash}"} 101`,
		`birthmark_http_response_size_bytes_sum{route="/v1/{chain}/tx/{hash}"} 505`,
		`birthmark_http_requests_rejected_total{reason="method_not_allowed"} 100`,
		`birthmark_http_requests_in_flight 0`)
}
