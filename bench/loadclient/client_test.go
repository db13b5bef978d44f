package loadclient

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// answering starts a server that sends the text for the n-th request in pieces, and closes the connection after an
// empty text.
func answering(t *testing.T, piece int, answer func(n int) string) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var n atomic.Int64
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				for from := bufio.NewReader(conn); ; {
					if _, err := http.ReadRequest(from); err != nil {
						return
					}
					text := answer(int(n.Add(1)) - 1)
					for part := range slices.Chunk([]byte(text), piece) {
						if _, err := conn.Write(part); err != nil {
							return
						}
					}
					if !strings.HasPrefix(text, "HTTP/1.1 ") || !strings.Contains(text, "\r\n\r\n") {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

func TestClientReadsResponses(t *testing.T) {
	long := strings.Repeat("0123456789", 20_000)
	answers := []struct {
		text   string
		status int
		body   string
	}{
		{"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello"},
		{"HTTP/1.1 404 Not Found\r\ncontent-length:2\r\nX-Tip: 00\r\n\r\n{}", 404, "{}"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: 1\r\n\r\n", 200, "hello world"},
		{"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n", 304, ""},
		{fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(long), long), 200, long},
		{fmt.Sprintf("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(long), long), 200, long},
		{"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", 503, ""},
		{"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nend", 200, "end"},
	}
	for _, piece := range []int{3, 1000, 1 << 20} {
		for _, wanted := range []bool{true, false} { // the next response must start at the right place
			c := New(answering(t, piece, func(n int) string { return answers[n].text }))
			for i, want := range answers {
				if !wanted {
					want.body = ""
				}
				got, err := c.Ask([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), wanted)
				if err != nil || got.Status != want.status || string(got.Body) != want.body {
					t.Errorf("in pieces of %d: answer %d: status %d, %d bytes (%v)", piece, i, got.Status, len(got.Body), err)
				}
			}
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestClientReportsInvalidResponses(t *testing.T) {
	answers := []struct{ text, says string }{
		{"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", "invalid status line"},
		{"HTTP/1.1 2x0 OK\r\nContent-Length: 0\r\n\r\n", "invalid status line"},
		{"HTTP/1.1 200 OK\r\n\r\nhello", "without a length"},
		{"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "invalid Content-Length"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "invalid byte in chunk length"},
		{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n", "malformed chunked encoding"},
		{"HTTP/1.1 200 OK\r\nContent-Le", "before the end of the response"},
		{"", "before the end of the response"},
		{"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", clientBuffer), "longer than 65536 bytes"},
	}
	c := New(answering(t, 1<<20, func(n int) string { return answers[n].text }))
	for _, want := range answers {
		_, err := c.Ask([]byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"), true)
		if err == nil || !strings.Contains(err.Error(), want.says) {
			t.Errorf("%.40q: %v, expected %q", want.text, err, want.says)
		}
		if c.conn != nil {
			t.Errorf("%.40q: the connection is used again", want.text)
		}
	}
}

func TestClientOfTheElectrumProtocol(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const result, failure = `{"jsonrpc":"2.0","id":0,"result":`, `{"jsonrpc":"2.0","id":0,"error":`
	lines := []string{result + "null}\n", failure + "{}}\n", result + `"` + strings.Repeat("x", 200_000) + "\"}\n", "{}\n"}
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		for _, line := range lines {
			if _, err := in.ReadSlice('\n'); err != nil {
				return
			}
			if _, err := io.WriteString(conn, line); err != nil {
				return
			}
		}
	}()
	c := NewElectrum(l.Addr().String())
	for i, status := range []int{200, 400, 200} {
		a, err := c.Ask([]byte("{}\n"), true)
		if err != nil || a.Status != status || string(a.Body) != lines[i] {
			t.Errorf("answer %d: %d, %d bytes: %v", i, a.Status, len(a.Body), err)
		}
	}
	if _, err := c.Ask([]byte("{}\n"), true); err == nil {
		t.Error("an invalid answer is accepted")
	}
}
