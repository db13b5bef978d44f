package netserver_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"birthmark/api/netserver"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/internal/testrun"
)

// running is a server started by [serve].
type running struct {
	addr string
	stop func()
	err  chan error
}

// serve starts a server on a free port.
func serve(t *testing.T, o netserver.Options, h http.Handler) *running {
	t.Helper()
	if o.Listener == nil {
		l, err := netserver.Listen("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		o.Listener = l
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := &running{addr: o.Listener.Addr().String(), stop: cancel, err: make(chan error, 1)}
	go func() { s.err <- netserver.Serve(ctx, o, h) }()
	t.Cleanup(func() {
		cancel()
		if err := s.ended(t); err != nil {
			t.Error(err)
		}
	})
	return s
}

// ended waits until the server has stopped, and returns its error.
func (s *running) ended(t *testing.T) error {
	t.Helper()
	select {
	case err := <-s.err:
		s.err <- err
		return err
	case <-time.After(testrun.Patience):
		t.Fatal("the server does not end")
		return nil
	}
}

// client returns a client whose connections are closed when the test ends.
func client(t *testing.T) *http.Client {
	c := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// get sends a request and returns the body. The status must be 200.
func get(t *testing.T, c *http.Client, url string) string {
	t.Helper()
	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%s: %d %s %v", url, resp.StatusCode, body, err)
	}
	return string(body)
}

// settled waits until at most before goroutines are running.
func settled(t *testing.T, before int) {
	t.Helper()
	for end := time.Now().Add(testrun.Patience); ; time.Sleep(10 * time.Millisecond) {
		now := runtime.NumGoroutine()
		if now <= before {
			return
		}
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", now, before, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

func quick() netserver.Options {
	o := netserver.Defaults()
	o.Grace = 300 * time.Millisecond
	return o
}

func TestShutdownFinishesResponses(t *testing.T) {
	before := runtime.NumGoroutine()
	begun, end := make(chan struct{}), make(chan struct{})
	o := netserver.Defaults()
	s := serve(t, o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-end
		io.WriteString(w, "finished")
	}))
	answer := make(chan string)
	c := client(t)
	go func() { answer <- get(t, c, "http://"+s.addr+"/") }()
	<-begun
	s.stop()
	for { // until new connections are refused
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			break
		}
		conn.Close()
	}
	close(end)
	if got := <-answer; got != "finished" {
		t.Errorf("%q", got)
	}
	if err := s.ended(t); err != nil {
		t.Error(err)
	}
	c.CloseIdleConnections()
	settled(t, before)
}

func TestShutdownCancelsAfterTheGracePeriod(t *testing.T) {
	before := runtime.NumGoroutine()
	begun := make(chan struct{})
	s := serve(t, quick(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		close(begun)
		<-r.Context().Done()
		io.WriteString(w, "last words")
	}))
	c := client(t)
	resp, err := c.Get("http://" + s.addr + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-begun
	s.stop()
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != "last words" {
		t.Errorf("%q %v", body, err)
	}
	if err := s.ended(t); err != nil {
		t.Error(err)
	}
	c.CloseIdleConnections()
	settled(t, before)
}

// Idle connections are closed before connections with a request.
func TestIdleConnectionsDoNotDelayShutdown(t *testing.T) {
	o := netserver.Defaults()
	o.Grace = 4 * time.Second // net/http itself waits five for a new connection
	begun, end := make(chan struct{}), make(chan struct{})
	s := serve(t, o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		<-end
		if err := r.Context().Err(); err != nil {
			t.Errorf("the request was canceled: %v", err)
		}
	}))
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answered := make(chan string)
	c := client(t)
	go func() { answered <- get(t, c, "http://"+s.addr+"/") }()
	<-begun
	s.stop()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("the idle connection received data")
	}
	close(end)
	<-answered
}

// If other clients need the connection, a client with a slow body keeps it for at most a second.
func TestConnectionWithAStalledBodyIsEvicted(t *testing.T) {
	var refused counted
	o := quick()
	o.Connections, o.Rejected = 3, refused.add
	l := ratelimit.Defaults()
	l.Stall = time.Minute
	begun := make(chan struct{})
	s := serve(t, o, ratelimit.New(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > 0 {
			begun <- struct{}{}
		}
		echo(w, r)
	})))
	for range o.Connections {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
		<-begun
	}
	if got := get(t, client(t), "http://"+s.addr+"/y"); got != "GET /y 0" {
		t.Error(got)
	}
	if refused.of("evicted") != 1 || refused.of("connection_limit") != 0 {
		t.Errorf("%v", refused.by)
	}
}

func TestStalledBodyTimesOut(t *testing.T) {
	l := ratelimit.Defaults()
	l.Stall = 100 * time.Millisecond
	came := make(chan error, 1)
	s := serve(t, quick(), ratelimit.New(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		came <- err
	})))
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
	if err := <-came; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("reading the body: %v, expected a timeout", err)
	}
}

// The time limit of a body does not limit the time of the response.
func TestTimeoutOfTheBodyDoesNotEndTheRequest(t *testing.T) {
	l := ratelimit.Defaults()
	l.Stall, l.Timeout = 100*time.Millisecond, time.Minute
	s := serve(t, quick(), ratelimit.New(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
			t.Error("the request was canceled at the time limit of its body")
		case <-time.After(3 * l.Stall):
		}
	})))
	resp, err := client(t).Post("http://"+s.addr+"/", "text/plain", strings.NewReader("all of it"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
}

// A client that does not read the response is disconnected.
func TestClientThatDoesNotReadIsDropped(t *testing.T) {
	l := ratelimit.Defaults()
	l.Stall, l.Timeout = 100*time.Millisecond, 100*time.Millisecond
	came := make(chan error, 1)
	s := serve(t, quick(), ratelimit.New(l, streaming(func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				came <- err
				return
			}
		}
	})))
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET /v1/bitcoin/events HTTP/1.1\r\nHost: x\r\n\r\n")
	if err := <-came; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("writing the response: %v, expected a timeout", err)
	}
}

// serveTLS serves a handler over TLS, with a certificate of the pool.
func serveTLS(t *testing.T, h http.Handler) (s *running, pool *x509.CertPool) {
	t.Helper()
	cert, key, pool := certificate(t, "any")
	o := quick()
	o.Cert, o.Key = filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	if err := errors.Join(os.WriteFile(o.Cert, cert, 0o600), os.WriteFile(o.Key, key, 0o600)); err != nil {
		t.Fatal(err)
	}
	return serve(t, o, h), pool
}

// A client that reads the headers of an answer over HTTP/2, and not its body, has its stream ended.
func TestStreamOverHTTP2ThatIsNotReadIsEnded(t *testing.T) {
	l := ratelimit.Defaults()
	l.Stall, l.Timeout = 100*time.Millisecond, 100*time.Millisecond
	came := make(chan error, 1)
	s, pool := serveTLS(t, ratelimit.New(l, streaming(func(w http.ResponseWriter, r *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 1<<20)); err != nil {
				came <- err
				return
			}
		}
	})))
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}}
	defer c.CloseIdleConnections()
	a, err := c.Get("https://" + s.addr + "/v1/bitcoin/events")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if <-came; a.ProtoMajor != 2 {
		t.Errorf("the answer came over %s", a.Proto)
	}
}

// A stream may pause for longer than the write timeout, over HTTP/1.1 and HTTP/2.
func TestStreamsMayPause(t *testing.T) {
	l := ratelimit.Defaults()
	l.Stall, l.Timeout = 100*time.Millisecond, 100*time.Millisecond
	h := ratelimit.New(l, streaming(func(w http.ResponseWriter, r *http.Request) {
		for i := range 3 {
			fmt.Fprintf(w, "%s %d\n", r.Proto, i)
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			time.Sleep(3 * l.Stall)
		}
	}))
	s, pool := serveTLS(t, h)
	for proto, two := range map[string]bool{"HTTP/1.1": false, "HTTP/2.0": true} {
		c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: two}, Timeout: time.Minute}
		defer c.CloseIdleConnections()
		if got, want := get(t, c, "https://"+s.addr+"/v1/bitcoin/events"), fmt.Sprintf("%[1]s 0\n%[1]s 1\n%[1]s 2\n", proto); got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// Headers are limited by net/http, before the handler is called.
func TestHeadersAreBounded(t *testing.T) {
	s := serve(t, quick(), ratelimit.New(ratelimit.Defaults(), echo))
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	go func() {
		io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n")
		for {
			if _, err := io.WriteString(conn, "X-Long: "+strings.Repeat("x", 1000)+"\r\n"); err != nil {
				return
			}
		}
	}()
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("%d", resp.StatusCode)
	}
}

// echo is a handler that returns the method, the path and the size of the body.
var echo = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		problem.Write(w, problem.Of(err))
		return
	}
	fmt.Fprintf(w, "%s %s %d", r.Method, r.URL.Path, len(body))
})

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
