package ratelimit_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/api/ratelimit"
)

func host(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }

// A server on a loopback address rejects requests with other host names: the protection against DNS rebinding.
func TestOtherHostsAreRefusedOnThisMachine(t *testing.T) {
	var refused counted
	o := ratelimit.Defaults()
	o.CheckHost, o.Hosts, o.Rejected = true, []string{"explorer.example.org"}, refused.add
	o.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}
	h := ratelimit.New(o, echo)
	for _, name := range []string{
		"127.0.0.1:8080", "127.0.0.1", "[::1]:8080", "[::1]", "192.0.2.1:80", "localhost", "LocalHost:8080", "localhost.",
		"a.localhost:1", "explorer.example.org", "Explorer.Example.Org:8080", "",
	} {
		if w := ask(h, "GET", "/v1", host(name)); w.Code != 200 {
			t.Errorf("host %q: %d %s", name, w.Code, w.Body)
		}
	}
	for _, name := range []string{
		"evil.example", "evil.example:8080", "127.0.0.1.evil.example", "localhost.evil.example", "notlocalhost", "1.2.3",
		"x.explorer.example.org",
	} {
		for _, path := range []string{"/v1", "/healthz"} {
			isProblem(t, ask(h, "GET", path, host(name)), 421, "wrong_host")
		}
	}
	if refused.of("wrong_host") != 14 {
		t.Errorf("%v", refused.by)
	}
	if w := ask(h, "GET", "/v1", host("any.example"), from("10.0.0.1:1")); w.Code != 200 {
		t.Errorf("from a proxy: %d", w.Code)
	}
	if w := ask(ratelimit.New(ratelimit.Defaults(), echo), "GET", "/v1", host("evil.example")); w.Code != 200 {
		t.Errorf("a server on a public address: %d", w.Code)
	}
}

// Status 503 is logged once in ten seconds with the number of skipped lines; other errors are logged separately.
func TestAnswersOf503DoNotFillTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		o := ratelimit.Defaults()
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		mux := http.NewServeMux()
		mux.HandleFunc("/busy", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(503) })
		mux.HandleFunc("/broken", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) })
		h := ratelimit.New(o, mux)
		for range 2 {
			for range 100 {
				ask(h, "GET", "/busy")
			}
			ask(h, "GET", "/broken")
			time.Sleep(10 * time.Second)
		}
		text := log.String()
		busy, broken := strings.Count(text, "status=503"), strings.Count(text, "status=500")
		if busy != 2 || broken != 2 || !strings.Contains(text, "left_out=99") {
			t.Errorf("%d lines of 503 and %d of 500:\n%s", busy, broken, text)
		}
	})
}
