package electrum

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"time"
)

// transport carries messages. Reads and writes can run at the same time.
type transport interface {
	// read returns the next message, which is valid until the next call.
	read() ([]byte, error)

	// write writes a part of a message; end is true for its last part. It can keep up to partBytes until flush.
	write(part []byte, end bool) error
	flush() error

	// pending reports whether read returns another message without waiting for the client.
	pending() bool

	close()
}

// errTooLong is the error of a message above the limit.
var errTooLong = errors.New("message too long")

const (
	firstBuffer = 2 << 10  // bytes of a read buffer
	partBytes   = 64 << 10 // of an answer: sent at once
)

// lines is a transport over TCP or TLS: a message per line.
type lines struct {
	conn   net.Conn
	limits *Limits

	in         []byte // read from the client
	start, end int    // the unread part of in
	searched   int    // of the unread part: has no newline
	greeted    bool   // there was a request

	out []byte
}

func newLines(c net.Conn, limits *Limits) *lines { return &lines{conn: c, limits: limits} }

// read implements transport. A client may be idle for IdleTimeout, and has RequestTimeout to send its first request,
// and the rest of a line.
func (l *lines) read() ([]byte, error) {
	idle := l.limits.IdleTimeout
	if !l.greeted && l.limits.RequestTimeout > 0 {
		idle = l.limits.RequestTimeout
	}
	for waiting := 0; ; { // for a request (1), or for the rest of one (2)
		if line := l.next(); line != nil {
			l.greeted = true
			return line, nil
		}
		unread := l.end - l.start
		if unread > l.limits.MaxRequest {
			return nil, errTooLong
		}
		l.makeRoom(unread)
		switch {
		case unread > 0 && waiting < 2:
			waiting = 2
			l.deadline(l.conn.SetReadDeadline, l.limits.RequestTimeout)
		case waiting == 0:
			waiting = 1
			l.deadline(l.conn.SetReadDeadline, idle)
		}
		n, err := l.conn.Read(l.in[l.end:])
		if l.end += n; n == 0 && err != nil {
			return nil, err
		}
	}
}

// makeRoom makes room for more bytes: it moves the unread ones to the beginning, and doubles a full buffer. A large
// empty buffer is released.
func (l *lines) makeRoom(unread int) {
	if unread == 0 && len(l.in) > partBytes {
		l.in, l.start, l.end = nil, 0, 0
	}
	if l.start > 0 {
		copy(l.in, l.in[l.start:l.end])
		l.start, l.end = 0, unread
	}
	if l.end == len(l.in) {
		grown := make([]byte, max(firstBuffer, min(2*len(l.in), l.limits.MaxRequest+2)))
		copy(grown, l.in[:l.end])
		l.in = grown
	}
}

// next returns the next line, without its end; nil: there is no complete one. Empty lines are skipped.
func (l *lines) next() []byte {
	for {
		unread := l.in[l.start:l.end]
		n := bytes.IndexByte(unread[l.searched:], '\n')
		if n < 0 {
			l.searched = len(unread)
			return nil
		}
		line := unread[:l.searched+n]
		l.start += len(line) + 1
		l.searched = 0
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line
		}
	}
}

func (l *lines) pending() bool { return bytes.IndexByte(l.in[l.start:l.end], '\n') >= 0 }

func (l *lines) write(part []byte, end bool) error {
	l.out = append(l.out, part...)
	if end {
		l.out = append(l.out, '\n')
	}
	if len(l.out) < partBytes {
		return nil
	}
	return l.flush()
}

func (l *lines) flush() error {
	for rest := l.out; len(rest) > 0; {
		n := min(len(rest), partBytes)
		l.deadline(l.conn.SetWriteDeadline, l.limits.StallTimeout)
		if _, err := l.conn.Write(rest[:n]); err != nil {
			return fmt.Errorf("write: %w", err)
		}
		rest = rest[n:]
	}
	if l.out = l.out[:0]; cap(l.out) > 2*partBytes {
		l.out = nil
	}
	return nil
}

// deadline sets a deadline; 0: none. It fails only on a closed connection, where the following call fails too.
func (l *lines) deadline(set func(time.Time) error, after time.Duration) {
	at := time.Time{}
	if after > 0 {
		at = time.Now().Add(after)
	}
	_ = set(at)
}

func (l *lines) close() { l.conn.Close() }
