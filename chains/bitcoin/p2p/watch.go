package p2p

import (
	"context"
	"fmt"
	"time"
)

// slowest is the maximum factor by which the timeout of blocks grows on a slow connection.
const slowest = 64

// again is the time in periods of [Options.Stall] after which headers are requested again from a peer that did not
// answer, or whose chain ended below the base.
const again = 6

// watch drops stalled peers, and wakes callers periodically, so that they notice timeouts.
func (n *Network) watch(ctx context.Context) {
	tick := time.NewTicker(max(n.o.Stall/8, time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		n.locked(func() {
			for r := range n.remotes {
				r.inspect(time.Now())
			}
			n.changed()
		})
	}
}

// inspect drops a peer whose requested blocks have timed out: no block has arrived, and not a MiB of a large one. If
// requested headers have timed out, a discovered peer is dropped. A configured peer is marked as silent, and headers are
// requested again later, since it may still be loading its chain.
func (r *remote) inspect(now time.Time) {
	n := r.n
	switch {
	case !r.ready || r.over || r.checking:
	case len(r.wanted) > 0 && now.Sub(r.moved) > n.stall && now.UnixNano()-r.sock.arrived.Load() > int64(n.stall):
		if r.others > 0 {
			r.ban("sent other blocks than requested, and none of these for %s", n.stall.Round(time.Millisecond))
			return
		}
		reason := fmt.Sprintf("sent no block for %s, %d requested", n.stall.Round(time.Millisecond), len(r.wanted))
		n.stall = min(2*n.stall, slowest*n.o.Stall)
		n.drop(r, stalled, reason)
	case !r.asked.IsZero() && now.Sub(r.asked) > n.o.Stall && !r.silent:
		if len(n.named) == 0 {
			n.drop(r, stalled, fmt.Sprintf("sent no headers for %s", n.o.Stall))
			return
		}
		r.silent = true
		if r.again {
			r.getHeaders()
		}
		r.headersDone()
	case (r.silent || r.behind) && now.Sub(r.asked) > again*n.o.Stall:
		r.getHeaders()
	}
}
