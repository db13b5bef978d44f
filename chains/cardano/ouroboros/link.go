package ouroboros

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"net"
	"time"

	"github.com/blinklabs-io/gouroboros/connection"
	"github.com/blinklabs-io/gouroboros/muxer"
	"github.com/blinklabs-io/gouroboros/protocol"
	"github.com/blinklabs-io/gouroboros/protocol/handshake"

	"birthmark/chains/cardano/cbor"
)

// Numbers of the protocols on a connection.
const (
	chainSyncToNode   = 2
	blockFetchToNode  = 3
	chainSyncToClient = 5
	keepAliveToNode   = 8
)

// link is a connection that has shaken hands: a channel of segments each way for each protocol.
type link struct {
	mux           *muxer.Muxer
	closed        chan bool // when the multiplexer stops
	handshakeDone <-chan struct{}
}

// calm is a connection that is read in large pieces, and whose reader waits for as long as it has to: the multiplexer
// would give up a node that has nothing to say for two minutes, which is what a chain at its tip may well do.
type patientConn struct {
	net.Conn
	r       *bufio.Reader
	started bool
}

func (c *patientConn) SetReadDeadline(time.Time) error { return nil }

// Read ends where what comes first is no segment of a handshake. The multiplexer would wait for as much of it as its
// second word says.
func (c *patientConn) Read(p []byte) (int, error) {
	if !c.started {
		const head, protocol, answer = 8, 4, 0x8000
		first, err := c.r.Peek(head)
		if err != nil {
			return 0, err
		}
		if binary.BigEndian.Uint16(first[protocol:]) != answer {
			first, _ = c.r.Peek(c.r.Buffered())
			return 0, fmt.Errorf("it said %q", excerpt(string(first[:min(len(first), 40)])))
		}
		c.started = true
	}
	return c.r.Read(p)
}

// shake shakes hands over a connection, which is closed where that fails.
func (c *Conn) handshake(ctx context.Context, conn net.Conn) error {
	mux := muxer.New(&patientConn{Conn: conn, r: bufio.NewReaderSize(conn, 64<<10)})
	mode := protocol.ProtocolModeNodeToClient
	if c.headers {
		mode = protocol.ProtocolModeNodeToNode
	}
	failed := make(chan error, 10)
	agreed := make(chan protocol.VersionData, 1)
	config := handshake.NewConfig(
		handshake.WithProtocolVersionMap(protocol.GetProtocolVersionMap(mode, c.o.Magic, protocol.DiffusionModeInitiatorOnly, false, false)),
		handshake.WithTimeout(0),
		handshake.WithFinishedFunc(func(_ handshake.CallbackContext, _ uint16, data protocol.VersionData) error {
			agreed <- data
			return nil
		}),
	)
	options := protocol.ProtocolOptions{
		ConnectionId: connection.ConnectionId{LocalAddr: conn.LocalAddr(), RemoteAddr: conn.RemoteAddr()},
		Muxer:        mux, ErrorChan: failed, Mode: mode, Role: protocol.ProtocolRoleClient,
	}
	client := handshake.New(options, &config).Client
	client.Start()
	mux.StartOnce()
	c.link = link{mux: mux, handshakeDone: client.DoneChan()}

	t := time.NewTimer(c.o.Timeout)
	defer t.Stop()
	var err error
	select {
	case data := <-agreed:
		if data.NetworkMagic() != c.o.Magic {
			err = c.wrongNetwork("it is on the network with the magic %d", data.NetworkMagic())
		}
	case err = <-failed:
		err = c.handshakeRefused(err)
	case err = <-mux.ErrorChan():
		err = c.handshakeEnded(err)
	case <-t.C:
		err = c.timedOut("the handshake")
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		c.Close()
		return err
	}
	if c.headers {
		c.chain = c.register(chainSyncToNode, "chain-sync")
		c.fetch = c.register(blockFetchToNode, "block-fetch")
		c.alive = c.register(keepAliveToNode, "keep-alive")
	} else {
		c.chain = c.register(chainSyncToClient, "chain-sync")
	}
	mux.SetDiffusionMode(muxer.DiffusionModeInitiator)
	mux.Start()
	return nil
}

// maxMessage is more bytes than any message has: a block has at most 2 MB, in Byron.
const maxMessage = 4 << 20

var errTooLarge = fmt.Errorf("it has more than %d bytes", maxMessage)

// messageSize is [cbor.Skipper.Skip] for messages.
func messageSize(s *cbor.Skipper, b []byte) (size int, err error) {
	if size, err = s.Skip(b); size > maxMessage {
		err = errTooLarge
	}
	return size, err
}

// segment is what a protocol was sent, of any number of messages.
type segment = *muxer.Segment

// mailbox is one protocol's end of a link.
type inbox struct {
	c        *Conn
	id       uint16
	name     string
	sendChan chan<- segment
	recvChan <-chan segment
	buffer   []byte // the beginning of a message
	need     int    // bytes it has at least
	skip     cbor.Skipper
}

func (c *Conn) register(id uint16, name string) *inbox {
	m := &inbox{c: c, id: id, name: name}
	m.sendChan, m.recvChan, c.closed = c.mux.RegisterProtocol(id, muxer.ProtocolRoleInitiator)
	return m
}

// post sends messages, at most a segment of them.
func (m *inbox) send(ctx context.Context, messages []byte) error {
	if m.sendChan == nil {
		return m.c.disconnected()
	}
	select {
	case m.sendChan <- muxer.NewSegment(m.id, messages, false):
		return nil
	case <-m.c.closed:
		return m.c.disconnected()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// take gives each message that a segment makes whole to f. They are never written again.
func (m *inbox) receive(segment []byte, f func(message []byte) error) error {
	b := segment
	if len(m.buffer) > 0 {
		if cap(m.buffer)-len(m.buffer) < len(segment) {
			grown := make([]byte, len(m.buffer), max(2*len(m.buffer), m.need)+len(segment))
			copy(grown, m.buffer)
			m.buffer = grown
		}
		m.buffer = append(m.buffer, segment...)
		b = m.buffer
		if len(b) < m.need {
			return nil
		}
	}
	for len(b) > 0 {
		size, err := messageSize(&m.skip, b)
		if err == cbor.ErrShort {
			m.need = size
			break
		}
		if err != nil {
			return m.c.malformed(m, err)
		}
		if err := f(b[:size:size]); err != nil {
			return err
		}
		b = b[size:]
	}
	m.buffer = b // more is written behind it, never over what was handed out
	return nil
}
