package electrum

import (
	"context"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"

	"birthmark/api/netserver"
)

// frames is a transport over WebSocket: a message per text message.
type frames struct {
	conn   *websocket.Conn
	limits *Limits
	in     []byte
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
	if cap(f.in) > partBytes {
		f.in = nil
	}
	for f.in = f.in[:0]; ; {
		if len(f.in) > f.limits.MaxRequest {
			return nil, errTooLong
		}
		f.in = slices.Grow(f.in, firstBuffer)
		n, err := r.Read(f.in[len(f.in):cap(f.in)])
		if f.in = f.in[:len(f.in)+n]; err == io.EOF {
			return f.in, nil
		}
		if err != nil {
			return nil, err
		}
	}
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
		defer time.AfterFunc(t, f.cancel).Stop()
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

// WebSocket returns the handler of WebSocket connections. Its requests end when their connection ends.
func (s *Server) WebSocket() http.Handler {
	o := &websocket.AcceptOptions{OriginPatterns: s.Origins, InsecureSkipVerify: slices.Contains(s.Origins, "*")}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, err := websocket.Accept(w, r, o)
		if err != nil {
			return // it has answered
		}
		c.SetReadLimit(-1) // frames.read has the limit
		s.serve(&frames{conn: c, limits: &s.Limits}, netserver.Sender(r, s.Proxies))
	})
}
