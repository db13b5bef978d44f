package answertest

import (
	"bytes"
	"encoding/json"
	"net"
	"sync"
	"testing"
)

// RecordedLines returns a function that records the lines of a server's connections: each request with its answer, and
// each notification by itself. It expects JSON-RPC whose answers have the order of the requests: a notification has a
// method. A request without an answer, at the end of a connection, is not recorded. Connections are not changed if
// nothing is recorded.
func RecordedLines(t testing.TB) func(net.Conn) net.Conn {
	t.Helper()
	to := NewRecording(t)
	return func(c net.Conn) net.Conn {
		if to == nil {
			return c
		}
		return &recordedLines{Conn: c, to: to}
	}
}

type recordedLines struct {
	net.Conn
	to *Recording

	mu       sync.Mutex
	in, out  []byte // incomplete lines
	requests []string
}

// Read implements [net.Conn].
func (l *recordedLines) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.in = eachLine(append(l.in, b[:n]...), func(line string) { l.requests = append(l.requests, line) })
	return n, err
}

// Write implements [net.Conn].
func (l *recordedLines) Write(b []byte) (int, error) {
	l.mu.Lock()
	l.out = eachLine(append(l.out, b...), l.answered)
	l.mu.Unlock()
	return l.Conn.Write(b)
}

func (l *recordedLines) answered(line string) {
	var m struct{ Method string }
	if json.Unmarshal([]byte(line), &m) == nil && m.Method != "" {
		l.to.Add("notification", line)
		return
	}
	request := "no request"
	if len(l.requests) > 0 {
		request, l.requests = l.requests[0], l.requests[1:]
	}
	l.to.Add(request, line)
}

// eachLine calls fn with each complete line of b, and returns the rest of b.
func eachLine(b []byte, fn func(string)) []byte {
	for {
		line, rest, whole := bytes.Cut(b, []byte("\n"))
		if !whole {
			return b
		}
		fn(string(line))
		b = rest
	}
}
