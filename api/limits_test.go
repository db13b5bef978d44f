package api_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/api"
	"birthmark/api/events"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/meter"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/model"
)

type viewing = func(context.Context, func(*query.View) error) error

// guarded serves a database with limits on requests. A view that is not nil replaces that of the database.
func guarded(t *testing.T, db *core.DB, o ratelimit.Options, view viewing) http.Handler {
	t.Helper()
	chain := of("bitcoin", db)
	if view != nil {
		chain.View = view
	}
	follow := func(c *served.Chain) http.Handler { return events.Handler(c, events.Options{}) }
	h := newAPI(t, api.Options{Chains: []*served.Chain{chain}, CacheBytes: -1, Fields: fields, Events: follow})
	return ratelimit.New(o, h)
}

// fewBlocks returns a new database of the first 300 real blocks.
func fewBlocks(t *testing.T) *core.DB {
	t.Helper()
	to := model.HeightPk(300)
	db, err := openBitcoin(t.Context(), nil, &to)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// blocked is the view of a database that does not respond.
func blocked(ctx context.Context, _ func(*query.View) error) error {
	<-ctx.Done()
	return ctx.Err()
}

// The operation decides whether an answer has a time limit; the Accept header does not.
func TestOnlyStreamsHaveNoTimeLimit(t *testing.T) {
	testrun.Slow(t)
	real(t)
	for accept, paths := range map[string][]string{
		"application/json, application/x-ndjson": {
			"balance/address/" + satoshi, "richest/address", "tx/" + firstPayment, "status",
		},
		"application/x-ndjson;q=0, */*":   {"blocks", "find/address/" + satoshi},
		"text/x-ndjson, application/json": {"blocks"},
	} {
		for _, path := range paths {
			synctest.Test(t, func(t *testing.T) {
				o := ratelimit.Defaults()
				h := guarded(t, fewBlocks(t), o, blocked)
				ctx, cancel := context.WithTimeout(t.Context(), 10*o.Timeout)
				defer cancel()
				r := httptest.NewRequestWithContext(ctx, "GET", "/v1/bitcoin/"+path, nil)
				r.Header.Set("Accept", accept)
				w := httptest.NewRecorder()
				began := time.Now()
				h.ServeHTTP(w, r)
				wantProblem(t, w, 503, "timeout", o.Timeout.String())
				if took := time.Since(began); took != o.Timeout {
					t.Errorf("%s, Accept %s: ended after %s", path, accept, took)
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) {
		o := ratelimit.Defaults()
		ctx, cancel := context.WithTimeout(t.Context(), 10*o.Timeout)
		defer cancel()
		for _, path := range []string{"blocks", "events"} {
			r := httptest.NewRequestWithContext(ctx, "GET", "/v1/bitcoin/"+path, nil)
			r.Header.Set("Accept", "application/x-ndjson")
			guarded(t, fewBlocks(t), o, blocked).ServeHTTP(httptest.NewRecorder(), r)
			if ctx.Err() == nil {
				t.Errorf("the stream of %s has a time limit", path)
			}
		}
	})
}

// A stream beyond the server's limit is rejected with a problem, on any route.
func TestTooManyStreamsAreRefused(t *testing.T) {
	real(t)
	for _, path := range []string{"blocks", "events"} {
		synctest.Test(t, func(t *testing.T) {
			o := ratelimit.Defaults()
			o.Streams = 1
			h := guarded(t, fewBlocks(t), o, blocked)
			ask := func() *httptest.ResponseRecorder {
				r := httptest.NewRequestWithContext(t.Context(), "GET", "/v1/bitcoin/"+path, nil)
				r.Header.Set("Accept", "application/x-ndjson")
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				return w
			}
			go ask()
			synctest.Wait()
			wantProblem(t, ask(), 503, "too_many_streams", "1 open streams")
		})
	}
}

// A request pays for the rows that it reads. Above a number of rows, equal requests are read once, for a unit more.
func TestCosts(t *testing.T) {
	testrun.Slow(t)
	const burst = 1000
	find := "find/address/" + satoshi
	values := func(n int) string {
		return `{"index":"address","values":["` + strings.Repeat(satoshi+`","`, n-1) + satoshi + `"]}`
	}
	for _, c := range []struct {
		path, body, accept string
		rows               int // rows that a request reads by itself; 0: the default
		status             int
		cost               int
	}{
		{path: "tx/" + firstPayment, cost: 1},
		{path: find + "?limit=100&order=desc", cost: 1},
		{path: "values/address?limit=%zz", status: 400, cost: 1},
		{path: "values/address?limit=99999999999999999999", status: 400, cost: 1},
		{path: "balance/address/" + satoshi, rows: 4, cost: 2}, // reads six outputs
		{path: "balance/address/" + satoshi, accept: "application/json, application/x-ndjson", rows: 4, cost: 2},
		{path: "balance/address/12c6DSiU4Rq3P4ZxziKxzrL5LmMBrzjrJX", rows: 4, cost: 1}, // one output
		{path: "history/address/" + satoshi + "?limit=1", rows: 4, cost: 2},
		{path: "richest/address?limit=1", rows: 4, cost: 2},
		{path: "blocks", accept: "application/json", cost: 1},
		{path: "outputs", body: `{"outputs":["` + firstPayment + `:0"]}`, cost: 1},
		{path: "balances", body: values(1), rows: 4, cost: 2},
		{path: "txs", body: `{"txs":["` + strings.Repeat(firstPayment+`","`, 499) + firstPayment + `"]}`, cost: 1},
	} {
		restore := func() {}
		if c.rows > 0 {
			restore = api.FreeRowsOf(c.rows)
		}
		o := ratelimit.Defaults()
		o.Rate = ratelimit.Rate{PerSecond: 1e-9, Burst: burst}
		headers := []string{}
		if c.accept != "" {
			headers = append(headers, "Accept", c.accept)
		}
		method := "GET"
		if c.body != "" {
			method = "POST"
		}
		w := ask(guarded(t, real(t), o, nil), method, "/v1/bitcoin/"+c.path, c.body, headers...)
		restore()
		if w.Code != max(c.status, 200) {
			t.Fatalf("%.200s: %d %s", c.path, w.Code, w.Body)
		}
		var left int
		_, err := fmt.Sscanf(w.Header().Get("Ratelimit"), `"client";r=%d`, &left)
		if err != nil || burst-left != c.cost {
			t.Errorf("%.200s %.50s, Accept %q: costs %d, expected %d; %v",
				c.path, c.body, c.accept, burst-left, c.cost, err)
		}
	}
}

// counting counts the views of a database, and the canceled ones. Each view waits for release after it has read.
type counting struct {
	views, ended atomic.Int64
	release      chan struct{}
}

func (c *counting) view(db *core.DB) viewing {
	return func(ctx context.Context, fn func(*query.View) error) error {
		return db.View(ctx, func(v *query.View) error {
			err := fn(v)
			if err == nil { // it has read all rows
				c.views.Add(1)
				select {
				case <-c.release:
				case <-ctx.Done():
					c.ended.Add(1)
					return ctx.Err()
				}
			}
			return err
		})
	}
}

// Concurrent equal requests are read once, even if the first client disconnects.
func TestEqualRequestsAreReadOnce(t *testing.T) {
	defer api.FreeRowsOf(4)()
	real(t)
	synctest.Test(t, func(t *testing.T) {
		c := &counting{release: make(chan struct{})}
		o := ratelimit.Defaults()
		o.Rate = ratelimit.Rate{PerSecond: 1e-9, Burst: 1000}
		db := fewBlocks(t)
		h := guarded(t, db, o, c.view(db))
		ask := func(ctx context.Context, from int) *httptest.ResponseRecorder {
			path := "/v1/bitcoin/balance/address/" + satoshi
			if from%2 == 1 {
				path = strings.ReplaceAll(path, "12c", "%31%32c") // the same path, escaped
			}
			r := httptest.NewRequestWithContext(ctx, "GET", path, nil)
			r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", from)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		first, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() { ask(first, 1) })
		synctest.Wait()
		const others = 60
		left := make([]int, others)
		for i := range others {
			all.Go(func() {
				w := ask(t.Context(), 10+i)
				if w.Code != 200 || !strings.Contains(w.Body.String(), `"balance":"1800000000"`) {
					t.Errorf("caller %d: %d %s", i, w.Code, w.Body)
				}
				fmt.Sscanf(w.Header().Get("Ratelimit"), `"client";r=%d`, &left[i])
			})
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		if n := c.ended.Load(); n != 0 {
			t.Errorf("the first client disconnected, and %d views were canceled", n)
		}
		close(c.release)
		all.Wait()
		if n := c.views.Load(); n != 1 {
			t.Errorf("%d equal requests opened %d views", others+1, n)
		}
		for i, n := range left {
			if n != 999 {
				t.Errorf("caller %d, whose answer was shared, paid %d", i, 1000-n)
			}
		}
	})
}

// A client that times out does not cancel the work for others. The last client does.
func TestLastCallerCancelsTheWork(t *testing.T) {
	defer api.FreeRowsOf(4)()
	real(t)
	synctest.Test(t, func(t *testing.T) {
		c := &counting{release: make(chan struct{})}
		o := ratelimit.Defaults()
		o.Timeout = 10 * time.Second
		db := fewBlocks(t)
		h := guarded(t, db, o, c.view(db))
		var all sync.WaitGroup
		for i := range 3 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * 4 * time.Second)
				began := time.Now()
				w := ask(h, "GET", "/v1/bitcoin/balance/address/"+satoshi, "")
				wantProblem(t, w, 503, "timeout", "10s")
				if took := time.Since(began); took != o.Timeout {
					t.Errorf("caller %d waited %s", i, took)
				}
			})
		}
		all.Wait()
		synctest.Wait()
		if c.views.Load() != 1 || c.ended.Load() != 1 {
			t.Errorf("%d views, %d canceled", c.views.Load(), c.ended.Load())
		}
		close(c.release)
		if w := ask(h, "GET", "/v1/bitcoin/balance/address/"+satoshi, ""); w.Code != 200 {
			t.Errorf("afterwards: %d %s", w.Code, w.Body)
		}
	})
}

// Expensive requests are limited in total and per client, until they end.
func TestExpensiveRequestsAreBounded(t *testing.T) {
	defer api.FreeRowsOf(4)()
	real(t)
	synctest.Test(t, func(t *testing.T) {
		c := &counting{release: make(chan struct{})}
		o := ratelimit.Defaults()
		o.Expensive, o.Medium, o.Timeout = 4, 100, time.Hour
		db := fewBlocks(t)
		h := guarded(t, db, o, c.view(db))
		// These requests differ in a parameter only, so each is read and costs 9.
		request := func(n, from int) *httptest.ResponseRecorder {
			path := fmt.Sprintf("/v1/bitcoin/history/address/%s?limit=1&time_from=%d", satoshi, n)
			r := httptest.NewRequest("GET", path, nil)
			r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", from)
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			return w
		}
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				if w := request(i, 1+i/2); w.Code != 200 {
					t.Errorf("request %d: %d %s", i, w.Code, w.Body)
				}
			})
		}
		synctest.Wait()
		wantProblem(t, request(5, 1), 429, "overloaded", "your expensive requests")
		wantProblem(t, request(6, 9), 503, "overloaded", "too many expensive requests")
		all.Go(func() {
			if w := request(0, 9); w.Code != 200 { // an equal request is being read
				t.Errorf("an equal request: %d %s", w.Code, w.Body)
			}
		})
		synctest.Wait()
		close(c.release)
		all.Wait()
		if w := request(7, 1); w.Code != 200 || c.views.Load() != 5 {
			t.Errorf("afterwards: %d %s, %d views", w.Code, w.Body, c.views.Load())
		}
	})
}

// The bytes of answers, shared ones included, count against the memory for answers until the requests end.
func TestAnswersAreHeldWithinTheirMemory(t *testing.T) {
	o := ratelimit.Defaults()
	o.Memory = meter.NewBudget(60_000)
	h := guarded(t, real(t), o, nil)
	for _, shared := range []bool{false, true} {
		var held int64 // while the answer is sent
		get := func(limit int) *httptest.ResponseRecorder {
			if shared {
				defer api.FreeRowsOf(1 - limit)()
			}
			w := &cutting{httptest.NewRecorder(), 1, func() { held = o.Memory.Used() }}
			h.ServeHTTP(w, httptest.NewRequest("GET", fmt.Sprintf("/v1/bitcoin/blocks?limit=%d", limit), nil))
			return w.ResponseRecorder
		}
		wantProblem(t, get(1500), 400, "answer_too_large", "the setting memory")
		if w := get(800); w.Code != 200 || held != int64(w.Body.Len())-meter.Free || held <= 0 {
			t.Errorf("shared %t: %d, %d of %d bytes are held", shared, w.Code, held, w.Body.Len())
		}
		if n := o.Memory.Used(); n != 0 {
			t.Errorf("shared %t: %d bytes are held after the requests", shared, n)
		}
	}
}
