package ratelimit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/api/auth"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/core/meter"
)

// echo is a handler that returns the method, the path and the size of the body.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		problem.Write(w, problem.Of(err))
		return
	}
	fmt.Fprintf(w, "%s %s %d", r.Method, r.URL.Path, len(body))
})

// costs wraps a handler whose response has the given cost.
func costs(cost int64, next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := meter.Of(r.Context()).Spend(cost * meter.Unit); err != nil {
			problem.Write(w, problem.Of(err))
			return
		}
		next(w, r)
	}
}

// streaming wraps a handler whose response is a stream.
func streaming(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := ratelimit.Stream(w); err != nil {
			problem.Write(w, problem.Of(err))
			return
		}
		next(w, r)
	}
}

// ask sends a request to h; the functions in change modify it first.
func ask(h http.Handler, method, target string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

func from(remote string) func(*http.Request) { return func(r *http.Request) { r.RemoteAddr = remote } }

func body(text io.Reader, length int64) func(*http.Request) {
	return func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(text), length }
}

// isProblem checks that w is a problem with this status and code, and returns its detail.
func isProblem(t *testing.T, w *httptest.ResponseRecorder, status int, code string) string {
	t.Helper()
	var p problem.Problem
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatalf("status %d, body %q: %v", w.Code, w.Body, err)
	}
	if w.Code != status || p.Status != status || p.Code != code || w.Header().Get("Content-Type") != problem.ContentType {
		t.Fatalf("%d %s %+v, expected %d %s", w.Code, w.Header().Get("Content-Type"), p, status, code)
	}
	return p.Detail
}

// valueKey is the key of a value in a context.
type valueKey struct{}

// counted counts reasons.
type counted struct {
	mu sync.Mutex
	by map[string]int
}

func (c *counted) add(reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.by == nil {
		c.by = map[string]int{}
	}
	c.by[reason]++
}

func (c *counted) of(reason string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.by[reason]
}

func TestAllowedMethods(t *testing.T) {
	h := ratelimit.New(ratelimit.Defaults(), echo)
	for _, method := range []string{"GET", "HEAD", "POST", "OPTIONS"} {
		if w := ask(h, method, "/v1"); w.Code != 200 {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "CONNECT", "TRACE", "PROPFIND", "get"} {
		w := ask(h, method, "/v1")
		isProblem(t, w, 405, "method_not_allowed")
		if allow := w.Header().Get("Allow"); allow != "GET, HEAD, POST, OPTIONS" {
			t.Errorf("%s: Allow %q", method, allow)
		}
	}
}

func TestLongAddressesAndLargeBodiesAreRefused(t *testing.T) {
	o := ratelimit.Defaults()
	o.URI, o.Body = 100, 1000
	h := ratelimit.New(o, echo)
	if w := ask(h, "GET", "/"+strings.Repeat("a", 99)); w.Code != 200 {
		t.Errorf("a path of 100 bytes: %d", w.Code)
	}
	isProblem(t, ask(h, "GET", "/"+strings.Repeat("a", 80)+"?"+strings.Repeat("b", 20)), 414, "uri_too_long")
	if w := ask(h, "POST", "/", body(strings.NewReader(strings.Repeat("x", 1000)), 1000)); w.Body.String() != "POST / 1000" {
		t.Errorf("a body of 1000 bytes: %d %s", w.Code, w.Body)
	}
	isProblem(t, ask(h, "POST", "/", body(strings.NewReader("never read"), 1001)), 413, "too_large")
	isProblem(t, ask(h, "POST", "/", body(strings.NewReader(strings.Repeat("x", 1001)), -1)), 413, "too_large")
}

func TestSlowAnswersTimeOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused counted
		o := ratelimit.Defaults()
		o.Timeout, o.Rejected = 3*time.Second, refused.add
		h := ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.Header().Set("ETag", "x")
			problem.Write(w, problem.Of(fmt.Errorf("scan: %w", r.Context().Err())))
		}))
		began := time.Now()
		w := ask(h, "GET", "/v1/bitcoin/balance/address/x")
		if took := time.Since(began); took != o.Timeout {
			t.Errorf("took %s", took)
		}
		if detail := isProblem(t, w, 503, "timeout"); !strings.Contains(detail, "3s") {
			t.Errorf("%q does not name the limit", detail)
		}
		if refused.of("timeout") != 1 || w.Header().Get("ETag") != "" {
			t.Errorf("refused %v, headers %v", refused.by, w.Header())
		}

		// The context that a handler has before it makes the request a stream is that of the stream.
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began = time.Now()
		h = ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			before := context.WithValue(r.Context(), valueKey{}, 1)
			time.Sleep(o.Timeout - 1)
			streaming(func(http.ResponseWriter, *http.Request) { <-before.Done() })(w, r)
		}))
		ask(h, "GET", "/v1/bitcoin/events", func(r *http.Request) { *r = *r.WithContext(ctx) })
		if took := time.Since(began); took != time.Minute {
			t.Errorf("a stream ended after %s", took)
		}
	})
}

// The context of a request, and those derived from it, end with the reason: the time limit, the end of the connection, or
// the end of the answer. A stream cannot begin after the time limit.
func TestContextsEndWithTheReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := ratelimit.Defaults()
		o.Timeout = 3 * time.Second
		var all []context.Context
		derive := func(r *http.Request) {
			value := context.WithValue(r.Context(), valueKey{}, 1)
			child, cancel := context.WithCancel(value)
			t.Cleanup(cancel)
			late, cancel := context.WithTimeout(child, time.Hour)
			t.Cleanup(cancel)
			all = []context.Context{r.Context(), value, child, late}
		}
		ended := func(want error) {
			t.Helper()
			for i, ctx := range all {
				<-ctx.Done()
				if ctx.Err() != want || context.Cause(ctx) != want {
					t.Errorf("context %d: %v because of %v, expected %v", i, ctx.Err(), context.Cause(ctx), want)
				}
			}
		}
		waits := ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			derive(r)
			<-all[len(all)-1].Done()
			streaming(func(w http.ResponseWriter, r *http.Request) { problem.Write(w, problem.Of(all[len(all)-1].Err())) })(w, r)
		}))
		isProblem(t, ask(waits, "GET", "/"), 503, "timeout")
		ended(context.DeadlineExceeded)
		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		ask(waits, "GET", "/", func(r *http.Request) { *r = *r.WithContext(gone) })
		ended(context.Canceled)
		ask(ratelimit.New(o, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { derive(r) })), "GET", "/")
		ended(context.Canceled)
	})
}

func TestPanicIsAResponseAndALogLine(t *testing.T) {
	var log bytes.Buffer
	o := ratelimit.Defaults()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{x}", func(w http.ResponseWriter, r *http.Request) { panic("at the disco") })
	mux.HandleFunc("GET /late", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "so far")
		panic("late")
	})
	h := ratelimit.New(o, mux)
	if detail := isProblem(t, ask(h, "GET", "/v1/secret?key=secret"), 500, "internal"); strings.Contains(detail, "disco") {
		t.Errorf("the client received %q", detail)
	}
	if text := log.String(); !strings.Contains(text, "at the disco") || !strings.Contains(text, "GET /v1/{x}") || !strings.Contains(text, "handler_test.go") ||
		strings.Contains(text, "secret") {
		t.Errorf("log: %s", text)
	}
	func() {
		defer func() {
			if fault := recover(); fault != http.ErrAbortHandler {
				t.Errorf("a panic after the first byte: %v, expected the end of the connection", fault)
			}
		}()
		ask(h, "GET", "/late")
	}()
}

func TestRequestsAreLogged(t *testing.T) {
	var log bytes.Buffer
	o := ratelimit.Defaults()
	level := new(slog.LevelVar)
	o.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: level}))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{chain}/tx/{hash}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "12345") })
	mux.HandleFunc("GET /fails", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(502) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })
	h := ratelimit.New(o, mux)
	ask(h, "GET", "/v1/bitcoin/tx/00")
	ask(h, "GET", "/readyz")
	if log.Len() > 0 {
		t.Errorf("at level info: %s", &log)
	}
	for range 100 {
		ask(h, "GET", "/fails")
	}
	if n := strings.Count(log.String(), `"status":502`); n == 0 || n > 50 {
		t.Errorf("%d of 100 answers that failed are logged", n)
	}
	log.Reset()
	level.Set(slog.LevelDebug)
	ask(h, "GET", "/v1/bitcoin/tx/00?secret", header("X-API-Key", "secret"), from("192.0.2.1:7"))
	var line struct {
		Method, Route, Client string
		Status                int
		Bytes, Took           int64
	}
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line.Method != "GET" || line.Route != "GET /v1/{chain}/tx/{hash}" || line.Client != "192.0.2.1" || line.Status != 200 || line.Bytes != 5 ||
		line.Took <= 0 || strings.Contains(log.String(), "secret") {
		t.Errorf("%s", &log)
	}
}

func TestHeadersForBrowsers(t *testing.T) {
	h := ratelimit.New(ratelimit.Defaults(), echo)
	for _, w := range []*httptest.ResponseRecorder{ask(h, "GET", "/"), ask(h, "PUT", "/")} {
		if csp := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'self';") {
			t.Errorf("Content-Security-Policy %q", csp)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Referrer-Policy") == "" {
			t.Errorf("headers %v", w.Header())
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Error("other origins are allowed without the setting")
		}
	}
}

// With the origin "*", every page can read the answers of the APIs, errors and preflights without a key included, but no
// other path. Answers are the same for all origins.
func TestEveryOriginCanReadTheAPIs(t *testing.T) {
	o := ratelimit.Defaults()
	o.Log, o.Origins, o.APIs = slog.New(slog.DiscardHandler), []string{"*"}, []string{"/v1", "/kupo"}
	o.Writes = func(path string) bool { return path == "/kupo/matches" }
	var err error
	if o.Keys, err = auth.OpenKeys(keyFile(t, "alice:"+aliceKey+"\n"), o.Log); err != nil {
		t.Fatal(err)
	}
	h := ratelimit.New(o, echo)
	for _, origin := range []string{"", "https://wallet.example", "null"} {
		for path, api := range map[string]bool{"/v1/bitcoin": true, "/kupo/matches": true, "/bitcoin": false, "/v10": false, "/metrics": false} {
			for _, key := range []string{"", aliceKey} {
				w := ask(h, "GET", path, header("Origin", origin), header("X-API-Key", key))
				want := ""
				if api {
					want = "*"
				}
				if got := w.Header().Get("Access-Control-Allow-Origin"); got != want || (w.Code == 401) != (key == "") ||
					strings.Contains(w.Header().Get("Access-Control-Expose-Headers"), "X-Tip") != api {
					t.Errorf("%s from %q with the key %q: %d, %v", path, origin, key, w.Code, w.Header())
				}
				if w.Header().Get("Access-Control-Allow-Credentials") != "" || strings.Contains(w.Header().Get("Vary"), "Origin") {
					t.Errorf("%s: %v", path, w.Header())
				}
			}
			w := ask(h, "OPTIONS", path, header("Origin", "https://wallet.example"), header("Access-Control-Request-Method", "POST"),
				header("Access-Control-Request-Headers", "x-api-key"))
			if api != (w.Code == 204) || strings.Contains(w.Header().Get("Access-Control-Allow-Methods"), "DELETE") != (path == "/kupo/matches") {
				t.Errorf("preflight of %s: %d %v", path, w.Code, w.Header())
			}
		}
	}
}

func TestAllowedOrigins(t *testing.T) {
	o := ratelimit.Defaults()
	o.Origins = []string{"https://wallet.example"}
	h := ratelimit.New(o, echo)
	w := ask(h, "GET", "/v1", header("Origin", "https://wallet.example"))
	if w.Header().Get("Access-Control-Allow-Origin") != "https://wallet.example" || !strings.Contains(w.Header().Get("Access-Control-Expose-Headers"), "X-Tip") {
		t.Errorf("headers %v", w.Header())
	}
	if w := ask(h, "GET", "/v1", header("Origin", "https://evil.example")); w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("CORS headers for an origin that is not allowed: %v", w.Header())
	}
	w = ask(h, "OPTIONS", "/v1/bitcoin/outputs", header("Origin", "https://wallet.example"), header("Access-Control-Request-Method", "POST"),
		header("Access-Control-Request-Headers", "authorization,content-type"))
	if w.Code != 204 || w.Header().Get("Access-Control-Allow-Methods") != "POST" || w.Body.Len() > 0 {
		t.Errorf("preflight: %d %v", w.Code, w.Header())
	}
	isProblem(t, ask(h, "PUT", "/v1", header("Origin", "https://wallet.example")), 405, "method_not_allowed")
}
