package ouroboros

import (
	"context"
	"time"

	"birthmark/chains/adapter"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// Options are the settings of [Dial].
type Options struct {
	Magic   uint32        // of the network
	Memory  int64         // bytes of blocks to request ahead over TCP; 0: [blocksource.DefaultMemory]
	Timeout time.Duration // of an answer; 0: a minute
	Proxy   string        // for TCP, as in [model.SourceOptions]

	// Describe reads a header of node-to-node chain-sync. tag is the tag of the block in chunk files. Its errors end
	// the connection unchanged.
	Describe func(tag byte, header []byte) (Header, error)

	keepAlive time.Duration // interval of keep-alives; 0: keepAliveInterval
}

const (
	defaultTimeout = time.Minute
	// keepAliveInterval is below the 97 seconds after which a relay closes an idle connection.
	keepAliveInterval = 20 * time.Second
)

// Conn is a connection to a node. It is for one goroutine at a time.
type Conn struct {
	link
	o       Options
	address string
	name    string // in errors
	headers bool   // node-to-node: chain-sync has headers only
	chain   *inbox
	fetch   *inbox // nil on a Unix socket, like alive
	alive   *inbox

	monitor, submission, state *inbox // nil over TCP

	at   *Point // the intersection; nil if it is unknown
	used bool   // answers are outstanding: it can only be closed
}

// Dial connects to a node and performs the handshake. network is "tcp" for a host:port, or "unix" for the path of a socket.
//
// Errors are of kind BadSource, with the code unreachable, disconnected, silent, wrong_network (the magic differs from
// Options.Magic), no_common_version or not_a_node.
func Dial(ctx context.Context, network, address string, o Options) (*Conn, error) {
	c := newConn(network, address, o)
	dialing, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	dial, err := adapter.Dialer(o.Proxy, c.o.Timeout)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_source", "%w", err)
	}
	conn, err := dial(dialing, network, address)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if err := c.handshake(ctx, conn); err != nil {
		return nil, err
	}
	return c, nil
}

// newConn returns a Conn without a connection.
func newConn(network, address string, o Options) *Conn {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Memory <= 0 {
		o.Memory = blocksource.DefaultMemory
	}
	if o.keepAlive <= 0 {
		o.keepAlive = keepAliveInterval
	}
	return &Conn{o: o, address: address, name: address, headers: network != "unix"}
}

// Close closes the connection and waits for its goroutines.
func (c *Conn) Close() {
	c.mux.Stop()
	for range c.mux.ErrorChan() { // closed when all has ended
	}
	<-c.handshakeDone
}

// Intersect returns the first of the points that the node's chain has, the origin if it has none of them, and the
// node's tip. [Conn.Follow] continues there.
func (c *Conn) Intersect(ctx context.Context, points []Point) (at Point, tip Tip, err error) {
	if len(points) == 0 {
		points = []Point{{}}
	}
	c.at = nil
	if err := c.chain.send(ctx, findIntersect(points)); err != nil {
		return at, tip, err
	}
	m, err := c.receiveAnswer(ctx, "a search for the intersection")
	if err != nil {
		return at, tip, err
	}
	switch m.kind {
	case msgIntersectFound:
		c.at = &m.point
		return m.point, m.tip, nil
	case msgIntersectNotFound:
		if len(points) == 1 && points[0].IsOrigin() {
			return at, m.tip, nil // the node does not accept the origin; its first event has the start
		}
		return c.Intersect(ctx, nil)
	}
	return at, tip, c.unexpected(c.chain, m.kind)
}

// MaxPoints is the maximum number of points of a search: nodes do not accept chain-sync messages above 64 KiB.
const MaxPoints = 1000

// receiveAnswer waits for the next message of chain-sync.
func (c *Conn) receiveAnswer(ctx context.Context, to string) (m chainMessage, err error) {
	raw, err := c.chain.answer(ctx, to, c.o.Timeout)
	if err != nil {
		return m, err
	}
	if m, err = readChain(raw, c.headers); err != nil {
		return m, c.malformed(c.chain, err)
	}
	return m, nil
}
