package netserver

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// connections is a listener that limits the number of open connections. If there are too many, it closes the one that
// has waited longest for its client, so that idle and slow clients do not keep others out. Accept never blocks on the
// limit: a few spare connections above it serve health checks; another request on them waits a moment for a free
// connection and is then rejected.
type connections struct {
	net.Listener
	max, each int // in all, and of one client; 0: no limit
	trusted   []netip.Prefix
	rejected  func(reason string)
	opened    func(open int)

	waiters atomic.Int64 // requests on spare connections that wait for a free one

	mu     sync.Mutex
	all    map[*connection]struct{}
	by     map[netip.Prefix]int
	spares map[*connection]struct{}
	failed time.Time // of the last search for a connection to close, if it found none
}

type connection struct {
	net.Conn
	home  *connections
	from  netip.Prefix // not valid: has no limit per client
	spare atomic.Bool

	// Unix nanoseconds at which a state began; 0: not in that state.
	idle    atomic.Int64 // no request
	sending atomic.Int64 // the client sends a body: since its first byte, since a slow one is never long without a byte
	taking  atomic.Int64 // a write of the answer waits for the client
}

const (
	// stallTime is how long a client with a request may block the server before its connection can be closed for
	// another one. A request on a spare connection waits a little longer than that.
	stallTime     = time.Second
	retryInterval = 20 * time.Millisecond

	spareConnections = 128
	maxWaiters       = 48 // the others are for requests that are being rejected and for health checks
)

func (cs *connections) Accept() (net.Conn, error) {
	for {
		conn, err := cs.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: conn, home: cs}
		if a := AddressOf(conn.RemoteAddr().String()); a.IsValid() && !a.IsLoopback() && !Trusts(cs.trusted, a) {
			c.from = Network(a)
		}
		c.idle.Store(time.Now().UnixNano())
		if cs.take(c) || cs.keepSpare(c) {
			return c, nil
		}
		cs.rejected(connectionLimit)
		conn.Close()
	}
}

// take counts c as an open connection if the limit allows it, or if another connection can be closed.
func (cs *connections) take(c *connection) bool {
	cs.mu.Lock()
	var close *connection
	room := true
	switch now := time.Now(); {
	case cs.full(c.from):
		close = cs.longestWaiting(c.from)
		room = close != nil
	case cs.max > 0 && len(cs.all) >= cs.max:
		if now.Sub(cs.failed) >= retryInterval/2 { // a search examines every connection
			if close = cs.longestWaiting(netip.Prefix{}); close == nil {
				cs.failed = now
			}
		}
		room = close != nil
	}
	if close != nil {
		cs.drop(close)
	}
	if room {
		delete(cs.spares, c)
		c.spare.Store(false)
		cs.all[c] = struct{}{}
		cs.by[c.from]++
		cs.opened(len(cs.all))
	}
	cs.mu.Unlock()
	if close != nil {
		cs.rejected(evicted)
		close.Conn.Close()
	}
	return room
}

// full reports whether a client has reached its limit. mu is held.
func (cs *connections) full(from netip.Prefix) bool {
	return cs.each > 0 && from.IsValid() && cs.by[from] >= cs.each
}

// keepSpare makes c a spare connection; if there are too many, it closes the one that was idle longest. A client that
// has reached its limit gets no spare connection.
func (cs *connections) keepSpare(c *connection) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.full(c.from) {
		return false
	}
	if len(cs.spares) >= spareConnections {
		var longest *connection
		for s := range cs.spares {
			if at := s.idle.Load(); at != 0 && (longest == nil || at < longest.idle.Load()) {
				longest = s
			}
		}
		if longest == nil {
			return false
		}
		delete(cs.spares, longest)
		cs.rejected(connectionLimit)
		longest.Conn.Close()
	}
	c.spare.Store(true)
	cs.spares[c] = struct{}{}
	return true
}

// admit waits a moment until a spare connection with a request can become an open one. At most maxWaiters wait.
func (cs *connections) admit(ctx context.Context, c *connection) bool {
	if cs.take(c) {
		return true
	}
	defer cs.waiters.Add(-1)
	if cs.waiters.Add(1) > maxWaiters {
		return false
	}
	again := time.NewTicker(retryInterval)
	defer again.Stop()
	for end := time.Now().Add(stallTime + 2*retryInterval); time.Now().Before(end); {
		select {
		case <-again.C:
		case <-ctx.Done():
			return false
		}
		if cs.take(c) {
			return true
		}
	}
	return false
}

// longestWaiting returns the connection that has waited longest for its client, or nil if no connection waits. If from
// is valid, it considers the connections of this client only. mu is held.
func (cs *connections) longestWaiting(from netip.Prefix) (longest *connection) {
	now, since := time.Now().UnixNano(), int64(0)
	for c := range cs.all {
		if from.IsValid() && c.from != from {
			continue
		}
		at := c.idle.Load()
		for _, slow := range []*atomic.Int64{&c.sending, &c.taking} {
			if s := slow.Load(); at == 0 && s != 0 && now-s >= int64(stallTime) {
				at = s
			}
		}
		if at == 0 {
			continue
		}
		if longest == nil || at < since {
			longest, since = c, at
		}
	}
	return longest
}

// closeIdle closes the connections without a request.
func (cs *connections) closeIdle() {
	cs.mu.Lock()
	var idle []*connection
	for _, open := range []map[*connection]struct{}{cs.all, cs.spares} {
		for c := range open {
			if c.idle.Load() != 0 {
				idle = append(idle, c)
			}
		}
	}
	cs.mu.Unlock()
	for _, c := range idle {
		c.Close()
	}
}

// drop removes c, unless that was done before. mu is held.
func (cs *connections) drop(c *connection) {
	delete(cs.spares, c)
	if _, open := cs.all[c]; !open {
		return
	}
	delete(cs.all, c)
	if cs.by[c.from]--; cs.by[c.from] == 0 {
		delete(cs.by, c.from)
	}
	cs.opened(len(cs.all))
}

func (c *connection) Close() error {
	c.home.mu.Lock()
	c.home.drop(c)
	c.home.mu.Unlock()
	return c.Conn.Close()
}

func (c *connection) Write(b []byte) (int, error) {
	c.taking.Store(time.Now().UnixNano())
	defer c.taking.Store(0)
	return c.Conn.Write(b)
}

// stateChanged implements the ConnState hook of [http.Server].
func stateChanged(conn net.Conn, state http.ConnState) {
	c := unwrap(conn)
	switch {
	case c == nil:
	case state == http.StateActive:
		c.idle.Store(0)
	case state == http.StateIdle:
		c.sending.Store(0)
		c.idle.Store(time.Now().UnixNano())
	}
}

// unwrap returns our connection, with or without TLS.
func unwrap(conn net.Conn) *connection {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	c, _ := conn.(*connection)
	return c
}

type connectionKey struct{}

func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, unwrap(conn))
}

// connectionOf returns the connection of a request; nil if [Serve] did not accept it.
func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}

// TrackBody returns the body of a request. While the client sends it, its connection counts as waiting for the client.
func TrackBody(r *http.Request) io.ReadCloser {
	c := connectionOf(r)
	if c == nil || r.ProtoMajor != 1 { // a connection of HTTP/2 has other requests at the same time
		return r.Body
	}
	return &trackedBody{r.Body, c}
}

type trackedBody struct {
	io.ReadCloser
	on *connection
}

// Read implements [io.Reader].
func (b *trackedBody) Read(p []byte) (int, error) {
	b.on.sending.CompareAndSwap(0, time.Now().UnixNano())
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.on.sending.Store(0)
	}
	return n, err
}
