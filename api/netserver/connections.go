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

// connections is a listener that keeps the number of open connections within bounds. Accept never waits for room.
// Beyond the bounds a few spare connections are accepted, on which questions about the server's health are answered.
// Another request on one of them waits for room for a moment, then it is refused.
type connections struct {
	net.Listener
	most, each int // altogether, and of one client; 0: no limit
	trusted    []netip.Prefix
	refused    func(string)
	count      func(int)

	hopeful atomic.Int64 // spare ones with a request that waits for room

	mu     sync.Mutex
	all    map[*connection]struct{}
	by     map[netip.Prefix]int
	spares map[*connection]struct{}
	looked time.Time // when nobody was found who could make room
}

// connection is an open one.
type connection struct {
	net.Conn
	home  *connections
	from  netip.Prefix // not valid: of those who have no limit of their own
	spare atomic.Bool

	// What the connection is at, and since when, in nanoseconds; 0: it is not.
	idle    atomic.Int64 // nothing has been asked, or nothing more
	sending atomic.Int64 // a body is on its way: all of it, for one that trickles is never long without a byte
	taking  atomic.Int64 // a part of an answer waits for the client
}

const (
	// patience is how long a client whose request is being answered may let the server wait before its connection may be
	// closed to make room; so a request on a spare connection waits that long for room.
	patience  = time.Second
	lookAgain = 20 * time.Millisecond

	spareConnections = 64
	mostHopeful      = spareConnections * 3 / 4
)

// Accept implements [net.Listener].
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
		cs.refused(noRoom)
		conn.Close()
	}
}

// take makes c one of the connections, where there is room for it, or some can be made.
func (cs *connections) take(c *connection) bool {
	cs.mu.Lock()
	var close *connection
	room := true
	switch now := time.Now(); {
	case cs.full(c.from):
		close = cs.waiting(c.from)
		room = close != nil
	case cs.most > 0 && len(cs.all) >= cs.most:
		if now.Sub(cs.looked) >= lookAgain/2 { // each connection is looked at
			if close = cs.waiting(netip.Prefix{}); close == nil {
				cs.looked = now
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
		cs.count(len(cs.all))
	}
	cs.mu.Unlock()
	if close != nil {
		cs.refused(evicted)
		close.Conn.Close()
	}
	return room
}

// full reports whether a client has all the connections it may. mu is held.
func (cs *connections) full(from netip.Prefix) bool {
	return cs.each > 0 && from.IsValid() && cs.by[from] >= cs.each
}

// keepSpare makes c a spare connection, in place of the one that has been silent longest if there are enough. A client
// that has all the connections it may has no spare ones.
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
		cs.refused(noRoom)
		longest.Conn.Close()
	}
	c.spare.Store(true)
	cs.spares[c] = struct{}{}
	return true
}

// admit waits a moment for room for a request that came on a spare connection. Not more than mostHopeful of those wait,
// so that the others are there for questions about health.
func (cs *connections) admit(ctx context.Context, c *connection) bool {
	if cs.take(c) {
		return true
	}
	defer cs.hopeful.Add(-1)
	if cs.hopeful.Add(1) > mostHopeful {
		return false
	}
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for end := time.Now().Add(patience + 2*lookAgain); time.Now().Before(end); {
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

// drop forgets c, where that was not done before. mu is held.
func (cs *connections) drop(c *connection) {
	delete(cs.spares, c)
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

// TrackBody is the body of a request, during whose transfer its connection counts as one that waits for its client.
func TrackBody(r *http.Request) io.ReadCloser {
	c := connectionOf(r)
	if c == nil || r.ProtoMajor != 1 { // a connection of HTTP/2 has other requests meanwhile
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
