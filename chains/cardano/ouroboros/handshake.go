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
)

// patientConn reads a connection in large pieces and without deadlines: the multiplexer would close a connection that is
// idle for two minutes, which is normal for a chain at its tip.
type patientConn struct {
	net.Conn
	r       *bufio.Reader
	started bool
}

func (c *patientConn) SetReadDeadline(time.Time) error { return nil }

// Read fails if the first data is not a handshake segment. The multiplexer would wait for as many bytes as its second
// word states.
func (c *patientConn) Read(p []byte) (int, error) {
	if !c.started {
		const head, protocol, answer = 8, 4, 0x8000
		first, err := c.r.Peek(head)
		if err != nil {
			return 0, err
		}
		if binary.BigEndian.Uint16(first[protocol:]) != answer {
			first, _ = c.r.Peek(c.r.Buffered())
			return 0, fmt.Errorf("it answered %q", excerpt(string(first[:min(len(first), 40)])))
		}
		c.started = true
	}
	return c.r.Read(p)
}

// handshake performs the handshake over a connection. It closes the connection if that fails.
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
		c.monitor = c.register(monitorToClient, "local-tx-monitor")
		c.submission = c.register(submissionToClient, "local-tx-submission")
		c.state = c.register(stateToClient, "local-state-query")
		c.state.most = maxState
	}
	mux.SetDiffusionMode(muxer.DiffusionModeInitiator)
	mux.Start()
	return nil
}
