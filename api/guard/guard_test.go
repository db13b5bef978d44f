package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/api/guard"
	"birthmark/api/problem"
)

// says is a handler that answers with what came to it.
var says = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		problem.Write(w, problem.Of(err))
		return
	}
	fmt.Fprintf(w, "%s %s %d", r.Method, r.URL.Path, len(body))
})

// ask sends a request that h answers; each of change makes it another one.
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

// isProblem says whether w is a problem of this status and code, and returns its detail.
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

func TestOnlyRequestsThatReadPass(t *testing.T) {
	h := guard.New(guard.Defaults(), says)
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
	o := guard.Defaults()
	o.URI, o.Body = 100, 1000
	h := guard.New(o, says)
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

func TestAnAnswerThatTakesTooLongSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused counted
		o := guard.Defaults()
		o.Timeout, o.Refused = 3*time.Second, refused.add
		h := guard.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			<-r.Context().Done()
			w.Header().Set("ETag", "x")
			problem.Write(w, problem.Of(fmt.Errorf("scan: %w", r.Context().Err())))
		}))
		began := time.Now()
		w := ask(h, "GET", "/v1/bitcoin/balance/address/x")
		if took := time.Since(began); took != o.Timeout {
			t.Errorf("took %s", took)
		}
		if detail := isProblem(t, w, 503, "too_slow"); !strings.Contains(detail, "3s") {
			t.Errorf("%q does not name the limit", detail)
		}
		if refused.of("too_slow") != 1 || w.Header().Get("ETag") != "" {
			t.Errorf("refused %v, headers %v", refused.by, w.Header())
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began = time.Now()
		ask(h, "GET", "/v1/bitcoin/events", func(r *http.Request) { *r = *r.WithContext(ctx) })
		if took := time.Since(began); took != time.Minute {
			t.Errorf("a stream was ended after %s", took)
		}
	})
}

func TestAClientHasItsRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := guard.Defaults()
		o.Rate = guard.Rate{PerSecond: 2, Burst: 5}
		h := guard.New(o, says)
		for i := range 5 {
			w := ask(h, "GET", "/", from("192.0.2.1:100"))
			if w.Code != 200 || w.Header().Get("RateLimit-Policy") != `"client";q=5;w=3` {
				t.Fatalf("request %d: %d %v", i, w.Code, w.Header())
			}
		}
		w := ask(h, "GET", "/", from("192.0.2.1:200"))
		isProblem(t, w, 429, "too_many_requests")
		if h := w.Header(); h.Get("Retry-After") != "1" || h.Get("RateLimit") != `"client";r=0;t=3` {
			t.Errorf("headers %v", h)
		}
		if w := ask(h, "GET", "/", from("192.0.2.2:100")); w.Code != 200 {
			t.Errorf("another client: %d", w.Code)
		}
		for _, path := range []string{"/healthz", "/readyz"} {
			if w := ask(h, "GET", path, from("192.0.2.1:100")); w.Code != 200 {
				t.Errorf("%s: %d", path, w.Code)
			}
		}
		time.Sleep(time.Second)
		for range 2 {
			if w := ask(h, "GET", "/", from("192.0.2.1:100")); w.Code != 200 {
				t.Errorf("a second later: %d", w.Code)
			}
		}
		isProblem(t, ask(h, "GET", "/", from("192.0.2.1:100")), 429, "too_many_requests")
		time.Sleep(2 * time.Second)
		if w := ask(h, "GET", "/v1/bitcoin/richest/address", from("192.0.2.1:100")); w.Code != 200 {
			t.Errorf("the richest, which count as four: %d", w.Code)
		}
		isProblem(t, ask(h, "GET", "/", from("192.0.2.1:100")), 429, "too_many_requests")
	})
}

func TestWhoAClientIs(t *testing.T) {
	for _, c := range []struct {
		name, a, b string
		same       bool
		forwarded  [2]string
	}{
		{"two ports", "192.0.2.1:1", "192.0.2.1:2", true, [2]string{}},
		{"two addresses", "192.0.2.1:1", "192.0.2.2:1", false, [2]string{}},
		{"one /64", "[2001:db8::1]:1", "[2001:db8::ffff:1]:1", true, [2]string{}},
		{"two /64", "[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false, [2]string{}},
		{"IPv4 within IPv6", "192.0.2.1:1", "[::ffff:192.0.2.1]:1", true, [2]string{}},
		{"a header of nobody we trust", "192.0.2.1:1", "192.0.2.1:1", true, [2]string{"198.51.100.1", "198.51.100.2"}},
		{"two clients of a proxy", "10.0.0.1:1", "10.0.0.1:1", false, [2]string{"198.51.100.1", "198.51.100.2"}},
		{"two clients of a socket", "@", "@", false, [2]string{"198.51.100.1", "198.51.100.2"}},
		{"one client of two proxies", "10.0.0.1:1", "10.0.0.2:1", true, [2]string{"198.51.100.1", "198.51.100.1"}},
		{"what a client says of itself", "10.0.0.1:1", "10.0.0.1:1", true, [2]string{"1.1.1.1, 198.51.100.1", "2.2.2.2, 198.51.100.1"}},
		{"behind two proxies", "10.0.0.1:1", "10.0.0.1:1", true, [2]string{"198.51.100.1, 10.0.0.2", "198.51.100.1"}},
		{"garbage", "10.0.0.1:1", "10.0.0.1:1", true, [2]string{"unknown", "198.51.100.1, _hidden"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := guard.Defaults()
			o.Rate, o.Proxies = guard.Rate{PerSecond: 0.001, Burst: 1}, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
			h := guard.New(o, says)
			var codes [2]int
			for i, remote := range []string{c.a, c.b} {
				change := []func(*http.Request){from(remote)}
				if f := c.forwarded[i]; f != "" {
					change = append(change, header("X-Forwarded-For", f))
				}
				codes[i] = ask(h, "GET", "/", change...).Code
			}
			if codes[0] != 200 || (codes[1] == 429) != c.same {
				t.Errorf("%v; one client: %v", codes, c.same)
			}
		})
	}
}

func TestClientsAreForgotten(t *testing.T) {
	o := guard.Defaults()
	o.Rate, o.Clients = guard.Rate{PerSecond: 1, Burst: 2}, 1000
	h := guard.New(o, says)
	for i := range 20_000 {
		if w := ask(h, "GET", "/", from(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256))); w.Code != 200 {
			t.Fatalf("client %d: %d", i, w.Code)
		}
	}
	if n := guard.Remembered(h); n == 0 || n > o.Clients {
		t.Errorf("%d clients are remembered, at most %d were to be", n, o.Clients)
	}
}

func TestExpensiveRequestsWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused counted
		o := guard.Defaults()
		o.Expensive, o.Wait, o.Refused = 8, 2*time.Second, refused.add
		end := make(chan struct{})
		h := guard.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "richest") {
				<-end
			}
		}))
		var running sync.WaitGroup
		for _, remote := range []string{"192.0.2.1:1", "192.0.2.2:1"} {
			running.Go(func() {
				if w := ask(h, "GET", "/v1/bitcoin/richest/address", from(remote)); w.Code != 200 {
					t.Errorf("%s: %d", remote, w.Code)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		isProblem(t, ask(h, "GET", "/v1/bitcoin/richest/address", from("192.0.2.1:2")), 429, "too_busy")
		if took := time.Since(began); took != o.Wait {
			t.Errorf("a client waits %s for itself", took)
		}
		began = time.Now()
		w := ask(h, "GET", "/v1/bitcoin/richest/address", from("192.0.2.3:1"))
		if detail := isProblem(t, w, 503, "too_busy"); time.Since(began) != o.Wait || !strings.Contains(detail, "limit, after") {
			t.Errorf("after %s: %s", time.Since(began), detail)
		}
		if w := ask(h, "GET", "/v1/bitcoin/block/tip", from("192.0.2.1:2")); w.Code != 200 {
			t.Errorf("a plain request meanwhile: %d", w.Code)
		}
		close(end)
		running.Wait()
		if w := ask(h, "GET", "/v1/bitcoin/richest/address", from("192.0.2.1:1")); w.Code != 200 || refused.of("too_busy") != 2 {
			t.Errorf("afterwards: %d, refused %v", w.Code, refused.by)
		}
	})
}

func TestCosts(t *testing.T) {
	for _, c := range []struct {
		method, target, accept string
		cost                   int64
	}{
		{"GET", "/", "", 1},
		{"GET", "/bitcoin/tx/00", "", 1},
		{"GET", "/bitcoin/richest/address?limit=100", "", 4},
		{"GET", "/v1/bitcoin/tx/00", "", 1},
		{"GET", "/v1/bitcoin/find/address/x?limit=100&order=desc", "", 1},
		{"GET", "/v1/bitcoin/find/address/x?limit=1000", "", 5},
		{"GET", "/v1/bitcoin/find/address/x?and=a%3D1&or=b%3D2&%6frx=1", "", 3},
		{"GET", "/v1/bitcoin/find/address/x?%61nd=a", "", 2},
		{"GET", "/v1/bitcoin/find/address/x?" + strings.Repeat("or=a&", 100), "", 16},
		{"GET", "/v1/bitcoin/find/address/x?limit=99999999999999999999&limit=4294967295", "", 16},
		{"GET", "/v1/bitcoin/richest/address", "", 4},
		{"GET", "/v1/bitcoin/assets", "application/x-ndjson", 9},
		{"GET", "/v1/bitcoin/assets", "application/json, Application/X-NDJSON;q=1", 9},
		{"GET", "/v1/bitcoin/assets", "application/json", 1},
		{"GET", "/v1/bitcoin/events", "text/event-stream", 1},
		{"POST", "/v1/bitcoin/outputs", "", 2},
	} {
		r := httptest.NewRequest(c.method, c.target, nil)
		if c.accept != "" {
			r.Header.Set("Accept", c.accept)
		}
		if cost := guard.Cost(r); cost != c.cost {
			t.Errorf("%s %s: %d, expected %d", c.method, c.target, cost, c.cost)
		}
	}
}

func TestAPanicIsAnAnswerAndALine(t *testing.T) {
	var log bytes.Buffer
	o := guard.Defaults()
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{x}", func(w http.ResponseWriter, r *http.Request) { panic("at the disco") })
	mux.HandleFunc("GET /late", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "so far")
		panic("late")
	})
	h := guard.New(o, mux)
	if detail := isProblem(t, ask(h, "GET", "/v1/secret?key=secret"), 500, "internal"); strings.Contains(detail, "disco") {
		t.Errorf("%q is told to the client", detail)
	}
	if text := log.String(); !strings.Contains(text, "at the disco") || !strings.Contains(text, "GET /v1/{x}") || !strings.Contains(text, "guard_test.go") ||
		strings.Contains(text, "secret") {
		t.Errorf("log: %s", text)
	}
	func() {
		defer func() {
			if fault := recover(); fault != http.ErrAbortHandler {
				t.Errorf("an answer that was begun ends with %v, expected that the connection ends", fault)
			}
		}()
		ask(h, "GET", "/late")
	}()
}

func TestRequestsAreLogged(t *testing.T) {
	var log bytes.Buffer
	o := guard.Defaults()
	level := new(slog.LevelVar)
	o.Log = slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: level}))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{chain}/tx/{hash}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "12345") })
	mux.HandleFunc("GET /fails", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(502) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })
	h := guard.New(o, mux)
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
	h := guard.New(guard.Defaults(), says)
	for _, w := range []*httptest.ResponseRecorder{ask(h, "GET", "/"), ask(h, "PUT", "/")} {
		if csp := w.Header().Get("Content-Security-Policy"); !strings.HasPrefix(csp, "default-src 'self';") {
			t.Errorf("Content-Security-Policy %q", csp)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Referrer-Policy") == "" {
			t.Errorf("headers %v", w.Header())
		}
		if w.Header().Get("Access-Control-Allow-Origin") != "" {
			t.Error("other origins' pages may ask, though no setting says so")
		}
	}
}

func TestOtherOriginsMayAskWhereSet(t *testing.T) {
	o := guard.Defaults()
	o.Origins = []string{"https://wallet.example"}
	h := guard.New(o, says)
	w := ask(h, "GET", "/v1", header("Origin", "https://wallet.example"))
	if w.Header().Get("Access-Control-Allow-Origin") != "https://wallet.example" || !strings.Contains(w.Header().Get("Access-Control-Expose-Headers"), "X-Tip") {
		t.Errorf("headers %v", w.Header())
	}
	if w := ask(h, "GET", "/v1", header("Origin", "https://evil.example")); w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("headers for another origin %v", w.Header())
	}
	w = ask(h, "OPTIONS", "/v1/bitcoin/outputs", header("Origin", "https://wallet.example"), header("Access-Control-Request-Method", "POST"),
		header("Access-Control-Request-Headers", "authorization,content-type"))
	if w.Code != 204 || w.Header().Get("Access-Control-Allow-Methods") != "POST" || w.Body.Len() > 0 {
		t.Errorf("what is asked first: %d %v", w.Code, w.Header())
	}
	isProblem(t, ask(h, "PUT", "/v1", header("Origin", "https://wallet.example")), 405, "method_not_allowed")
}

const (
	aliceKey = "correct-horse-battery"
	bobKey   = "staple-of-the-world-1"
)

func keyFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func bearer(key string) func(*http.Request) { return header("Authorization", "Bearer "+key) }

func TestWhoShowsAKeyIsAnswered(t *testing.T) {
	// printf staple-of-the-world-1 | sha256sum
	path := keyFile(t, "# people\nalice:"+aliceKey+"\n\nbob:sha256:"+guard.Digest(bobKey)+" rate=1 burst=2\n")
	keys, err := guard.OpenKeys(path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	o := guard.Defaults()
	o.Keys = keys
	h := guard.New(o, says)
	for name, shown := range map[string]func(*http.Request){
		"Bearer": bearer(aliceKey), "X-API-Key": header("X-API-Key", aliceKey), "bearer": header("Authorization", "bearer "+aliceKey),
		"Basic": func(r *http.Request) { r.SetBasicAuth("any", aliceKey) },
	} {
		if w := ask(h, "GET", "/v1", shown); w.Code != 200 {
			t.Errorf("%s: %d", name, w.Code)
		}
	}
	for name, shown := range map[string]func(*http.Request){
		"none": func(*http.Request) {}, "wrong": bearer(aliceKey + "x"), "its digest": bearer(guard.Digest(bobKey)), "empty": header("X-API-Key", ""),
		"of another kind": header("Authorization", "Digest "+aliceKey), "half": header("Authorization", "Bearer"),
	} {
		w := ask(h, "GET", "/v1", shown)
		isProblem(t, w, 401, "unauthorized")
		if len(w.Header()["Www-Authenticate"]) != 2 {
			t.Errorf("%s: headers %v", name, w.Header())
		}
	}
	if w := ask(h, "GET", "/healthz"); w.Code != 200 {
		t.Errorf("/healthz without a key: %d", w.Code)
	}
	codes := []int{}
	for range 3 {
		codes = append(codes, ask(h, "GET", "/v1", bearer(bobKey)).Code)
	}
	if fmt.Sprint(codes) != "[200 200 429]" {
		t.Errorf("a key with a rate of its own: %v", codes)
	}
	o.Anonymous = true
	h = guard.New(o, says)
	if w := ask(h, "GET", "/v1"); w.Code != 200 {
		t.Errorf("without a key, where that is allowed: %d", w.Code)
	}
	isProblem(t, ask(h, "GET", "/v1", bearer("wrong")), 401, "unauthorized")
}

func TestKeysAreReadAgainWhenTheyChange(t *testing.T) {
	path := keyFile(t, "alice:"+aliceKey+"\n")
	var log bytes.Buffer
	keys, err := guard.OpenKeys(path, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	o := guard.Defaults()
	o.Keys = keys
	h := guard.New(o, says)
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		keys.LookNow()
	}
	write("bob:" + bobKey + "\n")
	if a, b := ask(h, "GET", "/", bearer(aliceKey)).Code, ask(h, "GET", "/", bearer(bobKey)).Code; a != 401 || b != 200 {
		t.Errorf("after a change the old key gives %d, the new one %d", a, b)
	}
	write("bob\n")
	if b := ask(h, "GET", "/", bearer(bobKey)).Code; b != 200 || !strings.Contains(log.String(), "keys:1: expected NAME:KEY") {
		t.Errorf("after a change that is wrong: %d, log %s", b, &log)
	}
	if strings.Contains(log.String(), bobKey) || strings.Contains(log.String(), aliceKey) {
		t.Errorf("a key is logged: %s", &log)
	}
}

func TestWrongKeysAreRefused(t *testing.T) {
	for text, fault := range map[string]string{
		"":                                  "holds none, expected lines NAME:KEY",
		"alice":                             ":1: expected NAME:KEY",
		":" + aliceKey:                      ":1: expected NAME:KEY",
		"# x\nalice:short":                  ":2: a key has at least 16 characters",
		"a:" + aliceKey + " rate=x":         ":1: rate: expected requests in a second, as in rate=50",
		"a:" + aliceKey + " rate=NaN":       ":1: rate: expected requests in a second, as in rate=50",
		"a:" + aliceKey + " burst=3":        ":1: burst without rate",
		"a:" + aliceKey + " speed=3":        `:1: unknown word "speed" behind the key, expected rate=N or burst=N`,
		"a:sha256:00":                       ":1: expected 64 digits of hex after sha256:",
		"a:" + aliceKey + "\na:" + bobKey:   ":2: the name a stands before",
		"a:" + aliceKey + "\nb:" + aliceKey: ":2: the key of b is that of another name",
	} {
		path := keyFile(t, text)
		_, err := guard.OpenKeys(path, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), path+fault) && !strings.Contains(err.Error(), path+" "+fault) {
			t.Errorf("%q: %v, expected %s", text, err, fault)
		} else if strings.Contains(err.Error(), aliceKey) {
			t.Errorf("%v shows a key", err)
		}
	}
	if _, err := guard.OpenKeys(filepath.Join(t.TempDir(), "none"), slog.New(slog.DiscardHandler)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
}
