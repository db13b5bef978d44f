package cli

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"birthmark/internal/testblocks"
	"birthmark/internal/testseed"
)

// fuzzing is a client that sends malformed requests over consecutive connections.
type fuzzing struct {
	t    *testing.T
	addr string
	conn net.Conn
	read *bufio.Reader
	seen map[int]int // number of responses by status
}

// ofHTTP are the statuses above 499 with which net/http rejects requests.
var ofHTTP = []int{http.StatusNotImplemented, http.StatusHTTPVersionNotSupported}

// ask sends one request and checks its answer.
func (f *fuzzing) ask(text, method string) {
	if f.conn == nil {
		conn, err := net.Dial("tcp", f.addr)
		if err != nil {
			f.t.Error(err)
			return
		}
		f.conn, f.read = conn, bufio.NewReader(conn)
	}
	f.conn.SetDeadline(time.Now().Add(patience))
	_, sent := io.WriteString(f.conn, text)
	resp, err := http.ReadResponse(f.read, &http.Request{Method: method})
	if err != nil {
		// A server that rejects a body may close the connection before the whole body is sent. The response can then be
		// lost.
		if sent == nil && !errors.Is(err, syscall.ECONNRESET) {
			f.t.Errorf("%.300q: no answer: %v", text, err)
		}
		f.hangUp()
		return
	}
	f.seen[resp.StatusCode]++
	own := resp.Header.Get("X-Content-Type-Options") != ""
	if resp.StatusCode > 499 && (own || !slices.Contains(ofHTTP, resp.StatusCode)) {
		body, _ := io.ReadAll(io.LimitReader(resp.Body, 500))
		f.t.Errorf("%.500q: %d %s", text, resp.StatusCode, body)
	}
	if own && resp.StatusCode > 399 && strings.Contains(text, " /v1/") && method != "HEAD" && !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/problem+json") {
		f.t.Errorf("%.300q: %d as %s, expected a problem", text, resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") { // a stream has no end
		f.hangUp()
		return
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.Close {
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			f.t.Errorf("%.300q: the response is truncated: %v", text, err)
		}
		f.hangUp()
	}
}

func (f *fuzzing) hangUp() {
	if f.conn != nil {
		f.conn.Close()
		f.conn = nil
	}
}

// 10,000 malformed requests: each has a response without a server error, and none leaks memory or goroutines.
func TestMalformedRequestsAreClientErrors(t *testing.T) {
	slow(t)
	for _, c := range []struct {
		chain    string
		requests int
		sync     func(t *testing.T) []string
	}{
		{"bitcoin", 10_000, func(t *testing.T) []string {
			return []string{"--source", "file://" + realBlocks(t), "--to-height", "1000"}
		}},
		{"cardano", 2000, func(t *testing.T) []string {
			return []string{"--network", "preview", "--source", "file://" + testblocks.Path(t, "cardano", "dingo-immutable"), "--to-height", "20000"}
		}},
		{"ergo", 2000, func(t *testing.T) []string {
			return []string{"--source", "file://" + testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz")}
		}},
	} {
		t.Run(c.chain, func(t *testing.T) {
			db := filepath.Join(t.TempDir(), "db")
			ask(t, nil, append([]string{"sync", "--chain", c.chain, "--db", db}, c.sync(t)...)...)
			malformed(t, serveDatabase(t, db), c.requests)
		})
	}
}

func malformed(t *testing.T, s *target, requests int) {
	const clients = 4
	rng := testseed.Rand(t)
	m := learn(t, s)
	seen := map[int]int{}
	fuzz := func(n int) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for range clients {
			m := *m
			m.Rand = rand.New(rand.NewPCG(rng.Uint64(), 0))
			all.Go(func() {
				f := &fuzzing{t: t, addr: s.Listen, seen: map[int]int{}}
				defer f.hangUp()
				for range n / clients {
					if t.Failed() {
						return
					}
					f.ask(m.request())
				}
				mu.Lock()
				defer mu.Unlock()
				for status, n := range f.seen {
					seen[status] += n
				}
			})
		}
		all.Wait()
	}
	fuzz(1000) // fills caches and pools first
	s.client.CloseIdleConnections()
	time.Sleep(100 * time.Millisecond)
	goroutines, before := runtime.NumGoroutine(), heapInUse()
	fuzz(requests)
	t.Logf("answers by status: %v", seen)
	for _, status := range []int{200, 400, 404, 405} {
		if seen[status] == 0 {
			t.Errorf("no response has the status %d: the requests do not cover enough", status)
		}
	}
	goroutinesFall(t, "the requests", goroutines)
	if after := heapInUse(); after > before+16<<20 {
		t.Errorf("%d bytes of the heap are in use, %d before", after, before)
	}
	if resp, err := s.client.Get(s.URL + "v1/" + m.chain + "/block/tip"); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %v %v", resp, err)
	} else {
		resp.Body.Close()
	}
}

// Bytes that are not HTTP.
func TestGarbageDoesNotHarmTheServer(t *testing.T) {
	slow(t)
	rng := testseed.Rand(t)
	s := serveHere(t)
	s.serves(t, "nobody else asks")
	before := runtime.NumGoroutine()
	for i := range 300 {
		b := make([]byte, rng.IntN(5000))
		for j := range b {
			b[j] = byte(rng.IntN(256))
		}
		switch i % 6 {
		case 0:
			b = append([]byte("GET / HTTP/1.1\r\nHost: localhost\r\n"), b...)
		case 1:
			b = append([]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), b...) // as TLS begins
		case 2:
			b = append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), b...)
		case 3:
			b = append([]byte("POST /v1/bitcoin/txs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"), b...)
		case 4:
			b = append([]byte("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"), b...)
		}
		conn, err := net.Dial("tcp", s.Listen)
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(patience))
		_, _ = conn.Write(b) // the server may close the connection earlier
		_ = conn.(*net.TCPConn).CloseWrite()
		answer, err := io.ReadAll(conn)
		conn.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%.60q: no response, and the connection is open", b)
		}
		if resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil); err == nil && resp.StatusCode > 499 && !slices.Contains(ofHTTP, resp.StatusCode) {
			t.Errorf("%.60q: %d", b, resp.StatusCode)
		}
		if i%50 == 0 {
			s.serves(t, "others send garbage")
		}
	}
	s.client.CloseIdleConnections()
	goroutinesFall(t, "the garbage", before)
}
