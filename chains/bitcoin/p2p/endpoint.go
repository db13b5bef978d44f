package p2p

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"birthmark/chains/adapter"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// exitReason is the reason for the end of a connection or of an attempt to connect.
type exitReason uint8

const (
	disconnected exitReason = iota // no connection
	stalled                        // it did not send what was requested
	useless                        // it does not offer the required services
	misbehaved                     // it sent data that no honest peer sends
	declined                       // it sent a requested block that is not read: it is connected again at once
)

// endpoint is the address of a peer and the history of its connections.
type endpoint struct {
	address string
	busy    bool // connected, or being connected
	tried   bool // the first attempt has ended

	connected bool // a handshake was complete, so this is a peer of the network
	banned    bool
	fails     int       // consecutive attempts after which the peer sent nothing useful
	stalls    int       // consecutive stalls
	next      time.Time // earliest time of the next attempt
	reason    string    // why the last connection ended
}

// triesLong is the time in periods of [Options.Handshake] after which discovered addresses that were not tried yet no
// longer count: there may be hundreds of them.
const triesLong = 3

// connectionEnded records the end of a connection and schedules the next attempt.
func (n *Network) connectionEnded(e *endpoint, how exitReason, reason string) {
	e.busy, e.tried, e.reason = false, how != declined, reason
	wait := n.o.Most
	switch how {
	case misbehaved:
		e.banned = true
	case disconnected:
		wait = min(n.o.First<<min(e.fails, 16), n.o.Most)
		e.fails++
	case stalled:
		wait = min(n.o.First<<min(e.stalls, 16), n.o.Most)
		if n.ready() > 0 {
			wait = n.o.Penalty << min(e.stalls, 6)
		}
		e.stalls++
	case declined:
		wait = 0
	}
	e.next = time.Now().Add(time.Duration(float64(wait) * (0.5 + rand.Float64())))
	if len(n.named) == 0 && (e.banned || e.fails >= 3 || how == useless) {
		n.discovery.refused(e)
		n.pool = slices.DeleteFunc(n.pool, func(o *endpoint) bool { return o == e })
	}
	n.changed()
}

// connect connects to one peer after another until ctx ends.
func (n *Network) connect(ctx context.Context) {
	for {
		e := n.pick(ctx)
		if e == nil {
			return
		}
		dialing, cancel := context.WithTimeout(ctx, n.o.Handshake)
		conn, err := n.dial(dialing, "tcp", e.address)
		cancel()
		if err != nil {
			n.locked(func() {
				n.o.Log.Debug("a peer cannot be reached", "peer", e.address, "reason", short(err))
				n.connectionEnded(e, disconnected, short(err))
			})
			continue
		}
		n.serve(ctx, e, conn)
	}
}

// pick waits for an endpoint that can be tried and returns it. It returns nil after the end of ctx.
func (n *Network) pick(ctx context.Context) *endpoint {
	for ctx.Err() == nil {
		var first *endpoint
		var wake chan struct{}
		due := time.Hour
		n.locked(func() {
			for _, e := range n.pool {
				if !e.busy && !e.banned && (first == nil || e.next.Before(first.next)) {
					first = e
				}
			}
			if first == nil {
				n.discovery.wanted = true
			} else if due = time.Until(first.next); due <= 0 {
				first.busy = true
			}
			wake = n.wake
		})
		if due <= 0 {
			return first
		}
		_ = wait(ctx, wake, due)
	}
	return nil
}

// ready returns the number of connected peers.
func (n *Network) ready() int {
	count := 0
	for r := range n.remotes {
		if r.ready {
			count++
		}
	}
	return count
}

// connectionError returns the reason why no chain is available. It returns nil if a peer is connected or being tried.
func (n *Network) connectionError() error {
	if n.ready() > 0 || len(n.named) == 0 && n.discovery.busy() {
		return nil
	}
	banned := 0
	for _, e := range n.pool {
		switch {
		case e.banned:
			banned++
		case (e.busy || !e.tried) && (len(n.named) > 0 || time.Since(n.noPeerSince) < triesLong*n.o.Handshake):
			return nil
		}
	}
	if len(n.named) > 0 && banned == len(n.pool) {
		return model.Errorf(model.BadSource, "bad_peer", "every peer was dropped: %s", n.peerSummary())
	}
	if len(n.pool) == 0 {
		return blocksource.NoAnswer(model.Errorf(model.BadSource, "unreachable", "no peer of %s was found: %s%s",
			n.o.Params.Name, n.discovery.reason, n.remedy()))
	}
	err := model.Errorf(model.BadSource, "unreachable", "no peer can be reached: %s%s", n.peerSummary(), n.remedy())
	if slices.ContainsFunc(n.pool, func(e *endpoint) bool { return e.connected }) {
		return blocksource.Temporary(err)
	}
	return blocksource.NoAnswer(err)
}

// remedy returns the end of an error message about peers that cannot be found or reached: how to reach one.
func (n *Network) remedy() string {
	if len(n.named) > 0 {
		refused := func(e *endpoint) bool { return strings.HasPrefix(e.reason, cannotConnect) }
		if i := slices.IndexFunc(n.pool, refused); i >= 0 {
			return adapter.NodeDown(n.pool[i].address, n.o.Params.Name, n.o.Params.DefaultPort)
		}
		return ""
	}
	return fmt.Sprintf("; allow DNS and outgoing connections to port %[1]s, or name a peer: p2p://host:%[1]s",
		n.o.Params.DefaultPort)
}

// noPeersError returns the error of connectionError, if it is permanent or no peer was connected for [Options.Stall].
func (n *Network) noPeersError() error {
	err := n.connectionError()
	if blocksource.IsTemporary(err) && time.Since(n.noPeerSince) < n.o.Stall {
		return nil
	}
	return err
}

// peerSummary lists up to four peers with the reasons of their failures.
func (n *Network) peerSummary() string {
	const most = 4
	var all []string
	for _, e := range n.pool {
		reason := e.reason
		for r := range n.remotes {
			if r.at == e && r.ready {
				reason = fmt.Sprintf("has block %d", r.height())
			}
		}
		if len(all) < most && reason != "" {
			all = append(all, e.address+" "+reason)
		}
	}
	if rest := len(n.pool) - len(all); rest > 0 && len(all) == most {
		all = append(all, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(all, "; ")
}

// cannotConnect begins the reason of a peer that does not listen.
const cannotConnect = "cannot be connected to: "

// short returns the reason of a failed connection without the address, as a predicate whose subject is the peer.
func short(err error) string {
	dns, isDNS := errors.AsType[*net.DNSError](err)
	errno, isErrno := errors.AsType[syscall.Errno](err)
	failed, isNet := errors.AsType[*net.OpError](err)
	switch {
	case isDNS && dns.IsNotFound:
		return "is an unknown host"
	case isDNS && dns.IsTimeout:
		return "does not answer"
	case isDNS:
		return "cannot be resolved: " + dns.Err
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "does not answer"
	case isNet && strings.HasPrefix(failed.Op, "socks"):
		return "cannot be connected to through the proxy: " + failed.Err.Error()
	case isErrno:
		return cannotConnect + errno.Error()
	}
	if isNet {
		err = failed.Err // without the address
	}
	return cannotConnect + err.Error()
}
