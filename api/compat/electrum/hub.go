package electrum

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"birthmark/api/compat/wallet"
	"birthmark/core/meter"
	"birthmark/model"
)

// hub distributes the changes of the chain to the connections with subscriptions. It never waits for a client: it marks
// the changed subscriptions of a connection and wakes it.
type hub struct {
	events  atomic.Uint64 // changes so far
	mu      sync.Mutex
	watched map[wallet.Key]*watched
	conns   map[*conn]bool // with a subscription; true: woken by each event
}

// watched is a script with subscribers. Its midstate and status are shared by them.
type watched struct {
	by      []*conn
	changed uint64 // the event that last changed the script
	mid     *wallet.Midstate
	tip     model.Point // of status
	status  status
	busy    chan struct{} // closed when the status is computed; nil: nobody computes it
}

// run distributes changes until ctx ends.
func (h *hub) run(ctx context.Context, chain *wallet.Chain) {
	for e := range chain.Changes(ctx) {
		h.change(e)
	}
}

func (h *hub) change(e wallet.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	now := h.events.Add(1)
	for c, always := range h.conns {
		if e.NewTip || e.All || always {
			c.wakeUp(e.All)
		}
	}
	mark := func(key wallet.Key, w *watched) {
		w.changed, w.status.known = now, false
		for _, c := range w.by {
			c.markDirty(key)
		}
	}
	if !e.All && len(e.Touched) < len(h.watched) {
		for key := range e.Touched {
			if w := h.watched[key]; w != nil {
				mark(key, w)
			}
		}
		return
	}
	for key, w := range h.watched {
		if _, ok := e.Touched[key]; ok || e.All {
			mark(key, w)
		}
	}
}

// join adds a connection, which is woken for each new tip, or for each event if always is set. since is the event count
// before the moment that the connection has seen: if an event came after it, the connection is woken at once.
func (h *hub) join(c *conn, always bool, since uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns[c] = h.conns[c] || always
	if h.events.Load() != since {
		c.wakeUp(false)
	}
}

// watch adds a subscriber of a script; since is as for join.
func (h *hub) watch(key wallet.Key, c *conn, since uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()

	w := h.watched[key]
	if w == nil {
		w = &watched{changed: h.events.Load()}
		h.watched[key] = w
	}
	w.by = append(w.by, c)
	if h.events.Load() != since {
		c.markDirty(key)
	}
}

// unwatch removes a subscriber of a script.
func (h *hub) unwatch(key wallet.Key, c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.remove(key, c)
}

// remove removes a subscriber. mu is held.
func (h *hub) remove(key wallet.Key, c *conn) {
	w := h.watched[key]
	if i := slices.Index(w.by, c); i >= 0 {
		w.by = slices.Delete(w.by, i, i+1)
	}
	if len(w.by) == 0 {
		delete(h.watched, key)
	}
}

// leave removes a connection with all its subscriptions.
func (h *hub) leave(c *conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.conns, c)
	for key := range c.subs {
		h.remove(key, c)
	}
}

// statusOf returns the status of a script in a view; since is the event count before the view. The status of a watched
// script is kept until an event changes it. After an event one connection computes it, and the others wait.
func (h *hub) statusOf(ctx context.Context, v *wallet.View, key wallet.Key, since uint64) (st status, err error) {
	h.mu.Lock()
	w := h.watched[key]
	for w != nil && !(w.status.known && w.tip == v.Tip) && w.busy != nil {
		busy := w.busy
		h.mu.Unlock()
		meter.Of(ctx).Pause() // the other connection may wait for a place
		select {
		case <-busy:
		case <-ctx.Done():
			return st, context.Cause(ctx)
		}
		h.mu.Lock()
		w = h.watched[key]
	}
	var mid *wallet.Midstate
	if w != nil {
		if w.status.known && w.tip == v.Tip {
			defer h.mu.Unlock()
			return w.status, nil
		}
		mid, w.busy = w.mid, make(chan struct{})
		defer func() { // also after a panic
			h.mu.Lock()
			defer h.mu.Unlock()
			close(w.busy)
			if w.busy = nil; st.known && w.changed <= since {
				w.mid, w.tip, w.status = mid, v.Tip, st
			}
		}()
	}
	h.mu.Unlock()
	st, mid, err = h.compute(v, key, mid)
	return st, err
}

// compute returns the status of a script in a view, and its next midstate.
func (h *hub) compute(v *wallet.View, key wallet.Key, mid *wallet.Midstate) (st status, _ *wallet.Midstate, err error) {
	script, err := v.Script(key)
	if err != nil {
		return st, nil, err
	}
	st.hash, st.used, mid, err = script.Status(mid)
	st.known = err == nil
	return st, mid, err
}
