package blockbook

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"birthmark/api/compat/wallet"
	"birthmark/chains/bitcoin/block"
	"birthmark/core/meter"
	"birthmark/internal/guard"
	"birthmark/model"
)

// maxAddresses is how many addresses a connection can subscribe to.
const maxAddresses = 10_000

// hub sends the changes of the chain to the connections that have subscribed to them. While there are none, it does not
// follow the chain.
type hub struct {
	server *Server

	mu        sync.Mutex
	blocks    map[*conn]json.RawMessage // the ids of subscriptions to blocks
	addresses map[*conn]*subscription
	watched   map[wallet.Key]*watch
	tip       model.Point        // the last one that was sent
	sent      model.Point        // up to which confirmed transactions were sent
	stop      context.CancelFunc // ends the follower; nil: it does not run
}

// subscription are the addresses of a connection.
type subscription struct {
	id        json.RawMessage
	confirmed bool // also sends transactions when they are confirmed
	keys      []wallet.Key
}

// watch is a script that connections have subscribed to.
type watch struct {
	address string
	conns   map[*conn]*subscription
	seen    map[model.Hash]struct{} // its unconfirmed transactions
}

func newHub(s *Server) *hub {
	return &hub{
		server: s, blocks: map[*conn]json.RawMessage{}, addresses: map[*conn]*subscription{},
		watched: map[wallet.Key]*watch{},
	}
}

type subscribed struct {
	Subscribed bool `json:"subscribed"`
}

// Subscriptions are answered through the queue of notifications, so that no notification comes before the answer.

func subscribeBlocks(c *conn, ctx context.Context, m *message) (any, error) {
	h := c.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	return nil, h.subscribe(ctx, c, m.ID, func(*wallet.View) error {
		h.blocks[c] = m.ID
		return nil
	})
}

func unsubscribeBlocks(c *conn, _ context.Context, m *message) (any, error) {
	c.hub.unsubscribe(c, m.ID, func() { delete(c.hub.blocks, c) })
	return nil, nil
}

func unsubscribeAddresses(c *conn, _ context.Context, m *message) (any, error) {
	c.hub.unsubscribe(c, m.ID, func() { c.hub.dropAddresses(c) })
	return nil, nil
}

// subscribe calls add, answers, and starts the follower. mu is held, so that each change after the view of add is sent.
func (h *hub) subscribe(ctx context.Context, c *conn, id json.RawMessage, add func(*wallet.View) error) error {
	if c.ctx.Err() != nil { // forget was called before
		return c.ctx.Err()
	}
	return h.server.chain.View(ctx, func(v *wallet.View) error {
		if err := add(v); err != nil {
			return err
		}
		c.notify(id, subscribed{true})
		if h.stop == nil {
			h.tip, h.sent = v.Tip, v.Tip
			following, stop := context.WithCancel(context.Background())
			h.stop = stop
			go func() {
				for guard.Do(h.server.Log, "the changes for Blockbook clients", func() { h.follow(following) }) != nil {
					select {
					case <-time.After(time.Second):
					case <-following.Done():
						return
					}
				}
			}()
		}
		return nil
	})
}

func (h *hub) unsubscribe(c *conn, id json.RawMessage, remove func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	remove()
	h.rest()
	c.notify(id, subscribed{false})
}

// rest ends the follower if there are no subscriptions. mu is held.
func (h *hub) rest() {
	if h.stop != nil && len(h.blocks) == 0 && len(h.addresses) == 0 {
		h.stop()
		h.stop = nil
	}
}

// subscribeAddresses replaces the addresses of a connection.
func subscribeAddresses(c *conn, ctx context.Context, m *message) (any, error) {
	var p struct {
		Addresses   []string `json:"addresses"`
		NewBlockTxs bool     `json:"newBlockTxs"`
	}
	if err := m.parameters(&p); err != nil {
		return nil, err
	}
	if len(p.Addresses) > maxAddresses {
		return nil, model.Errorf(model.Usage, "too_many", "addresses max %d", maxAddresses)
	}
	sub := &subscription{id: m.ID, confirmed: p.NewBlockTxs, keys: make([]wallet.Key, len(p.Addresses))}
	for i, a := range p.Addresses {
		pkScript, err := c.chain.ScriptOfAddress(a)
		if err != nil {
			_, code := model.KindOf(err)
			return nil, model.Errorf(model.Usage, code, "Invalid address %.100q, %w", a, err)
		}
		sub.keys[i] = keyOf(pkScript)
	}
	h := c.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dropAddresses(c)
	err := h.subscribe(ctx, c, m.ID, func(v *wallet.View) error { return h.addAddresses(v, c, sub, p.Addresses) })
	if err != nil {
		h.dropAddresses(c)
		h.rest()
	}
	return nil, err
}

// addAddresses adds the addresses of a connection. mu is held.
func (h *hub) addAddresses(v *wallet.View, c *conn, sub *subscription, addresses []string) error {
	h.addresses[c] = sub
	for i, key := range sub.keys {
		w := h.watched[key]
		if w == nil {
			pending, err := pendingOf(v, key)
			if err != nil {
				return err
			}
			w = &watch{address: addresses[i], conns: map[*conn]*subscription{}, seen: setOf(pending)}
			h.watched[key] = w
		}
		w.conns[c] = sub
	}
	return nil
}

// dropAddresses removes the addresses of a connection. mu is held.
func (h *hub) dropAddresses(c *conn) {
	sub := h.addresses[c]
	if sub == nil {
		return
	}
	delete(h.addresses, c)
	for _, key := range sub.keys {
		w := h.watched[key]
		if w == nil {
			continue
		}
		delete(w.conns, c)
		if len(w.conns) == 0 {
			delete(h.watched, key)
		}
	}
}

// forget removes the subscriptions of a connection that ends.
func (h *hub) forget(c *conn) {
	c.cancel()
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.blocks, c)
	h.dropAddresses(c)
	h.rest()
}

// has reports whether a connection has a subscription.
func (h *hub) has(c *conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, blocks := h.blocks[c]
	return blocks || h.addresses[c] != nil
}

// follow sends changes until ctx ends.
func (h *hub) follow(ctx context.Context) {
	for e := range h.server.chain.Changes(ctx) {
		if err := h.send(ctx, &e); err != nil && ctx.Err() == nil {
			h.server.failed(err, "notifications")
		}
	}
}

// send sends a change.
func (h *hub) send(ctx context.Context, e *wallet.Event) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return nil
	}
	last := h.tip
	h.tip = e.Tip
	if e.Tip != last {
		for c, id := range h.blocks {
			c.notify(id, struct {
				Height uint32 `json:"height"`
				Hash   string `json:"hash"`
			}{uint32(e.Tip.Height), block.FormatHash(e.Tip.Hash)})
		}
	}
	keys := h.touched(e)
	if len(keys) == 0 {
		h.sent = e.Tip
		return nil
	}
	work := meter.New(credit{}, 0, meter.Unit, nil)
	return h.server.chain.View(meter.With(ctx, work), func(v *wallet.View) (err error) {
		made := map[model.Hash]*tx{}
		for _, key := range keys { // an address that fails keeps nothing from the others
			before := work.Cost().Points
			_ = guard.Do(h.server.Log, "the changes of an address for Blockbook clients", func() { // it is logged
				err = errors.Join(err, h.sendAddress(v, key, e, made))
				h.watched[key].owe(work.Cost().Points - before)
			})
		}
		h.sent = e.Tip
		return err
	})
}

// credit is the [meter.Payer] of work for several connections, which pay for it before their next notification.
type credit struct{}

func (credit) Pay(int64) error { return nil }
func (credit) Release()        {}

// owe divides the cost of work among the connections. mu is held.
func (w *watch) owe(points int64) {
	for c := range w.conns {
		c.owed.Add(points / int64(len(w.conns)))
	}
}

// touched returns the watched scripts that an event concerns. mu is held.
func (h *hub) touched(e *wallet.Event) (keys []wallet.Key) {
	if e.All || len(h.watched) < len(e.Touched) {
		for key := range h.watched {
			if _, ok := e.Touched[key]; ok || e.All {
				keys = append(keys, key)
			}
		}
		return keys
	}
	for key := range e.Touched {
		if h.watched[key] != nil {
			keys = append(keys, key)
		}
	}
	return keys
}

// sendAddress sends the new transactions of a script: unconfirmed ones, and, to the connections that want them, the
// ones that were confirmed since. A transaction that fails keeps none of the others back. mu is held.
func (h *hub) sendAddress(v *wallet.View, key wallet.Key, e *wallet.Event, made map[model.Hash]*tx) (failed error) {
	w := h.watched[key]
	pending, err := pendingOf(v, key)
	if err != nil {
		return err
	}
	for _, id := range pending {
		if _, seen := w.seen[id]; !seen {
			failed = errors.Join(failed, h.sendTx(v, w, id, false, made))
		}
	}
	w.seen = setOf(pending)
	if e.Tip == h.sent || !w.wantsConfirmed() {
		return failed
	}
	s, err := v.Script(key)
	if err != nil {
		return err
	}
	for entry, err := range s.HistoryBetween(uint32(h.sent.Height)+1, uint32(e.Tip.Height)+1) {
		if err != nil {
			return errors.Join(failed, err)
		}
		failed = errors.Join(failed, h.sendTx(v, w, entry.Tx, true, made))
	}
	return failed
}

func (w *watch) wantsConfirmed() bool {
	for _, sub := range w.conns {
		if sub.confirmed {
			return true
		}
	}
	return false
}

func (h *hub) sendTx(v *wallet.View, w *watch, id model.Hash, confirmed bool, made map[model.Hash]*tx) error {
	t := made[id]
	if t == nil {
		var err error
		if t, err = h.server.find(v, id, form{}); isUnknownTx(err) {
			return nil // it has left the node
		}
		if err != nil {
			return err
		}
		made[id] = t
	}
	for c, sub := range w.conns {
		if !confirmed || sub.confirmed {
			c.notify(sub.id, struct {
				Address string `json:"address"`
				Tx      *tx    `json:"tx"`
			}{w.address, t})
		}
	}
	return nil
}

// pendingOf returns the unconfirmed transactions of a script.
func pendingOf(v *wallet.View, key wallet.Key) ([]model.Hash, error) {
	s, err := v.Script(key)
	if err != nil {
		return nil, err
	}
	var ids []model.Hash
	for _, e := range s.Mempool() {
		ids = append(ids, e.Tx)
	}
	return ids, nil
}

func setOf(ids []model.Hash) map[model.Hash]struct{} {
	set := make(map[model.Hash]struct{}, len(ids))
	for _, id := range ids {
		set[id] = struct{}{}
	}
	return set
}
