package events_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/api/events"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
)

// small returns a served chain of twelve blocks.
func small(t testing.TB) *world {
	v := modeltest.Variants()[0]
	w := worldOf(t, v)
	w.grow(v.NewGenerator(testseed.Of(t, 870)).Blocks(12)...)
	return w
}

// The server sends the delay of reconnects first, and comments while there are no events.
func TestHeartbeats(t *testing.T) {
	s := small(t).serve(events.Options{Heartbeat: time.Millisecond, Retry: 1500 * time.Millisecond})
	c := connect(t, s.URL, "", "")
	defer c.close()
	var lines []string
	for range 12 {
		line, err := c.lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	if lines[0] != "retry: 1500" || lines[1] != "" || lines[2] != "event: tip" || lines[5] != "" || lines[6] != ":" || lines[7] != "" || lines[8] != ":" {
		t.Errorf("%q", lines)
	}
}

// When the server stops, every stream ends with a comment, and no goroutine is left.
func TestShutdownEndsAllStreams(t *testing.T) {
	w := small(t)
	before := runtime.NumGoroutine()
	done := make(chan struct{})
	var now atomic.Int64
	h := events.Handler(w.served(), events.Options{Done: done, Subscribed: counts(&now)})
	s := httptest.NewServer(h)
	var streams []*stream
	for i := range 20 {
		query := []string{"", "from=origin", "follow=address", "follow=tag=t01&spends=true&from=3"}[i%4]
		streams = append(streams, connect(t, s.URL, query, ""))
	}
	until(t, "clients", func() bool { return now.Load() == 20 })
	close(done)
	for _, c := range streams {
		rest, err := io.ReadAll(c.lines)
		if err != nil || !strings.HasSuffix(string(rest), ": the server is shutting down\n\n") {
			t.Errorf("the stream ends with %.100q, %v", rest[max(0, len(rest)-100):], err)
		}
		c.close()
	}
	r, _ := http.NewRequest("GET", s.URL, nil)
	isProblem(t, r, 503, "shutting_down", "the server is shutting down")
	if n := now.Load(); n != 0 {
		t.Errorf("%d clients are left", n)
	}
	s.Close()
	http.DefaultClient.CloseIdleConnections()
	until(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

func counts(now *atomic.Int64) func(string) func() {
	return func(string) func() {
		now.Add(1)
		return func() { now.Add(-1) }
	}
}

// A request beyond the maximum of subscribers is rejected. It is accepted after another client disconnects.
func TestMaximumOfSubscribers(t *testing.T) {
	s := small(t).serve(events.Options{Subscribers: 2, Retry: 7 * time.Second})
	one, two := connect(t, s.URL, "", ""), connect(t, s.URL, "from=origin", "")
	defer two.close()
	r, _ := http.NewRequest("GET", s.URL, nil)
	isProblem(t, r, 503, "too_many_subscribers", "2 clients subscribe to test")
	a, err := http.DefaultClient.Do(r)
	if err != nil || a.Header.Get("Retry-After") != "7" {
		t.Errorf("%v, %v", a.Header, err)
	}
	a.Body.Close()
	one.close()
	until(t, "room", func() bool {
		a, err := http.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		return a.StatusCode == http.StatusOK
	})
}

// narrow is a listener whose connections have small write buffers.
type narrow struct{ net.Listener }

func (l narrow) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err == nil {
		err = c.(*net.TCPConn).SetWriteBuffer(2048)
	}
	return c, err
}

// A client that does not read is disconnected. Another client receives all events meanwhile.
func TestClientThatDoesNotReadIsDropped(t *testing.T) {
	v := modeltest.Variant{Name: "empty blocks", ByHand: true}
	w := worldOf(t, v)
	n := 20_000
	for i := 0; i < n; i += 1000 {
		w.grow(byHand(i, i+1000)...)
	}
	var now atomic.Int64
	s := httptest.NewUnstartedServer(events.Handler(w.served(), events.Options{WriteTimeout: 200 * time.Millisecond, Subscribed: counts(&now)}))
	s.Listener = narrow{s.Listener}
	s.Start()
	defer s.Close()
	idle, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	if err := idle.(*net.TCPConn).SetReadBuffer(2048); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(idle, "GET /?from=origin HTTP/1.1\r\nHost: x\r\n\r\n")
	until(t, "the client", func() bool { return now.Load() == 1 })
	reads, wallet := connect(t, s.URL, "from=origin", ""), newWallet()
	var reading sync.WaitGroup
	reading.Go(func() { follow(wallet, reads) })
	wallet.arrives(t, w)
	until(t, "the client that takes nothing to be dropped", func() bool { return now.Load() == 1 })
	if wallet.blocks != n || wallet.back != 1 {
		t.Errorf("received %d blocks and %d rollbacks, expected %d and 1", wallet.blocks, wallet.back, n)
	}
	reads.close()
	reading.Wait()
	until(t, "the other to leave", func() bool { return now.Load() == 0 })
	if _, err := bufio.NewReader(idle).ReadString('\x00'); err == nil {
		t.Error("the dropped connection did not end with an error")
	}
}

// measured records the size of the largest write.
type measured struct {
	http.ResponseWriter
	most *atomic.Int64
}

func (m measured) Write(b []byte) (int, error) {
	m.most.Store(max(m.most.Load(), int64(len(b))))
	return m.ResponseWriter.Write(b)
}

func (m measured) Unwrap() http.ResponseWriter { return m.ResponseWriter }

// The server writes at most a batch and an event at once, even if a client has to receive many more.
func TestWriteBufferOfAClientIsBounded(t *testing.T) {
	defer events.SetBatchSize(3000)()
	v := modeltest.Variants()[3]
	w := worldOf(t, v)
	w.grow(v.NewGenerator(testseed.Of(t, 890)).Blocks(60)...)
	h := events.Handler(w.served(), events.Options{})
	var most atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, r *http.Request) { h.ServeHTTP(measured{a, &most}, r) }))
	defer s.Close()
	c := connect(t, s.URL, "from=origin&follow=address&follow=label&spends=true", "")
	defer c.close()
	whole, largest := 0, 0
	for tip := "tip " + w.now().Tip().Hash.String(); ; {
		e, err := c.next()
		if err != nil {
			t.Fatal(err)
		}
		size := len(e.name) + len(e.data) + len(e.id) + 30
		whole, largest = whole+size, max(largest, size)
		if e.name == "tip" && strings.Contains(e.data, strings.TrimPrefix(tip, "tip ")) {
			break
		}
	}
	// The first two writes are combined, and an id is added.
	if held := int(most.Load()); held > 3000+2*largest+500 || whole < 3*held {
		t.Errorf("%d bytes were written at once of %d; the largest event has %d", held, whole, largest)
	}
}

// The server's read and write timeouts do not end streams, over HTTP/1.1 and HTTP/2.
func TestServerTimeoutsDoNotEndStreams(t *testing.T) {
	w := small(t)
	v := modeltest.Variants()[0]
	more := v.NewGenerator(testseed.Of(t, 870)).Blocks(40)[12:]
	for _, two := range []bool{false, true} {
		s := httptest.NewUnstartedServer(events.Handler(w.served(), events.Options{Heartbeat: 10 * time.Millisecond}))
		s.Config.ReadTimeout, s.Config.WriteTimeout = 200*time.Millisecond, 200*time.Millisecond
		s.EnableHTTP2 = two
		s.StartTLS()
		var a *http.Response
		until(t, "a TLS handshake within the timeouts", func() bool {
			var err error
			a, err = s.Client().Get(s.URL)
			return err == nil
		})
		if two != (a.ProtoMajor == 2) {
			t.Errorf("the protocol is %s", a.Proto)
		}
		c := &stream{bufio.NewReader(a.Body), a.Body, func() {}}
		for range 30 { // heartbeats
			if _, err := c.lines.ReadString('\n'); err != nil {
				t.Fatalf("%s: %v", a.Proto, err)
			}
		}
		w.grow(more[0])
		if e, err := c.next(); err != nil || e.name != "tip" || !strings.Contains(e.data, more[0].Hash.String()) {
			t.Errorf("%s: %+v, %v", a.Proto, e, err)
		}
		more = more[1:]
		c.close()
		s.Close()
	}
}

// Errors are logged and not sent to clients.
func TestErrorOfTheDatabaseEndsTheStream(t *testing.T) {
	w := small(t)
	chain := w.served()
	broken := atomic.Bool{}
	view := chain.View
	chain.View = func(ctx context.Context, fn func(*query.View) error) error {
		if broken.Load() {
			return errors.New("/secret/path: disk is gone")
		}
		return view(ctx, fn)
	}
	var mu sync.Mutex
	var log strings.Builder
	s := httptest.NewServer(events.Handler(chain, events.Options{Log: slog.New(slog.NewTextHandler(locked{&mu, &log}, nil))}))
	defer s.Close()
	c := connect(t, s.URL, "follow=address", "")
	defer c.close()
	if _, err := c.next(); err != nil {
		t.Fatal(err)
	}
	broken.Store(true)
	v := modeltest.Variants()[0]
	w.grow(v.NewGenerator(testseed.Of(t, 870)).Blocks(13)[12])
	rest, err := io.ReadAll(c.lines)
	if err != nil || string(rest) != ": internal error\n\n" {
		t.Errorf("the stream ends with %q, %v", rest, err)
	}
	r, _ := http.NewRequest("GET", s.URL, nil)
	isProblem(t, r, 500, "internal", "internal error")
	mu.Lock()
	defer mu.Unlock()
	if got := log.String(); strings.Count(got, "disk is gone") != 2 || !strings.Contains(got, `msg="events failed" chain=test`) || !strings.Contains(got, `msg="cannot start events"`) {
		t.Errorf("the log is %s", got)
	}
}

type locked struct {
	mu *sync.Mutex
	w  io.Writer
}

func (l locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}
