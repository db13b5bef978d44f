package p2p

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/peer"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/guard"
)

const (
	// patience is the number of useless messages that a peer may send in a burst, and calm the number per second that
	// it may send in addition.
	patience = 1000
	calm     = 5
	// costOfBlock is the number of useless messages as which an unrequested block counts.
	costOfBlock = 100
	// costOfHeaders is the number as which a full message of known headers counts.
	costOfHeaders = 20
)

// remote is a connection to a peer. The mutex of the network guards its fields.
type remote struct {
	n    *Network
	at   *endpoint
	peer *peer.Peer
	sock *socket

	ready  bool  // the handshake is complete
	over   bool  // the peer was dropped
	claims int32 // the height that the peer claims
	full   bool  // the peer serves all blocks, not only the newest

	// Its chain: see headers.go.
	best     *node     // the newest block that the peer is known to have; nil: none
	asked    time.Time // time of the pending request of headers; zero: none
	since    *node     // the block after which that request begins
	again    bool      // the peer has announced an unknown block since
	reported bool      // the peer has sent all its headers, or the request has timed out
	silent   bool      // the request has timed out
	behind   bool      // the chain of the peer ends below the base
	checking bool      // the proof of work of headers is being validated
	orphans  int       // consecutive messages whose headers had an unknown parent
	side     int       // number of headers of chains that are not the best

	// Blocks: see fetch.go.
	wanted map[chainhash.Hash][]want
	moved  time.Time               // when the last requested block arrived, or the first one was requested
	lacks  map[chainhash.Hash]bool // blocks that the peer does not have
	others int                     // number of unrequested blocks since the last requested one

	addresses int       // number of received addresses
	useless   float64   // number of useless messages, which decreases over time
	counted   time.Time // when useless was updated
}

// serve handles a connection to a peer until it ends.
func (n *Network) serve(ctx context.Context, e *endpoint, conn net.Conn) {
	r := &remote{n: n, at: e, wanted: map[chainhash.Hash][]want{}, lacks: map[chainhash.Hash]bool{}}
	r.sock = &socket{Conn: conn, magic: n.o.Params.Net, maxBlock: n.o.Format.MaxSize, held: &n.held}
	r.sock.permit = func(head []byte, size int64) (err error) {
		err = net.ErrClosed // of a dropped peer
		r.locked(func() { err = r.permit(head, size) })
		return err
	}
	r.sock.onBlock = func(raw []byte, err error) {
		r.locked(func() {
			if err != nil {
				r.ban("sent an invalid message of %s: %v", n.o.Params.Name, err)
				return
			}
			r.onBlock(raw)
		})
	}
	p, err := peer.NewOutboundPeer(&peer.Config{
		ChainParams:         n.o.Params,
		UserAgentName:       "birthmark",
		UserAgentVersion:    "1",
		DisableRelayTx:      true,
		AllowSelfConns:      true, // this process does not listen, so it cannot connect to itself
		DisableStallHandler: true, // watch.go has shorter timeouts and adapts them to slow connections
		HostToNetAddress:    netAddress,
		Listeners: peer.MessageListeners{
			OnRead: func(_ *peer.Peer, _ int, m wire.Message, err error) { r.locked(func() { r.onRead(m, err) }) },
			OnVersion: func(_ *peer.Peer, m *wire.MsgVersion) *wire.MsgReject {
				r.locked(func() { r.onVersion(m) })
				return nil
			},
			OnVerAck: func(*peer.Peer, *wire.MsgVerAck) { r.locked(r.onVerAck) },
			OnHeaders: func(_ *peer.Peer, m *wire.MsgHeaders) {
				err := r.checkWork(m)
				r.locked(func() { r.onHeaders(m, err) })
			},
			OnInv:        func(_ *peer.Peer, m *wire.MsgInv) { r.locked(func() { r.onInv(m) }) },
			OnNotFound:   func(_ *peer.Peer, m *wire.MsgNotFound) { r.locked(func() { r.onNotFound(m) }) },
			OnAddr:       func(_ *peer.Peer, m *wire.MsgAddr) { r.locked(func() { r.onAddr(m) }) },
			OnAddrV2:     func(_ *peer.Peer, m *wire.MsgAddrV2) { r.locked(func() { r.onAddrV2(m) }) },
			OnGetHeaders: func(p *peer.Peer, _ *wire.MsgGetHeaders) { p.QueueMessage(wire.NewMsgHeaders(), nil) },
		},
	}, conn.RemoteAddr().String())
	usable := false
	n.locked(func() {
		if usable = err == nil && !n.closed; usable {
			r.peer = p
			n.remotes[r] = true
			return
		}
		n.connectionEnded(e, disconnected, "has an address that cannot be used")
	})
	if !usable {
		_ = conn.Close()
		return
	}
	p.AssociateConnection(r.sock)
	late := time.AfterFunc(n.o.Handshake, func() {
		r.locked(func() {
			if !r.ready {
				n.drop(r, disconnected, fmt.Sprintf("did not send its version within %s", n.o.Handshake))
			}
		})
	})
	defer late.Stop()
	select {
	case <-p.Done():
	case <-ctx.Done():
	}
	n.locked(func() {
		reason := "closed the connection"
		if !r.ready {
			reason = fmt.Sprintf("closed the connection before its version was exchanged: expected a peer of %s", n.o.Params.Name)
		}
		n.drop(r, disconnected, reason)
	})
	<-p.Done()
}

// locked calls do with the mutex held, unless the peer was dropped. A panic drops the peer, and ends the network if it
// was being dropped.
func (r *remote) locked(do func()) {
	n := r.n
	guarded := func(do func()) error { return guard.Do(n.o.Log, "the messages of a peer", do) }
	n.locked(func() {
		if r.over {
			return
		}
		err := guarded(do)
		if err != nil && !r.over {
			err = guarded(func() { n.drop(r, useless, "caused an internal error") })
		}
		n.fail(err)
	})
}

// netAddress returns an address for the version message. host is an IP address.
func netAddress(host string, port uint16, services wire.ServiceFlag) (*wire.NetAddressV2, error) {
	address, err := net.ResolveIPAddr("ip", host) // no DNS query
	if err != nil {
		return nil, err
	}
	return wire.NetAddressV2FromBytes(time.Now(), services, address.IP, port), nil
}

// drop closes the connection to a peer and frees its requests. Later calls have no effect.
func (n *Network) drop(r *remote, how exitReason, reason string) {
	if r.over {
		return
	}
	r.over = true
	defer r.sock.Close() // ends the peer, after a panic too
	delete(n.remotes, r)
	if r.ready && n.ready() == 0 {
		n.noPeerSince = time.Now()
	}
	for _, wants := range r.wanted {
		for _, w := range wants {
			if w.f.from == r && how != declined {
				w.f.failed++
			}
			w.freed()
		}
	}
	r.wanted = nil
	log := n.o.Log.Info
	switch {
	case how == misbehaved, how == stalled:
		log = n.o.Log.Warn
	case n.closed, !r.ready:
		log = n.o.Log.Debug
	}
	log("a peer was dropped", "peer", r.at.address, "reason", reason)
	n.connectionEnded(r.at, how, reason)
	n.choose()
	n.requestHeaders()
}

// permit returns an error if a large block is not read: it is not requested alone, or does not fit into the memory. The
// connection then ends, since the block would be received for nothing.
func (r *remote) permit(head []byte, size int64) error {
	n := r.n
	hash := chainhash.Hash(n.o.Format.HashOf(head))
	failed := errUnrequested
	for _, w := range r.wanted[hash] {
		if w.f.done {
			continue
		}
		if failed = w.f.permit(w.i, size, n.o.Room); failed != nil {
			w.f.fault = failed
		}
		break
	}
	switch {
	case failed == nil:
	case len(r.wanted[hash]) == 0:
		r.ban("sent an unrequested block of %d bytes", size)
	default:
		n.drop(r, declined, "sends a large block that is not read now")
		n.changed()
	}
	return failed
}

var errUnrequested = errors.New("the block was not requested")

// ban drops a peer because it misbehaved. The format and its arguments are the reason.
func (r *remote) ban(format string, args ...any) {
	r.n.drop(r, misbehaved, fmt.Sprintf(format, args...))
}

// height returns the height of the newest block that the peer is known to have, else the height that it claims.
func (r *remote) height() int32 {
	if r.best == nil {
		return r.claims
	}
	return r.best.height
}

// onRead is called for each message, and for errors of the connection.
func (r *remote) onRead(m wire.Message, err error) {
	n := r.n
	switch m.(type) {
	case *wire.MsgHeaders, *wire.MsgPong:
		return // counted when they are handled
	}
	_, malformed := errors.AsType[*wire.MessageError](err)
	switch {
	case err == nil, errors.Is(err, wire.ErrUnknownMessage):
		r.penalize(1, "unrequested messages")
	case malformed, !r.sock.broken.Load():
		r.ban("sent an invalid message of %s: %v", n.o.Params.Name, err)
	case !errors.Is(err, net.ErrClosed) && r.ready:
		n.drop(r, disconnected, "lost the connection: "+err.Error())
	}
}

// penalize adds cost to the number of useless messages, and drops the peer if it sends too many.
func (r *remote) penalize(cost float64, what string) {
	now := time.Now()
	if !r.counted.IsZero() {
		r.useless = max(0, r.useless-calm*now.Sub(r.counted).Seconds())
	}
	r.counted = now
	if r.useless += cost; r.useless > patience {
		r.ban("sent a flood of %s", what)
	}
}

func (r *remote) onVersion(m *wire.MsgVersion) {
	n := r.n
	r.claims = m.LastBlock
	r.full = m.Services&wire.SFNodeNetwork != 0
	switch {
	case !r.full && m.Services&wire.SFNodeNetworkLimited == 0:
		n.drop(r, useless, "serves no blocks")
	case n.o.Services&^m.Services&wire.SFNodeWitness != 0:
		n.drop(r, useless, "serves no witnesses")
	case n.o.Services&^m.Services != 0:
		n.drop(r, useless, fmt.Sprintf("does not serve whole blocks: it lacks the service bits %#x", uint64(n.o.Services&^m.Services)))
	}
}

func (r *remote) onVerAck() {
	n := r.n
	r.ready, r.at.connected = true, true
	if n.met.IsZero() {
		n.met = time.Now()
	}
	r.peer.QueueMessage(wire.NewMsgSendHeaders(), nil)
	if len(n.named) == 0 {
		r.peer.QueueMessage(wire.NewMsgGetAddr(), nil)
	}
	n.o.Log.Debug("a peer is connected", "peer", r.at.address, "height", r.claims)
	n.requestHeaders()
	n.changed()
}
