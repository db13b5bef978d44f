package electrum

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"github.com/coder/websocket"
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
	firstBuffer = 2 << 10  // bytes of a client that are received at once
	partBytes   = 64 << 10 // of an answer: sent at once
)

// lines is a transport over TCP or TLS: a message per line.
type lines struct {
	conn    net.Conn
	limits  *Limits
	in      *bufio.Reader
	line    []byte // from the client, up to now
	greeted bool   // there was a request
	out     []byte
}

func newLines(c net.Conn, limits *Limits) *lines {
	return &lines{conn: c, limits: limits, in: bufio.NewReaderSize(c, firstBuffer)}
}

// read implements transport. Empty lines are skipped. A client may be idle for IdleTimeout, and has RequestTimeout to
// send its first request, and the rest of a line.
func (l *lines) read() ([]byte, error) {
	if l.line = l.line[:0]; cap(l.line) > partBytes {
		l.line = nil
	}
	idle := l.limits.IdleTimeout
	if !l.greeted && l.limits.RequestTimeout > 0 {
		idle = l.limits.RequestTimeout
	}
	for waiting := 0; ; { // for a request (1), or for the rest of one (2)
		part, whole := l.received()
		l.line = append(l.line, part...)
		_, _ = l.in.Discard(len(part)) // received
		if line := bytes.TrimSpace(l.line); whole && len(line) > 0 {
			l.greeted = true
			return line, nil
		}
		switch {
		case whole:
			l.line = l.line[:0]
			continue
		case len(l.line) > l.limits.MaxRequest:
			return nil, errTooLong
		case len(l.line) > 0 && waiting < 2:
			waiting = 2
			l.deadline(l.conn.SetReadDeadline, l.limits.RequestTimeout)
		case waiting == 0:
			waiting = 1
			l.deadline(l.conn.SetReadDeadline, idle)
		}
		if _, err := l.in.Peek(1); err != nil {
			return nil, err
		}
	}
}

// received returns the buffered part of the next line.
func (l *lines) received() (part []byte, whole bool) {
	part, _ = l.in.Peek(l.in.Buffered())
	n := bytes.IndexByte(part, '\n')
	if n < 0 {
		return part, false
	}
	return part[:n+1], true
}

func (l *lines) pending() bool {
	_, whole := l.received()
	return whole
}

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

// frames is a transport over WebSocket: a message per text message.
type frames struct {
	conn   *websocket.Conn
	limits *Limits
	in     bytes.Buffer
	out    io.WriteCloser // of the message that is being written; nil: none
	cancel func()
}

func (f *frames) read() ([]byte, error) {
	ctx, cancel := timeout(f.limits.IdleTimeout)
	defer cancel()
	_, r, err := f.conn.Reader(ctx)
	if err != nil {
		return nil, err
	}
	if f.in.Reset(); f.in.Cap() > partBytes {
		f.in = bytes.Buffer{}
	}
	if _, err = f.in.ReadFrom(io.LimitReader(r, int64(f.limits.MaxRequest)+1)); err == nil && f.in.Len() > f.limits.MaxRequest {
		err = errTooLong
	}
	return f.in.Bytes(), err
}

func (f *frames) write(part []byte, end bool) (err error) {
	if f.out == nil {
		var ctx context.Context
		ctx, f.cancel = context.WithCancel(context.Background())
		if f.out, err = f.conn.Writer(ctx, websocket.MessageText); err != nil {
			return err
		}
	}
	if t := f.limits.StallTimeout; t > 0 {
		stall := time.AfterFunc(t, f.cancel)
		defer func() {
			if !stall.Stop() { // the connection is closed, also if the part was written before that
				err = os.ErrDeadlineExceeded
			}
		}()
	}
	if _, err = f.out.Write(part); err == nil && end {
		err = f.out.Close()
		f.out = nil
		f.cancel()
	}
	return err
}

func (f *frames) flush() error { return nil }

func (f *frames) pending() bool { return false }

func (f *frames) close() { _ = f.conn.CloseNow() }

// timeout returns a context that ends after d; 0: never.
func timeout(d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(context.Background())
	}
	return context.WithTimeout(context.Background(), d)
}
