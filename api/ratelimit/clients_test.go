package ratelimit_test

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/api/ratelimit"
)

func TestRateLimitPerClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := ratelimit.Defaults()
		o.Rate = ratelimit.Rate{PerSecond: 2, Burst: 5}
		h := ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "richest") {
				costs(4, echo)(w, r)
			} else {
				echo(w, r)
			}
		}))
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
			t.Errorf("a request of cost 4: %d", w.Code)
		}
		isProblem(t, ask(h, "GET", "/", from("192.0.2.1:100")), 429, "too_many_requests")
	})
}

func TestIdentityOfAClient(t *testing.T) {
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
		{"a header from an untrusted proxy", "192.0.2.1:1", "192.0.2.1:1", true, [2]string{"198.51.100.1", "198.51.100.2"}},
		{"two clients of a proxy", "10.0.0.1:1", "10.0.0.1:1", false, [2]string{"198.51.100.1", "198.51.100.2"}},
		{"two clients of a socket", "@", "@", false, [2]string{"198.51.100.1", "198.51.100.2"}},
		{"one client of two proxies", "10.0.0.1:1", "10.0.0.2:1", true, [2]string{"198.51.100.1", "198.51.100.1"}},
		{"forged by the client", "10.0.0.1:1", "10.0.0.1:1", true, [2]string{"1.1.1.1, 198.51.100.1", "2.2.2.2, 198.51.100.1"}},
		{"behind two proxies", "10.0.0.1:1", "10.0.0.1:1", true, [2]string{"198.51.100.1, 10.0.0.2", "198.51.100.1"}},
		{"garbage", "10.0.0.1:1", "10.0.0.1:1", true, [2]string{"unknown", "198.51.100.1, _hidden"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := ratelimit.Defaults()
			o.Rate, o.Proxies = ratelimit.Rate{PerSecond: 0.001, Burst: 1}, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
			h := ratelimit.New(o, echo)
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

func TestNumberOfTrackedClientsIsBounded(t *testing.T) {
	o := ratelimit.Defaults()
	o.Rate, o.Clients = ratelimit.Rate{PerSecond: 1, Burst: 2}, 1000
	h := ratelimit.New(o, echo)
	for i := range 20_000 {
		if w := ask(h, "GET", "/", from(fmt.Sprintf("10.0.%d.%d:1", i/256, i%256))); w.Code != 200 {
			t.Fatalf("client %d: %d", i, w.Code)
		}
	}
	if n := ratelimit.Tracked(h); n == 0 || n > o.Clients {
		t.Errorf("%d clients are tracked, the limit is %d", n, o.Clients)
	}
}

func TestExpensiveRequestsQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused counted
		o := ratelimit.Defaults()
		o.Expensive, o.Wait, o.Rejected = 2, 2*time.Second, refused.add
		end := make(chan struct{})
		h := ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.URL.Path, "richest") {
				costs(4, func(http.ResponseWriter, *http.Request) { <-end })(w, r)
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
		isProblem(t, ask(h, "GET", "/v1/bitcoin/richest/address", from("192.0.2.1:2")), 429, "overloaded")
		if took := time.Since(began); took != o.Wait {
			t.Errorf("a client at its own limit waited %s", took)
		}
		began = time.Now()
		w := ask(h, "GET", "/v1/bitcoin/richest/address", from("192.0.2.3:1"))
		if detail := isProblem(t, w, 503, "overloaded"); time.Since(began) != o.Wait || !strings.Contains(detail, "limit, after") {
			t.Errorf("waited %s: %s", time.Since(began), detail)
		}
		if w := ask(h, "GET", "/v1/bitcoin/block/tip", from("192.0.2.1:2")); w.Code != 200 {
			t.Errorf("a cheap request at the same time: %d", w.Code)
		}
		gone, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ask(h, "GET", "/v1/bitcoin/richest/address", from("192.0.2.4:1"), func(r *http.Request) { *r = *r.WithContext(gone) })
		if refused.of("overloaded") != 2 {
			t.Errorf("a client that disconnected while waiting counts as rejected: %v", refused.by)
		}
		close(end)
		running.Wait()
		if w := ask(h, "GET", "/v1/bitcoin/richest/address", from("192.0.2.1:1")); w.Code != 200 || refused.of("overloaded") != 2 {
			t.Errorf("afterwards: %d, rejected %v", w.Code, refused.by)
		}
	})
}

func TestNumberOfStreamsIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := ratelimit.Defaults()
		o.Streams, o.StreamsEach = 5, 2
		end := make(chan struct{})
		h := ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "/events") {
				streaming(func(http.ResponseWriter, *http.Request) { <-end })(w, r)
			}
		}))
		const events = "/v1/bitcoin/events"
		var all sync.WaitGroup
		for _, remote := range []string{"192.0.2.1:1", "192.0.2.1:2", "127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"} {
			all.Go(func() {
				if w := ask(h, "GET", events, from(remote)); w.Code != 200 {
					t.Errorf("%s: %d", remote, w.Code)
				}
			})
		}
		synctest.Wait()
		isProblem(t, ask(h, "GET", events, from("192.0.2.1:3")), 429, "too_many_streams")
		isProblem(t, ask(h, "GET", events, from("192.0.2.2:1")), 503, "too_many_streams")
		if w := ask(h, "GET", "/v1/bitcoin/block/tip", from("192.0.2.1:3")); w.Code != 200 {
			t.Errorf("a request that is not a stream: %d", w.Code)
		}
		close(end)
		all.Wait()
		if w := ask(h, "GET", events, from("192.0.2.1:3")); w.Code != 200 {
			t.Errorf("after the other streams ended: %d", w.Code)
		}
	})
}
