package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"birthmark/internal/daemon"
)

// faultLog stores the lines of a log that report faults, and discards the others.
type faultLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *faultLog) Write(b []byte) (int, error) {
	text := string(b)
	if strings.Contains(text, "level=ERROR") || strings.Contains(text, "level=WARN") || strings.Contains(text, "panic") {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, text)
	}
	return len(b), nil
}

func (l *faultLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.lines, "")
}

// target is a server in this process, so that the test can detect leaks.
type target struct {
	daemon.Address
	log    *faultLog
	stop   func()
	client *http.Client // a client without faults
}

// serveHere serves the first blocks of the real chain in this process, with additional flags.
func serveHere(t *testing.T, more ...string) *target {
	t.Helper()
	db := filepath.Join(t.TempDir(), "db")
	syncTo(t, db, "file://"+realBlocks(t), "--to-height", "1000", "--wal=off")
	return serveDatabase(t, db, more...)
}

// serveDatabase serves a database in this process.
func serveDatabase(t *testing.T, db string, more ...string) *target {
	t.Helper()
	before := runtime.NumGoroutine()
	out, in := io.Pipe()
	s := &target{log: &faultLog{}, client: &http.Client{Transport: &http.Transport{}, Timeout: patience}}
	ctx, cancel := context.WithCancel(context.Background())
	status := make(chan int, 1)
	args := append([]string{"birthmark", "serve", "--json", "--db", db, "--listen", "127.0.0.1:0", "--log-level", "debug"}, more...)
	go func() {
		status <- run(ctx, args, strings.NewReader(""), in, s.log)
		in.Close()
	}()
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s.Address)
	}
	if err != nil {
		t.Fatalf("%v: %s; log: %s", err, line, s.log)
	}
	s.stop = sync.OnceFunc(func() {
		s.client.CloseIdleConnections()
		cancel()
		select {
		case n := <-status:
			if n != exitDone {
				t.Errorf("the server ended with status %d: %s", n, s.log)
			}
		case <-time.After(patience):
			t.Error("the server does not stop")
			return
		}
		goroutinesFall(t, "the server ended", before)
		if text := s.log.String(); text != "" {
			t.Errorf("the server logged %.4000s", text)
		}
	})
	t.Cleanup(s.stop)
	return s
}

// goroutinesFall waits until the number of goroutines is at most the given one.
func goroutinesFall(t *testing.T, after string, most int) {
	t.Helper()
	for end := time.Now().Add(patience); runtime.NumGoroutine() > most; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("after %s: %d goroutines, expected %d\n%s", after, runtime.NumGoroutine(), most, stacks[:runtime.Stack(stacks, true)])
		}
	}
}

// serves sends requests of a normal client, which must succeed.
func (s *target) serves(t *testing.T, while string) {
	t.Helper()
	for i, path := range []string{"v1/bitcoin/block/170", "v1/bitcoin/find/address/" + satoshi, "bitcoin/block/170", "readyz"} {
		client := s.client
		if i%2 == 1 { // a client without a connection
			client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
		}
		resp, err := client.Get(s.URL + path)
		if err != nil {
			t.Fatalf("while %s: %v", while, err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("while %s: %s: status %d, %v: %.300s", while, path, resp.StatusCode, err, body)
		}
	}
}

// attack opens connections and runs a goroutine for each until the test ends.
type attack struct {
	t    *testing.T
	addr string
	mu   sync.Mutex
	open []net.Conn
	all  sync.WaitGroup
}

func (a *attack) dial() net.Conn {
	a.t.Helper()
	conn, err := net.Dial("tcp", a.addr)
	if err != nil {
		a.t.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open = append(a.open, conn)
	return conn
}

// end closes the connections and waits for the goroutines that use them.
func (a *attack) end() {
	for _, conn := range a.open {
		conn.Close()
	}
	a.all.Wait()
}

// drip sends text repeatedly, in small pieces, until the server closes the connection.
func (a *attack) drip(conn net.Conn, text string) {
	a.all.Go(func() {
		for i := 0; ; i = (i + 1) % len(text) {
			if _, err := io.WriteString(conn, text[i:i+1]); err != nil {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
}

// Clients that are slow in any way, 50% more than the server has connections, do not block others.
func TestSlowClientsDoNotBlockOthers(t *testing.T) {
	slow(t)
	const connections, attackers = 32, 48
	s := serveHere(t, "--config", writeConfig(t, fmt.Sprintf("max_connections: %d\nrequest_timeout: 5s\n", connections)))
	s.serves(t, "nobody else asks")
	before := runtime.NumGoroutine()
	for _, c := range []struct {
		name, begin, drip string
	}{
		{"they send nothing", "", ""},
		{"headers trickle", "GET /v1/bitcoin/status HTTP/1.1\r\nHost: localhost\r\n", "X-A: b\r\n"},
		{"bodies trickle", "POST /v1/bitcoin/txs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n", " "},
		{"chunks trickle", "POST /v1/bitcoin/txs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"},
		{"answers are requested and not read", strings.Repeat("GET /v1/bitcoin/blocks?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n", 50), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := &attack{t: t, addr: s.Listen}
			defer a.end()
			for range attackers {
				conn := a.dial()
				if _, err := io.WriteString(conn, c.begin); err != nil && len(a.open) < connections/2 {
					t.Fatal(err)
				}
				if c.drip != "" {
					a.drip(conn, c.drip)
				}
			}
			for range 3 {
				s.serves(t, c.name)
			}
		})
	}
	s.client.CloseIdleConnections()
	goroutinesFall(t, "the attacks", before)
}

func TestIdleConnectionsDoNotBlockOthers(t *testing.T) {
	slow(t)
	const connections = 5000
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if limit.Max < 2*connections+1000 {
		t.Skipf("the process may open %d files, %d connections of both ends need more", limit.Max, connections)
	}
	limit.Cur = limit.Max
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	s := serveHere(t)
	s.serves(t, "nobody else asks")
	before := runtime.NumGoroutine()
	a := &attack{t: t, addr: s.Listen}
	defer a.end()
	for i := range connections {
		conn := a.dial()
		if i%2 == 0 { // the others have not sent a request yet
			fmt.Fprintf(conn, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}
		if i%500 == 0 {
			s.serves(t, fmt.Sprintf("%d connections are idle", i))
		}
	}
	for range 5 {
		s.serves(t, "all connections are idle")
	}
	a.end()
	s.client.CloseIdleConnections()
	goroutinesFall(t, "the connections were closed", before)
}

// endless is a body without an end.
type endless struct{ sent atomic.Int64 }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	e.sent.Add(int64(len(b)))
	return len(b), nil
}

// If a body is too large, the server reads no more than the limit and the network buffers, whatever its declared
// length.
func TestHugeBodiesAreNotRead(t *testing.T) {
	s := serveHere(t, "--config", writeConfig(t, "request_timeout: 1m\n")) // for slow machines
	s.serves(t, "nobody else asks")
	before := runtime.NumGoroutine()
	for _, path := range []string{"v1/bitcoin/txs", "v1/bitcoin/block/170", "bitcoin/block/170", "nowhere", "healthz"} {
		for _, length := range []int64{1 << 40, -1} {
			body := &endless{}
			r, err := http.NewRequest("POST", s.URL+path, body)
			if err != nil {
				t.Fatal(err)
			}
			r.ContentLength = length
			r.Header.Set("Content-Type", "application/json")
			resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}).Do(r)
			if err == nil { // an error means that the server closed the connection first
				if resp.StatusCode < 400 || resp.StatusCode > 499 {
					t.Errorf("POST %s with %d bytes: %d", path, length, resp.StatusCode)
				}
				resp.Body.Close()
			}
			if n := body.sent.Load(); n > 64<<20 {
				t.Errorf("POST %s: %d bytes were read", path, n)
			}
			s.serves(t, "bodies are huge")
		}
	}
	// Bytes after the declared length are parsed as the next request, which is invalid.
	conn, err := net.Dial("tcp", s.Listen)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "POST /v1/bitcoin/txs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[]"+strings.Repeat("x", 1000)+"\r\n\r\n")
	for answers, want := bufio.NewReader(conn), []int{400, 400}; len(want) > 0; want = want[1:] {
		resp, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != want[0] {
			t.Errorf("%d, expected %d; %v", resp.StatusCode, want[0], err)
		}
	}
	s.client.CloseIdleConnections()
	goroutinesFall(t, "the bodies", before)
}

// writeConfig writes a settings file.
func writeConfig(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "birthmark.yaml")
	write(t, path, text)
	return path
}

// heapInUse returns the size of the heap after a garbage collection.
func heapInUse() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
