package ratelimit_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/core/meter"
	"birthmark/internal/testseed"
)

// left returns the units that a client has left, from the headers of an answer.
func left(t *testing.T, h http.Header) int {
	t.Helper()
	_, after, _ := strings.Cut(h.Get("RateLimit"), "r=")
	text, _, _ := strings.Cut(after, ";")
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("header %q: %v", h.Get("RateLimit"), err)
	}
	return n
}

// spending is a handler that does work in steps until it has spent a number of points, from some goroutines.
func spending(points int64, goroutines int, step func() int64) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		m := meter.Of(r.Context())
		var all sync.WaitGroup
		errs := make(chan error, goroutines)
		for range goroutines {
			all.Go(func() {
				for rest := points / int64(goroutines); rest > 0; {
					n := min(rest, step())
					if err := m.Spend(n); err != nil {
						errs <- err
						return
					}
					rest -= n
				}
			})
		}
		all.Wait()
		close(errs)
		if err := <-errs; err != nil {
			problem.Write(w, problem.Of(err))
			return
		}
		echo(w, r)
	}
}

// Each begun unit of work takes one from the client's rate, in whatever steps and from however many goroutines.
func TestWorkIsPaidWhileItIsDone(t *testing.T) {
	rng := testseed.Rand(t)
	for range 50 {
		const burst = 1000
		o := ratelimit.Defaults()
		o.Rate = ratelimit.Rate{PerSecond: 1e-9, Burst: burst}
		points := 2 * rng.Int64N(20*meter.Unit)
		largest := 1 + rng.Int64N(3*meter.Unit)
		var mu sync.Mutex
		step := func() int64 {
			mu.Lock()
			defer mu.Unlock()
			return 1 + rng.Int64N(largest)
		}
		w := ask(ratelimit.New(o, spending(points, 2, step)), "GET", "/", from("192.0.2.1:1"))
		want := max(1, (points+meter.Unit-1)/meter.Unit)
		if got := int64(burst - left(t, w.Header())); w.Code != 200 || got != want {
			t.Errorf("%d points: %d, paid %d units, expected %d", points, w.Code, got, want)
		}
	}
}

// A request can use the burst of its client in advance, and no more.
func TestRequestsAreOnCreditUpToTheBurst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var refused counted
		o := ratelimit.Defaults()
		o.Rate, o.Rejected = ratelimit.Rate{PerSecond: 2, Burst: 10}, refused.add
		request := func(units int64) *httptest.ResponseRecorder {
			step := func() int64 { return meter.Unit / 7 }
			return ask(ratelimit.New(o, spending(units*meter.Unit, 1, step)), "GET", "/", from("192.0.2.1:1"))
		}
		if w := request(20); w.Code != 200 || left(t, w.Header()) != 0 {
			t.Errorf("the tokens and as much in advance: %d %v", w.Code, w.Header())
		}
		w := request(22)
		isProblem(t, w, 429, "too_many_requests")
		// 10 that were used in advance and 1 for the next request, at 2 per second
		if h := w.Header(); h.Get("Retry-After") != "6" || refused.of("too_many_requests") != 1 {
			t.Errorf("headers %v, %v", h, refused.by)
		}

		h := ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n, err := strconv.ParseInt(r.URL.Path[1:], 10, 64)
			if err != nil {
				t.Error(err)
			}
			spending(n*meter.Unit, 1, func() int64 { return meter.Unit / 3 })(w, r)
		}))
		if w := ask(h, "GET", "/15", from("192.0.2.1:1")); w.Code != 200 {
			t.Errorf("a request of 15 units: %d", w.Code)
		}
		isProblem(t, ask(h, "GET", "/1", from("192.0.2.1:1")), 429, "too_many_requests")
		time.Sleep(3 * time.Second) // the client has 1
		if w := ask(h, "GET", "/1", from("192.0.2.1:1")); w.Code != 200 {
			t.Errorf("after it was paid: %d", w.Code)
		}
	})
}

// A stream waits for its rate. While it waits, for its rate or for its client, it occupies no share of the expensive work.
func TestStreamsWaitForTheirRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := ratelimit.Defaults()
		o.Rate, o.Expensive, o.Wait, o.Timeout = ratelimit.Rate{PerSecond: 1, Burst: 5}, 2, 0, 10*time.Second
		h := ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/stream" {
				if err := ratelimit.Stream(w); err != nil {
					t.Error(err)
				}
			}
			spending(30*meter.Unit, 1, func() int64 { return meter.Unit })(w, r)
		}))
		began := time.Now()
		var all sync.WaitGroup
		for _, remote := range []string{"192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1"} {
			all.Go(func() {
				if w := ask(h, "GET", "/stream", from(remote)); w.Code != 200 {
					t.Errorf("%s: %d %s", remote, w.Code, w.Body)
				}
			})
		}
		all.Wait()
		if took := time.Since(began); took < 20*time.Second || took > 21*time.Second {
			t.Errorf("30 units at 1 per second, 5 saved and 5 in advance: %s", took)
		}
	})
}

// An answer that the client cannot pay for is cut after its beginning, so that the client does not take it for complete.
func TestBytesAreCounted(t *testing.T) {
	o := ratelimit.Defaults()
	o.Rate = ratelimit.Rate{PerSecond: 1e-9, Burst: 4}
	part := make([]byte, 64*meter.Unit) // a unit
	server := httptest.NewServer(ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for range 100 {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	})))
	defer server.Close()
	r, err := http.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	n := 0
	for buf := make([]byte, 64<<10); err == nil; {
		var m int
		m, err = r.Body.Read(buf)
		n += m
	}
	// 4 units, and 4 in advance
	if errors.Is(err, context.Canceled) || err.Error() == "EOF" || n != 8*len(part) {
		t.Errorf("%d bytes, expected %d; %v", n, 8*len(part), err)
	}
}

// Held bytes have one budget, and return to it when the request ends, in whatever way.
func TestHeldBytesReturn(t *testing.T) {
	rng := testseed.Rand(t)
	o := ratelimit.Defaults()
	o.Memory = meter.NewBudget(1000)
	h := ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := meter.Of(r.Context())
		ends := 0
		m.AtEnd(func() { ends++ })
		if err := errors.Join(m.Hold(600), m.Hold(300), m.Hold(-200)); err != nil || o.Memory.Used() != 700 {
			t.Errorf("%d of 1000 held: %v", o.Memory.Used(), err)
		}
		switch r.URL.Path {
		case "/panic":
			panic("injected")
		case "/more":
			err := m.Hold(301)
			if o.Memory.Used() != 700 {
				t.Errorf("a refused hold left %d", o.Memory.Used())
			}
			problem.Write(w, problem.Of(err))
		case "/message":
			ctx, end, err := ratelimit.Message(r.Context(), w)
			if err != nil || meter.Of(ctx) == m {
				t.Errorf("a message has no meter of its own: %v", err)
			}
			if err := meter.Of(ctx).Hold(300); err != nil || o.Memory.Used() != 1000 {
				t.Errorf("%d held: %v", o.Memory.Used(), err)
			}
			if end(); o.Memory.Used() != 700 {
				t.Errorf("%d held after the message", o.Memory.Used())
			}
		}
		if ends != 0 {
			t.Error("the request has not ended")
		}
		m.AtEnd(func() {
			if ends != 1 {
				t.Errorf("%d calls at the end", ends)
			}
		})
	}))
	for range 20 {
		path := []string{"/", "/panic", "/more", "/message"}[rng.IntN(4)]
		w := ask(h, "GET", path)
		if path == "/more" {
			isProblem(t, w, 400, "answer_too_large")
		}
		if n := o.Memory.Used(); n != 0 {
			t.Fatalf("%s: %d bytes are held after the request", path, n)
		}
	}
}

// A client that does not read occupies no share of the expensive work.
func TestWaitingForAClientOccupiesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := ratelimit.Defaults()
		o.Expensive = 2
		h := ratelimit.New(o, costs(4, echo))
		var all sync.WaitGroup
		read := make(chan struct{})
		for range 10 {
			all.Go(func() {
				h.ServeHTTP(&unread{httptest.NewRecorder(), read}, httptest.NewRequest("GET", "/", nil))
			})
		}
		synctest.Wait()
		if w := ask(h, "GET", "/"); w.Code != 200 {
			t.Errorf("while 10 clients do not read: %d %s", w.Code, w.Body)
		}
		close(read)
		all.Wait()
	})
}

// unread is the writer of a client that does not read yet.
type unread struct {
	*httptest.ResponseRecorder
	read chan struct{}
}

func (w *unread) Write(b []byte) (int, error) {
	<-w.read
	return w.ResponseRecorder.Write(b)
}

// Plain requests that are not short wait for each other, so that short ones do not wait for them. A long one gives its
// place to them before it waits for that of long ones.
func TestMediumRequestsWaitForAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := ratelimit.Defaults()
		o.Medium, o.Expensive, o.Wait = 2, 1, time.Hour
		end := map[string]chan struct{}{"/medium": make(chan struct{}), "/long": make(chan struct{})}
		running := map[string]*atomic.Int64{"/short": {}, "/medium": {}, "/long": {}}
		h := ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			path := r.URL.Path
			for _, points := range map[string][]int64{"/short": {900}, "/medium": {1100}, "/long": {1100, 2 * meter.Unit}}[path] {
				if err := meter.Of(r.Context()).Spend(points); err != nil {
					problem.Write(w, problem.Of(err))
					return
				}
			}
			running[path].Add(1)
			if wait := end[path]; wait != nil {
				<-wait
			}
			running[path].Add(-1)
		}))
		var all sync.WaitGroup
		start := func(path string, n int) {
			for i := range n {
				all.Go(func() {
					if w := ask(h, "GET", path, from(fmt.Sprintf("192.0.2.%d:1", i+1))); w.Code != 200 {
						t.Errorf("%s: %d %s", path, w.Code, w.Body)
					}
				})
			}
			synctest.Wait()
		}
		start("/long", 3)
		start("/medium", 5)
		if long, medium := running["/long"].Load(), running["/medium"].Load(); long != 1 || medium != 2 {
			t.Errorf("%d long and %d medium requests run, expected 1 and 2", long, medium)
		}
		if w := ask(h, "GET", "/short", from("192.0.2.9:1")); w.Code != 200 {
			t.Errorf("a short request meanwhile: %d", w.Code)
		}
		close(end["/medium"])
		close(end["/long"])
		all.Wait()
		start("/medium", 5)
		all.Wait()
	})
}
