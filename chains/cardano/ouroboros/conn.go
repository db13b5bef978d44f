package ouroboros

import (
	"context"
	"net"
	"time"

	"birthmark/chains/blocksource"
)

// Options say how [Dial] goes about a node.
type Options struct {
	Magic   uint32        // of the network
	Memory  int64         // bytes of blocks asked for ahead over TCP; 0: [blocksource.DefaultMemory]
	Timeout time.Duration // how long an answer may take; 0: a minute

	// Describe reads a header as it came over TCP: the tag that the block has in chunk files, and the header's bytes.
	// Its errors end the connection as they are.
	Describe func(tag byte, header []byte) (Header, error)

	keepAlive time.Duration // how often a node is told that we are there; 0: aliveEvery
}

const (
	defaultTimeout = time.Minute
	// aliveEvery keeps a relay from giving us up, which it does after 97 seconds.
	keepAliveInterval = 20 * time.Second
)

// Conn is a connection to a node. It belongs to one goroutine at a time.
type Conn struct {
	link
	o       Options
	address string
	name    string // in errors
	headers bool   // node-to-node: chain-sync has headers only
	chain   *inbox
	fetch   *inbox // nil on a unix socket, as alive is
	alive   *inbox
	at      *Point // where the node begins when it is followed; nil: elsewhere than at a place we know
	used    bool   // more was asked than was answered: it is good for nothing else
}

// Dial connects to a node and shakes hands: over "tcp" with a host:port, or over "unix" with the path of a socket.
//
// Errors, of kind BadSource: unreachable, disconnected, silent; wrong_network where the node is on another than that of
// Options.Magic; no_common_version; not_a_node.
func Dial(ctx context.Context, network, address string, o Options) (*Conn, error) {
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Memory <= 0 {
		o.Memory = blocksource.DefaultMemory
	}
	if o.keepAlive <= 0 {
		o.keepAlive = keepAliveInterval
	}
	c := &Conn{o: o, address: address, name: address, headers: network != "unix"}
	dialing, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(dialing, network, address)
	if err != nil {
		return nil, c.unreachable(ctx, err)
	}
	if err := c.handshake(ctx, conn); err != nil {
		return nil, err
	}
	return c, nil
}

// Close ends the connection and waits for what belongs to it.
func (c *Conn) Close() {
	c.mux.Stop()
	for range c.mux.ErrorChan() { // closed when all has ended
	}
	<-c.handshakeDone
}

// Intersect is the first of the points that the node's chain has, the origin where it has none of them, and the node's
// tip. What [Conn.Follow] yields begins there.
func (c *Conn) Intersect(ctx context.Context, points []Point) (at Point, tip Tip, err error) {
	if len(points) == 0 {
		points = []Point{{}}
	}
	c.at = nil
	if err := c.chain.send(ctx, findIntersect(points)); err != nil {
		return at, tip, err
	}
	m, err := c.receiveAnswer(ctx, "a search for where the chains part")
	if err != nil {
		return at, tip, err
	}
	switch m.kind {
	case msgIntersectFound:
		c.at = &m.point
		return m.point, m.tip, nil
	case msgIntersectNotFound:
		if len(points) == 1 && points[0].IsOrigin() {
			return at, m.tip, nil // it knows no origin; what comes first says where it begins
		}
		return c.Intersect(ctx, nil)
	}
	return at, tip, c.unexpected(c.chain, m.kind)
}

// MaxPoints is how many points one search may name: a node reads no message of chain-sync above 64 KiB.
const MaxPoints = 1000

// answer waits for the one message of chain-sync that is to come.
func (c *Conn) receiveAnswer(ctx context.Context, to string) (m chainMessage, err error) {
	t := time.NewTimer(c.o.Timeout)
	defer t.Stop()
	for answered := false; !answered; {
		select {
		case s, ok := <-c.chain.recvChan:
			if !ok {
				return m, c.disconnected()
			}
			err = c.chain.receive(s.Payload, func(raw []byte) (err error) {
				if answered {
					return c.unexpected(c.chain, m.kind)
				}
				answered = true
				if m, err = readChain(raw, c.headers); err != nil {
					return c.malformed(c.chain, err)
				}
				return nil
			})
			if err != nil {
				return m, err
			}
		case <-t.C:
			return m, c.timedOut(to)
		case <-ctx.Done():
			return m, ctx.Err()
		}
	}
	return m, nil
}
