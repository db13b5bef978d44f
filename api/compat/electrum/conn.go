package electrum

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"sync"
	"time"

	"birthmark/api/compat/wallet"
	"birthmark/internal/guard"
	"birthmark/model"
)

// conn is a connection.
type conn struct {
	*Server
	t      transport
	client *client // nil: has no limits of its own
	from   netip.Prefix
	ctx    context.Context // ends with the server
	end    context.CancelCauseFunc

	// mu is held while an answer or notifications are written. It guards the fields below.
	mu      sync.Mutex
	version version // negotiated
	greeted bool    // there was a server.version
	refused bool    // without a common version: the connection ends after the answer
	headers bool    // subscribed
	tip     model.Point
	seen    model.Point           // tip of the latest view
	subs    map[wallet.Key]status // the status that the client has
	points  map[outpoint]pointStatus
	reqs    []request
	buffer  []byte // of answers
	partial bool   // a part of a message is sent, but not its end
	over    bool   // the client has reached the hard limit of its cost
	stalled bool   // a write took too long
	left    bool   // a write failed

	wake chan struct{} // the notifier has something to do

	dirtyMu  sync.Mutex
	dirty    map[wallet.Key]struct{} // subscribed scripts that may have changed
	dirtyAll bool
}

// serve answers requests until the client leaves, breaks a limit or the server stops.
func (s *Server) serve(t transport, from netip.Prefix) {
	defer t.close()
	client, reason := s.clients.open(from, s.limited(from))
	c := &conn{
		Server: s, t: t, client: client, from: from, version: oldest, subs: map[wallet.Key]status{},
		points: map[outpoint]pointStatus{}, wake: make(chan struct{}, 1), dirty: map[wallet.Key]struct{}{},
	}
	if reason != "" {
		c.reject(reason)
		return
	}
	defer s.clients.close(client)
	c.ctx, c.end = context.WithCancelCause(s.ctx)
	defer c.end(errShutdown)
	defer context.AfterFunc(c.ctx, t.close)()
	s.Observer.Connected(1)
	defer s.Observer.Connected(-1)
	var notifier sync.WaitGroup
	notifier.Go(func() {
		if err := guard.Do(s.Log, "the notifications of an Electrum connection", c.notify); err != nil {
			c.end(err)
		}
	})
	s.Log.Debug("electrum: connected", "client", from)
	var err error
	if failed := guard.Do(s.Log, "an Electrum connection", func() { err = c.requests() }); failed != nil {
		err = failed
	}
	c.end(err)
	notifier.Wait()
	s.hub.leave(c)
	n := c.subscriptions()
	client.subscribe(-n)
	s.Observer.Subscribed(-n)
	s.Log.Debug("electrum: disconnected", "client", from, "cause", err)
}

// subscriptions returns the number of subscriptions. mu is held, or the connection has ended.
func (c *conn) subscriptions() int {
	n := len(c.subs) + len(c.points)
	if c.headers {
		n++
	}
	return n
}

// reject answers that a limit is reached.
func (c *conn) reject(reason string) {
	c.Observer.RejectedConnection(reason)
	if reason == clientLimit {
		c.refuse(failure(codeLimit, "your address has %d connections, the limit (electrum.client_connections)", c.ClientConns))
	} else {
		c.refuse(failure(codeLimit, "the server has %d connections, its limit (max_connections)", c.MaxConnections))
	}
}

// requests reads and answers messages.
func (c *conn) requests() error {
	wrong := 0
	for {
		message, err := c.t.read()
		if errors.Is(err, errTooLong) {
			c.Observer.RejectedConnection(malformed)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.refuse(invalidRequest("the request has more than %d bytes (electrum.max_request)", c.MaxRequest))
		}
		if err != nil {
			return err
		}
		ok, err := c.answer(message)
		if err != nil {
			return err
		}
		if c.refused {
			return errVersion
		}
		if ok {
			wrong = 0
		} else if wrong++; wrong == c.malformedAllowed {
			c.Observer.RejectedConnection(malformed)
			return errors.New("too many malformed requests")
		}
		if err := c.rest(); err != nil {
			return err
		}
	}
}

// Costs of a client: the soft limit is 10,000 short requests, or 10 MB, or 2.5 million points of [meter.Unit].
// Notifications are charged for the rows that they read and the bytes that they send.
const (
	costPerRequest = 0.1
	costPerByte    = 1e-4
	costPerPoint   = 4e-4

	pointsPerPayment = 100
)

// spend adds to the cost of the client. Above the hard limit, the connection ends.
func (c *conn) spend(cost float64) error {
	if !c.client.spend(cost) {
		return errCost
	}
	return nil
}

// excess tells a client above the hard limit why its connection ends, once. err is the error of an answer or of
// notifications. mu is held.
func (c *conn) excess(err error) error {
	if c.over || !errors.Is(err, errCost) {
		return err
	}
	c.over = true
	c.Observer.RejectedConnection(costLimit)
	if !c.partial {
		c.refuse(failure(codeLimit, "excessive use: your address has reached cost %.0f (electrum.hard_cost): reconnect later", c.HardCost))
	}
	return err
}

// maxDelay is the longest rest.
const maxDelay = 30 * time.Second

// rest waits while the cost of the client is above the soft limit.
func (c *conn) rest() error {
	delay := c.client.delay()
	if delay <= 0 {
		return nil
	}
	if err := c.flushLocked(); err != nil {
		return err
	}
	return c.wait(min(delay, maxDelay))
}

// wait waits. The error is that of the end of the connection.
func (c *conn) wait(delay time.Duration) error {
	select {
	case <-time.After(delay):
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

// refuse sends an error that belongs to no request. mu is held, or the connection has only begun.
func (c *conn) refuse(e *rpcError) {
	if c.t.write(appendError(nil, null, e), true) == nil {
		_ = c.t.flush()
	}
}

func (c *conn) flushLocked() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.flush()
}

// flush sends what was written. mu is held.
func (c *conn) flush() error { return c.written(c.t.flush()) }

// written returns the error of a write. It counts a client that did not receive in time, once. mu is held.
func (c *conn) written(err error) error {
	c.left = c.left || err != nil
	if !c.stalled && errors.Is(err, os.ErrDeadlineExceeded) {
		c.stalled = true
		c.Observer.RejectedConnection(stalled)
	}
	return err
}
