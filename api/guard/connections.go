package guard

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// connections is a listener that keeps the number of open connections within bounds.
type connections struct {
	net.Listener
	most, each int // altogether, and of one client; 0: no limit
	trusted    []netip.Prefix
	refused    func(string)
	count      func(int)

	closed atomic.Bool

	mu  sync.Mutex
	all map[*connection]struct{}
	by  map[netip.Prefix]int
}

// connection is an open one.
type connection struct {
	net.Conn
	home *connections
	from netip.Prefix // not valid: of those who have no limit of their own

	// What the connection is at, and since when, in nanoseconds; 0: it is not.
	idle    atomic.Int64 // nothing has been asked, or nothing more
	sending atomic.Int64 // a body is on its way: all of it, for one that trickles is never long without a byte
	taking  atomic.Int64 // a part of an answer waits for the client
}

const (
	// patience is how long a client whose request is being answered may let the server wait before its connection may be
	// closed to make room; so a new connection is kept waiting that long for room.
	patience  = time.Second
	lookAgain = 20 * time.Millisecond
)

// Accept implements [net.Listener].
func (cs *connections) Accept() (net.Conn, error) {
	for {
		conn, err := cs.Listener.Accept()
		if err != nil {
			return nil, err
		}
		c := &connection{Conn: conn, home: cs}
		if a := addressOf(conn.RemoteAddr().String()); a.IsValid() && !a.IsLoopback() && !trusts(cs.trusted, a) {
			c.from = network(a)
		}
		for end := time.Now().Add(patience + 2*lookAgain); ; time.Sleep(lookAgain) {
			if cs.take(c) {
				return c, nil
			}
			if cs.full(c.from) || cs.closed.Load() || time.Now().After(end) {
				break
			}
		}
		cs.refused(noRoom)
		conn.Close()
	}
}

// Close implements [net.Listener].
func (cs *connections) Close() error {
	cs.closed.Store(true)
	return cs.Listener.Close()
}

// full reports whether a client has all the connections it may: for it nobody else is kept waiting.
func (cs *connections) full(from netip.Prefix) bool {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.each > 0 && from.IsValid() && cs.by[from] >= cs.each
}

// take makes c one of the connections, where there is room for it, or some can be made.
func (cs *connections) take(c *connection) bool {
	c.idle.Store(time.Now().UnixNano())
	cs.mu.Lock()
	var close *connection
	room := true
	switch {
	case cs.each > 0 && c.from.IsValid() && cs.by[c.from] >= cs.each:
		close = cs.waiting(c.from)
		room = close != nil
	case cs.most > 0 && len(cs.all) >= cs.most:
		close = cs.waiting(netip.Prefix{})
		room = close != nil
	}
	if close != nil {
		cs.drop(close)
	}
	if room {
		cs.all[c] = struct{}{}
		cs.by[c.from]++
		cs.count(len(cs.all))
	}
	cs.mu.Unlock()
	if close != nil {
		cs.refused(evicted)
		close.Conn.Close()
	}
	return room
}

// waiting is the connection that has waited longest for its client: of one client where from is valid. nil where none does.
// mu is held.
func (cs *connections) waiting(from netip.Prefix) (longest *connection) {
	now, since := time.Now().UnixNano(), int64(0)
	for c := range cs.all {
		if from.IsValid() && c.from != from {
			continue
		}
		at := c.idle.Load()
		for _, slow := range []*atomic.Int64{&c.sending, &c.taking} {
			if s := slow.Load(); at == 0 && s != 0 && now-s >= int64(patience) {
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

// hangUp closes the connections whose clients have asked nothing.
func (cs *connections) hangUp() {
	cs.mu.Lock()
	var idle []*connection
	for c := range cs.all {
		if c.idle.Load() != 0 {
			idle = append(idle, c)
		}
	}
	cs.mu.Unlock()
	for _, c := range idle {
		c.Close()
	}
}

// drop forgets c, where that was not done before. mu is held.
func (cs *connections) drop(c *connection) {
	if _, open := cs.all[c]; !open {
		return
	}
	delete(cs.all, c)
	if cs.by[c.from]--; cs.by[c.from] == 0 {
		delete(cs.by, c.from)
	}
	cs.count(len(cs.all))
}

// Close implements [net.Conn].
func (c *connection) Close() error {
	c.home.mu.Lock()
	c.home.drop(c)
	c.home.mu.Unlock()
	return c.Conn.Close()
}

// Write implements [net.Conn].
func (c *connection) Write(b []byte) (int, error) {
	c.taking.Store(time.Now().UnixNano())
	defer c.taking.Store(0)
	return c.Conn.Write(b)
}

// became is what [http.Server] tells of a connection.
func became(conn net.Conn, state http.ConnState) {
	c := below(conn)
	switch {
	case c == nil:
	case state == http.StateActive:
		c.idle.Store(0)
	case state == http.StateIdle:
		c.sending.Store(0)
		c.idle.Store(time.Now().UnixNano())
	}
}

// below is our connection, below TLS or not.
func below(conn net.Conn) *connection {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	c, _ := conn.(*connection)
	return c
}

type connectionKey struct{}

func withConnection(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, below(conn))
}

// connectionOf is the connection a request came by; nil where [Serve] did not accept it.
func connectionOf(r *http.Request) *connection {
	c, _ := r.Context().Value(connectionKey{}).(*connection)
	return c
}
