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

	"birthmark/chains/blocksource"
	"birthmark/model"
)

// fate is how a connection ended, or the try to make one.
type fate uint8

const (
	lost    fate = iota // for want of a connection
	stalled             // it did not send what it was asked for
	useless             // it serves nothing we want
	lied                // it sent what no honest peer sends
)

// endpoint is an address of a peer, and what is held against it.
type endpoint struct {
	address string
	busy    bool // somebody is connecting to it, or connected
	tried   bool // it was heard, or could not be
	lied    bool
	fails   int // times in a row without use
	stalls  int
	next    time.Time // not to be tried before
	reason  string    // why the last connection ended
}

// triesLong is how many times [Options.Handshake] is given to the addresses that were found, which may be hundreds.
const triesLong = 3

// ended notes how a connection ended and when it is tried again.
func (n *Network) ended(e *endpoint, how fate, reason string) {
	e.busy, e.tried, e.reason = false, true, reason
	wait := n.o.Most
	switch how {
	case lied:
		e.lied = true
	case lost:
		wait = min(n.o.First<<min(e.fails, 16), n.o.Most)
		e.fails++
	case stalled:
		wait = min(n.o.First<<min(e.stalls, 16), n.o.Most)
		if n.ready() > 0 {
			wait = n.o.Penalty << min(e.stalls, 6)
		}
		e.stalls++
	}
	e.next = time.Now().Add(time.Duration(float64(wait) * (0.5 + rand.Float64())))
	if len(n.named) == 0 && (e.lied || e.fails >= 3 || how == useless) {
		n.finding.refused(e)
		n.pool = slices.DeleteFunc(n.pool, func(o *endpoint) bool { return o == e })
	}
	n.changed()
}

// connect keeps one connection after the other until ctx ends.
func (n *Network) connect(ctx context.Context) {
	for {
		e := n.pick(ctx)
		if e == nil {
			return
		}
		dialer := net.Dialer{Timeout: n.o.Handshake}
		conn, err := dialer.DialContext(ctx, "tcp", e.address)
		if err != nil {
			n.mu.Lock()
			n.o.Log.Debug("a peer cannot be reached", "peer", e.address, "reason", short(err))
			n.ended(e, lost, short(err))
			n.mu.Unlock()
			continue
		}
		n.serve(ctx, e, conn)
	}
}

// pick waits for an endpoint that can be tried. nil: ctx has ended.
func (n *Network) pick(ctx context.Context) *endpoint {
	for ctx.Err() == nil {
		n.mu.Lock()
		var first *endpoint
		for _, e := range n.pool {
			if !e.busy && !e.lied && (first == nil || e.next.Before(first.next)) {
				first = e
			}
		}
		wait := time.Hour
		if first != nil {
			wait = time.Until(first.next)
		} else {
			n.finding.wanted = true
		}
		if wait <= 0 {
			first.busy = true
			n.mu.Unlock()
			return first
		}
		wake := n.wake
		n.mu.Unlock()
		timer := time.NewTimer(wait)
		select {
		case <-wake:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return nil
}

// ready is how many peers are connected.
func (n *Network) ready() int {
	count := 0
	for r := range n.remotes {
		if r.ready {
			count++
		}
	}
	return count
}

// trouble is why there is no chain to be had: nil while a peer is connected or being tried for.
func (n *Network) trouble() error {
	if n.ready() > 0 || len(n.named) == 0 && n.finding.busy() {
		return nil
	}
	lying := 0
	for _, e := range n.pool {
		switch {
		case e.lied:
			lying++
		case (e.busy || !e.tried) && (len(n.named) > 0 || time.Since(n.alone) < triesLong*n.o.Handshake):
			return nil
		}
	}
	if len(n.named) > 0 && lying == len(n.pool) {
		return model.Errorf(model.BadSource, "bad_peer", "every peer was dropped: %s", n.shown())
	}
	if len(n.pool) == 0 {
		return blocksource.Temporary(model.Errorf(model.BadSource, "unreachable", "no peer of %s was found: %s", n.o.Params.Name, n.finding.reason))
	}
	return blocksource.Temporary(model.Errorf(model.BadSource, "unreachable", "no peer can be reached: %s", n.shown()))
}

// lonely is trouble that has lasted, or will for ever.
func (n *Network) lonely() error {
	err := n.trouble()
	if blocksource.IsTemporary(err) && time.Since(n.alone) < n.o.Stall {
		return nil
	}
	return err
}

// shown are some of the peers with what is held against them.
func (n *Network) shown() string {
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

// short is why a connection could not be made, without what everybody can see from the address.
func short(err error) string {
	dns, isDNS := errors.AsType[*net.DNSError](err)
	errno, isErrno := errors.AsType[syscall.Errno](err)
	switch {
	case isDNS && dns.IsNotFound:
		return "is no host that is known"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return "does not answer"
	case isErrno:
		return "cannot be connected to: " + errno.Error()
	}
	return "cannot be connected to: " + err.Error()
}
