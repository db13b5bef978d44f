package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// mangler makes requests that are wrong in some way, and now and then one that is not.
type mangler struct {
	*rand.Rand
	paths, words, cursors []string
}

// words stand where names and values do.
var words = []string{
	"bitcoin", "ergo", "tip", "170", "0", "-1", "4294967296", "99999999999999999999", "address", "script_hash", "none", "true", "asc", "desc", "null", "{}",
	"f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16", "f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16:0",
	"f4184fc5:99999999999", satoshi, "..", ".", "", "%", "%zz", "%00", "%2f", "%2e%2e%2f", "%ff%fe", "%C0%AF", "\u00e9", "\U0001f642", "address=" + satoshi,
	"address=", "=", "&", ";", "+", "a b", "<script>", "' OR 1=1", "${jndi:x}", "\\", "\"", "*", "?", "#", "//", "1e9", "0x10", "NaN", "١٢٣",
}

// paths are one of each kind there is.
var paths = []string{
	"/", "/search", "/bitcoin", "/bitcoin/blocks", "/bitcoin/block/170", "/bitcoin/tx/" + words[12], "/bitcoin/output/" + words[13], "/bitcoin/address/" + satoshi,
	"/bitcoin/index/address/" + satoshi, "/bitcoin/values/address", "/bitcoin/richest/address", "/bitcoin/asset/00", "/bitcoin/assets", "/bitcoin/forks", "/bitcoin/status",
	"/bitcoin/search", "/static/style.css", "/v1", "/v1/bitcoin/status", "/v1/bitcoin/block/170", "/v1/bitcoin/blocks", "/v1/bitcoin/tx/" + words[12],
	"/v1/bitcoin/tx/" + words[12] + "/raw", "/v1/bitcoin/output/" + words[13], "/v1/bitcoin/find/address/" + satoshi, "/v1/bitcoin/history/address/" + satoshi,
	"/v1/bitcoin/balance/address/" + satoshi, "/v1/bitcoin/richest/address", "/v1/bitcoin/values/address", "/v1/bitcoin/assets", "/v1/bitcoin/asset/00",
	"/v1/bitcoin/asset/00/events", "/v1/bitcoin/asset/00/holders", "/v1/bitcoin/forks", "/v1/bitcoin/indexes", "/v1/bitcoin/schema", "/v1/bitcoin/fields",
	"/v1/bitcoin/outputs", "/v1/bitcoin/spends", "/v1/bitcoin/txs", "/v1/bitcoin/balances", "/v1/bitcoin/events", "/openapi.json", "/openapi.yaml", "/docs",
	"/healthz", "/readyz", "/metrics", "/debug/pprof/", "/favicon.ico",
}

var parameters = []string{
	"limit", "after", "order", "unspent", "and", "or", "height-from", "height-to", "time-from", "time-to", "prefix", "q", "from", "follow", "spends", "last_event_id",
	"format", "page", "x",
}

var bodies = []string{
	`{"outputs":["` + words[13] + `"]}`, `{"txs":["` + words[12] + `"]}`, `{"index":"address","values":["` + satoshi + `"]}`, `{"outputs":["` + words[13] + `",null,7]}`,
	`{"txs":[` + strings.Repeat(`"00",`, 2000) + `""]}`, `[]`, `{`, `{"txs":{}}`, `{"txs":[[]]}`, ``, `null`, "\xff\xfe", strings.Repeat("[", 20_000), strings.Repeat(`{"a":`, 20_000),
	`{"txs":1e999999}`, `{"txs":["` + strings.Repeat("0", 100_000) + `"]}`, `{"txs":[]}{}`, `"` + strings.Repeat("\\ud800", 1000) + `"`,
}

func (m *mangler) one(of []string) string { return of[m.IntN(len(of))] }

// junk is a few bytes that may stand in a line of a request.
func (m *mangler) junk() string {
	b := make([]byte, m.IntN(12))
	for i := range b {
		b[i] = byte(m.IntN(256))
	}
	return string(bytes.Map(func(r rune) rune {
		if r == '\r' || r == '\n' || r == ' ' {
			return '_'
		}
		return r
	}, b))
}

func (m *mangler) word() string {
	switch m.IntN(12) {
	case 0:
		return m.junk()
	case 1:
		return fmt.Sprintf("%%%02x%%%02x", m.IntN(256), m.IntN(256))
	case 2:
		return strings.Repeat(m.one(m.words), 1+m.IntN(200))
	case 3:
		return m.bent(m.one(m.cursors))
	}
	return m.one(m.words)
}

// bent is s with something changed.
func (m *mangler) bent(s string) string {
	b := []byte(s)
	for range m.IntN(3) {
		if len(b) == 0 {
			break
		}
		at := m.IntN(len(b))
		switch m.IntN(4) {
		case 0:
			b[at] = byte('!' + m.IntN(94))
		case 1:
			b = slices.Delete(b, at, at+1)
		case 2:
			b = b[:at]
		case 3:
			b = slices.Insert(b, at, b[m.IntN(len(b))])
		}
	}
	return string(b)
}

func (m *mangler) path() string {
	p := m.one(m.paths)
	switch m.IntN(4) {
	case 0:
		parts := strings.Split(p, "/")
		parts[m.IntN(len(parts))] = m.word()
		p = strings.Join(parts, "/")
	case 1:
		p = m.bent(p)
	}
	for i := range m.IntN(4) {
		p += "?&&&"[i:i+1] + m.one(parameters)
		if m.IntN(8) > 0 {
			p += "=" + m.word()
		}
	}
	return strings.NewReplacer(" ", "+", "\r", "", "\n", "").Replace(p)
}

// request is one, and its method.
func (m *mangler) request() (text, method string) {
	method = "GET"
	switch m.IntN(10) {
	case 0, 1:
		method = "POST"
	case 2:
		method = []string{"HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "get", "X"}[m.IntN(9)]
	}
	var b strings.Builder
	version := "HTTP/1.1"
	if m.IntN(50) == 0 {
		version = []string{"HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/9.9", "FTP/1.1", ""}[m.IntN(6)]
	}
	fmt.Fprintf(&b, "%s %s %s\r\n", method, m.path(), version)
	if m.IntN(50) > 0 {
		fmt.Fprintf(&b, "Host: %s\r\n", []string{"x", "127.0.0.1:1", "[::1]", "a b", "é", ""}[max(0, m.IntN(30)-24)])
	}
	for range m.IntN(4) {
		name := []string{"Accept", "Accept-Encoding", "If-None-Match", "If-Modified-Since", "Range", "Last-Event-ID", "Authorization", "X-API-Key", "X-Forwarded-For", "Cookie",
			"Origin", "Content-Encoding", "Upgrade", "Referer", "Te", "Trailer", "X-" + m.junk()}[m.IntN(17)]
		value := m.word()
		if m.IntN(2) == 0 {
			value = []string{"application/x-ndjson", "text/event-stream", "application/json;q=x", "*/*", "gzip, br;q=nan", `"x", W/"y"`, "*", "bytes=0-1,2-3,5-", "Basic !!", "Bearer",
				"websocket", "trailers"}[m.IntN(12)]
		}
		fmt.Fprintf(&b, "%s: %s\r\n", name, strings.NewReplacer("\r", "", "\n", "").Replace(value))
	}
	body := ""
	if method == "POST" || m.IntN(20) == 0 {
		body = m.one(bodies)
		if m.IntN(3) == 0 {
			body = m.bent(body)
		}
		kind := []string{"application/json", "application/json", "application/json", "application/json; charset=x", "text/plain", "multipart/form-data", ""}[m.IntN(7)]
		fmt.Fprintf(&b, "Content-Type: %s\r\n", kind)
		if m.IntN(4) == 0 {
			b.WriteString("Transfer-Encoding: chunked\r\n")
			body = fmt.Sprintf("%x;%s\r\n%s\r\n0\r\n\r\n", len(body), "x=y", body)
		} else {
			fmt.Fprintf(&b, "Content-Length: %d\r\n", len(body))
		}
	}
	return b.String() + "\r\n" + body, method
}

// fuzzing is a client that sends such requests over one connection after the other.
type fuzzing struct {
	t    *testing.T
	addr string
	conn net.Conn
	read *bufio.Reader
	seen map[int]int // answers by status
}

// ofHTTP are statuses above 499 with which net/http itself turns away what is not HTTP as it knows it.
var ofHTTP = []int{http.StatusNotImplemented, http.StatusHTTPVersionNotSupported}

// ask sends one request and judges its answer.
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
		// A server that refuses a body may close before all of it was sent; what it said can be lost then.
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
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") { // it has no end
		f.hangUp()
		return
	}
	if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.Close {
		if err != nil && !errors.Is(err, syscall.ECONNRESET) {
			f.t.Errorf("%.300q: the answer breaks off: %v", text, err)
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

// cursors are real ones, to be bent.
func cursorsOf(t *testing.T, s *target) []string {
	t.Helper()
	var all []string
	for _, path := range []string{"find/address/" + satoshi, "history/address/" + satoshi, "values/address", "richest/address", "blocks"} {
		resp, err := s.client.Get(s.URL + "v1/bitcoin/" + path + "?limit=1")
		if err != nil {
			t.Fatal(err)
		}
		var page struct{ Next string }
		err = json.NewDecoder(resp.Body).Decode(&page)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		if page.Next != "" {
			all = append(all, page.Next)
		}
	}
	if len(all) == 0 {
		t.Fatal("no list has a cursor")
	}
	return all
}

// 10,000 requests that are wrong: each is answered, none with an error of the server, nothing is left of them.
func TestMalformedRequestsAreNobodysFault(t *testing.T) {
	const requests, clients = 10_000, 4
	rng := seeded(t)
	s := serveHere(t)
	s.serves(t, "nobody else asks")
	cursors := cursorsOf(t, s)
	seen := map[int]int{}
	fuzz := func(n int) {
		var mu sync.Mutex
		var all sync.WaitGroup
		for range clients {
			m := &mangler{Rand: rand.New(rand.NewPCG(rng.Uint64(), 0)), paths: paths, words: words, cursors: cursors}
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
	fuzz(requests / 10) // what is kept for good is there afterwards
	s.client.CloseIdleConnections()
	time.Sleep(100 * time.Millisecond)
	goroutines, before := runtime.NumGoroutine(), heapInUse()
	fuzz(requests)
	t.Logf("answers by status: %v", seen)
	for _, status := range []int{200, 400, 404, 405, 406, 414, 415} {
		if seen[status] == 0 {
			t.Errorf("nothing was answered with %d: the requests are not as they should be", status)
		}
	}
	goroutinesFall(t, "the requests", goroutines)
	if after := heapInUse(); after > before+16<<20 {
		t.Errorf("%d bytes of the heap are in use, %d before", after, before)
	}
	s.serves(t, "nobody asks wrongly any more")
}

// What is no HTTP at all.
func TestGarbageIsNobodysFault(t *testing.T) {
	rng := seeded(t)
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
			b = append([]byte("GET / HTTP/1.1\r\nHost: x\r\n"), b...)
		case 1:
			b = append([]byte("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"), b...) // as TLS begins
		case 2:
			b = append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), b...)
		case 3:
			b = append([]byte("POST /v1/bitcoin/txs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"), b...)
		case 4:
			b = append([]byte("GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n"), b...)
		}
		conn, err := net.Dial("tcp", s.Listen)
		if err != nil {
			t.Fatal(err)
		}
		conn.SetDeadline(time.Now().Add(patience))
		_, _ = conn.Write(b) // it may have enough before that
		_ = conn.(*net.TCPConn).CloseWrite()
		answer, err := io.ReadAll(conn)
		conn.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%.60q: neither answered nor closed", b)
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
