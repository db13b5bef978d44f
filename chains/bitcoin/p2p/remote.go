package p2p

import (
	"context"
	"errors"
	"fmt"
	"net"
	"runtime/debug"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/peer"
	"github.com/btcsuite/btcd/wire/v2"
)

const (
	// patience is the number of useless messages that a peer may send at once, and calm how many more per second.
	patience = 1000
	calm     = 5
	// costOfBlock is the number of useless messages that an unrequested block counts as.
	costOfBlock = 100
	// costOfHeaders is the same for a full headers message with only known headers.
	costOfHeaders = 20
)

// remote is one connection to a peer. The network's mutex guards its fields.
type remote struct {
	n    *Network
	at   *endpoint
	peer *peer.Peer
	sock *socket

	ready  bool  // the handshake is complete
	over   bool  // dropped
	claims int32 // its claimed height
	full   bool  // it has all blocks, not only the newest

	// Its chain: see headers.go.
	best     *node     // the newest block that it is known to have; nil: none
	asked    time.Time // time of an unanswered headers request; zero: none
	since    *node     // start of that request
	again    bool      // something was announced meanwhile
	reported bool      // it has reported its chain, or did not in time
	silent   bool      // it did not answer
	behind   bool      // its chain ends below the base
	checking bool      // the work of its headers is being checked
	orphans  int       // consecutive times that its headers had an unknown parent
	side     int       // number of its headers on chains that are not the best

	// Blocks: see fetch.go.
	wanted map[chainhash.Hash][]want
	moved  time.Time // when it last sent a block, or got the first request
	lacks  map[chainhash.Hash]bool
	others int // unrequested blocks since the last requested one

	addresses int     // number of addresses received
	useless   float64 // useless messages, decaying over time
	counted   time.Time
}

// serve handles a peer until the connection ends.
func (n *Network) serve(ctx context.Context, e *endpoint, conn net.Conn) {
	r := &remote{n: n, at: e, wanted: map[chainhash.Hash][]want{}, lacks: map[chainhash.Hash]bool{}}
	r.sock = &socket{Conn: conn, magic: n.o.Params.Net, maxBlock: n.o.Format.MaxSize}
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
		AllowSelfConns:      true, // we do not listen, so no peer is this process
		DisableStallHandler: true, // watch.go is stricter, and adapts to slow lines
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
	n.mu.Lock()
	if err != nil || n.closed {
		n.connectionEnded(e, disconnected, "has an address that cannot be used")
		n.mu.Unlock()
		_ = conn.Close()
		return
	}
	r.peer = p
	n.remotes[r] = true
	n.mu.Unlock()

	p.AssociateConnection(r.sock)
	late := time.AfterFunc(n.o.Handshake, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		if !r.ready {
			n.drop(r, disconnected, fmt.Sprintf("did not send its version within %s", n.o.Handshake))
		}
	})
	defer late.Stop()
	select {
	case <-p.Done():
	case <-ctx.Done():
	}
	n.mu.Lock()
	reason := "closed the connection"
	if !r.ready {
		reason = fmt.Sprintf("closed the connection before its version was exchanged: expected a peer of %s", n.o.Params.Name)
	}
	n.drop(r, disconnected, reason)
	n.mu.Unlock()
	<-p.Done()
}

// locked handles a message with the mutex held, unless the connection was dropped. btcd silently recovers from panics.
func (r *remote) locked(do func()) {
	r.n.mu.Lock()
	defer r.n.mu.Unlock()
	defer func() {
		if p := recover(); p != nil {
			r.n.o.Log.Error("internal error in the handling of a message", "peer", r.at.address, "panic", p, "stack", string(debug.Stack()))
			r.n.drop(r, useless, "caused an internal error")
		}
	}()
	if !r.over {
		do()
	}
}

// netAddress returns an address for the version message.
func netAddress(host string, port uint16, services wire.ServiceFlag) (*wire.NetAddressV2, error) {
	address, err := net.ResolveIPAddr("ip", host) // an IP address: no DNS query
	if err != nil {
		return nil, err
	}
	return wire.NetAddressV2FromBytes(time.Now(), services, address.IP, port), nil
}

// drop ends a connection, once, and frees its requests.
func (n *Network) drop(r *remote, how exitReason, reason string) {
	if r.over {
		return
	}
	r.over = true
	delete(n.remotes, r)
	if r.ready && n.ready() == 0 {
		n.noPeerSince = time.Now()
	}
	for _, wants := range r.wanted {
		for _, w := range wants {
			if w.f.from == r {
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
	_ = r.sock.Close() // ends the peer
}

func (r *remote) ban(format string, args ...any) {
	r.n.drop(r, misbehaved, fmt.Sprintf(format, args...))
}

// height returns the height of the newest block that it is known to have.
func (r *remote) height() int32 {
	if r.best == nil {
		return r.claims
	}
	return r.best.height
}

// onRead sees every message, and errors of reading.
func (r *remote) onRead(m wire.Message, err error) {
	n := r.n
	switch m.(type) {
	case *wire.MsgHeaders, *wire.MsgPong:
		return // counted later, when their use is known
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

// penalize counts useless messages and drops a peer that floods us with them.
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
	r.ready = true
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
