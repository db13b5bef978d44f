package electrum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"sync"
	"time"

	"birthmark/api/compat/wallet"
	"birthmark/core/meter"
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
	out     []byte // the answer that is being written
	mark    int    // begin of the current result in out; -1: a part of it is sent
	partial bool   // a part of a message is sent, but not its end
	over    bool   // the client has reached the hard limit of its cost
	stalled bool   // a write took too long
	left    bool   // a write failed

	wake chan struct{} // the notifier has something to do

	dirtyMu  sync.Mutex
	dirty    map[wallet.Key]struct{} // subscribed scripts that may have changed
	dirtyAll bool
}

// maxDelay is the longest delay of one request.
const maxDelay = 30 * time.Second

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
	message := fmt.Sprintf("the server has %d connections, its limit (max_connections)", c.MaxConnections)
	if reason == clientLimit {
		message = fmt.Sprintf("your address has %d connections, the limit (electrum.client_connections)", c.ClientConns)
	}
	c.refuse(&rpcError{codeLimit, message})
}

// requests reads and answers messages.
func (c *conn) requests() error {
	wrong := 0
	for {
		message, err := c.t.read()
		if errors.Is(err, errTooLong) {
			c.Observer.RejectedConnection(malformed)
			c.refuse(invalidRequest("the request has more than %d bytes (electrum.max_request)", c.MaxRequest))
		}
		if err != nil {
			return err
		}
		ok, err := c.answer(message)
		if c.over {
			c.Observer.RejectedConnection(costLimit)
			if !c.partial {
				c.refuse(&rpcError{codeLimit, fmt.Sprintf("excessive use: your address has reached cost %.0f (electrum.hard_cost): "+
					"reconnect later", c.HardCost)})
			}
			return errCost
		}
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
		if c.client.delay() > 0 {
			if err := cmp.Or(c.flushLocked(), c.pause()); err != nil {
				return err
			}
		}
	}
}

// pause waits while the cost of the client is above the soft limit, for at most [maxDelay].
func (c *conn) pause() error {
	select {
	case <-time.After(min(c.client.delay(), maxDelay)):
		return nil
	case <-c.ctx.Done():
		return context.Cause(c.ctx)
	}
}

// Costs of requests: the soft limit is 10,000 short requests, or 10 MB, or 2.5 million points of [meter.Unit].
const (
	costPerRequest = 0.1
	costPerByte    = 1e-4
	costPerPoint   = 4e-4

	pointsPerPayment = 100
)

// spend adds to the cost of the client. Above the hard limit, the connection ends. mu is held.
func (c *conn) spend(cost float64) error {
	if !c.client.spend(cost) {
		c.over = true
		return errCost
	}
	return nil
}

// Pay implements [meter.Payer].
func (c *conn) Pay(points int64) error { return c.spend(float64(points) * costPerPoint) }

// Release implements [meter.Payer].
func (c *conn) Release() {}

// later is the payer of notifications, which are not refused: they delay later ones, and later requests.
type later struct{ *conn }

// Pay implements [meter.Payer].
func (c later) Pay(points int64) error {
	c.client.spend(float64(points) * costPerPoint)
	return nil
}

// refuse sends an error that belongs to no request.
func (c *conn) refuse(e *rpcError) {
	c.mu.Lock()
	defer c.mu.Unlock()
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
	if !c.stalled && (errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.Canceled)) {
		c.stalled = true
		c.Observer.RejectedConnection(stalled)
	}
	return err
}

// answer answers a message. ok is false if it is malformed. Answers are sent when no other message waits.
func (c *conn) answer(message []byte) (ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.spend(costPerByte * float64(len(message))); err != nil {
		return false, err
	}
	ok, err = c.answerMessage(message)
	if err == nil && !c.t.pending() {
		err = c.flush()
	}
	return ok, err
}

func (c *conn) answerMessage(message []byte) (ok bool, err error) {
	reqs, batch, bad := parse(message, c.reqs[:0], c.MaxBatch)
	if c.reqs = reqs; bad != nil {
		c.Observer.Answered("unknown", bad.code, 0)
		if err := c.spend(costPerRequest); err != nil {
			return false, err
		}
		return bad.code != codeParse, c.t.write(appendError(c.out[:0], null, bad), true)
	}
	m := c.newMoment()
	defer m.end()
	defer m.count(c)()
	if !batch && m.free(&reqs[0]) {
		return true, m.answerAll(reqs, batch)
	}
	begun := false
	err = c.chain.View(m.ctx, func(v *wallet.View) error {
		begun = true
		left, err := m.enter(v)
		if err == nil {
			err = m.tellTip()
		}
		if err != nil {
			return err
		}
		if left {
			c.wakeUp(true)
		}
		return m.answerAll(reqs, batch)
	})
	if !begun && err != nil { // there is no view
		m.failed = err
		err = m.answerAll(reqs, batch)
	}
	return true, err
}

// moment answers requests in one view.
type moment struct {
	*conn
	ctx    context.Context // ends after RequestTimeout
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil: no limit
	until  time.Time   // when the client must have received the parts that were sent
	meter  *meter.Meter
	held   int // bytes that the meter counts
	view   *wallet.View
	since  uint64 // events of the hub before view
	failed error  // why there is no view
}

func (c *conn) newMoment() *moment {
	m := &moment{conn: c, since: c.hub.events.Load()}
	m.ctx, m.cancel = context.WithCancelCause(c.ctx)
	if c.RequestTimeout > 0 {
		m.timer = time.AfterFunc(c.RequestTimeout, func() { m.cancel(errTimeout) })
		m.until = time.Now().Add(c.RequestTimeout)
	}
	return m
}

// count sets the meter of the moment, which is used until end is called.
func (m *moment) count(payer meter.Payer) (end func()) {
	m.meter = meter.New(payer, 0, pointsPerPayment, m.Memory)
	m.ctx = meter.With(m.ctx, m.meter)
	return m.meter.End
}

// enter sets the view. left reports that the tip of the connection's previous view is no longer in the chain: any of its
// statuses may have changed, and the hub does not report this if it has not seen that tip.
func (m *moment) enter(v *wallet.View) (left bool, err error) {
	m.view = v
	before := m.conn.seen
	if m.conn.seen = v.Tip; before == v.Tip {
		return false, nil
	}
	kept, err := v.Has(before)
	return !kept, err
}

func (m *moment) end() {
	if m.timer != nil {
		m.timer.Stop()
	}
	m.cancel(nil)
}

// free reports whether a request is answered without a view.
func (m *moment) free(r *request) bool {
	known := methods[string(r.method)]
	return r.err != nil || known == nil || known.free
}

// answerAll answers the requests of a message and sends the answer.
func (m *moment) answerAll(reqs []request, batch bool) error {
	c := m.conn
	c.out = c.out[:0]
	answers := 0
	for i := range reqs {
		r := &reqs[i]
		if err := c.spend(costPerRequest); err != nil {
			return err
		}
		if r.id != nil {
			if batch && answers == 0 {
				c.out = append(c.out, '[')
			} else if batch {
				c.out = append(c.out, ',')
			}
			answers++
		}
		if err := m.answerOne(r); err != nil {
			return err
		}
		if err := m.flush(); err != nil {
			return err
		}
	}
	if answers == 0 {
		return nil
	}
	if batch {
		c.out = append(c.out, ']')
	}
	size := len(c.out)
	return cmp.Or(c.send(true), c.spend(costPerByte*float64(size)))
}

// send writes out, a part of a message.
func (c *conn) send(end bool) error {
	err := c.t.write(c.out, end)
	c.partial = !end
	if c.out = c.out[:0]; cap(c.out) > 4*partBytes {
		c.out = nil
	}
	return c.written(err)
}

// answerOne appends the answer to a request. An error ends the connection.
func (m *moment) answerOne(r *request) error {
	c := m.conn
	began := time.Now()
	begin := len(c.out)
	c.out = append(c.out, `{"jsonrpc":"2.0","id":`...)
	c.out = append(c.out, r.id...)
	c.out = append(c.out, `,"result":`...)
	c.mark = len(c.out)
	name, err := m.call(r)
	if err == nil {
		err = m.hold()
	}
	if c.over {
		return errCost
	}
	code := 0
	if err != nil {
		e, internal := c.errorOf(m.ctx, err)
		code = e.code
		switch {
		case internal && (c.left || c.ctx.Err() != nil):
			c.Log.Debug("electrum: the client left during a request", "method", name, "error", err)
		case internal:
			c.Log.Error("electrum: request failed", "method", name, "error", err)
		}
		if c.mark < 0 { // a part of the result is sent
			return err
		}
		c.out = appendError(c.out[:begin], r.id, e)
	} else {
		c.out = append(c.out, '}')
	}
	if r.id == nil {
		if c.mark < 0 {
			return errors.New("a notification with a long answer")
		}
		c.out = c.out[:begin]
	}
	took := time.Since(began)
	c.Observer.Answered(name, code, took)
	if c.Log.Enabled(m.ctx, slog.LevelDebug) {
		cost := m.meter.Cost()
		c.Log.Debug("electrum: request", "client", c.from, "method", name, "code", code, "took", took,
			"points", cost.Points, "rows", cost.Rows) // of the message so far
	}
	return nil
}

// hold takes the bytes of an answer that is not sent in parts from the memory for answers.
func (m *moment) hold() error {
	more := len(m.out) - meter.Free - m.held
	if more <= 0 {
		return nil
	}
	m.held += more
	return m.meter.Hold(int64(more))
}

// partTime is the time that a client has on average to receive a part of an answer.
const partTime = 2 * time.Second

// flush sends the answer so far if it is long. After that the result can no longer become an error. The time limit
// starts again: the time that the client takes to receive a part does not count, within the limit of [partTime].
func (m *moment) flush() error {
	if len(m.out) < partBytes {
		return nil
	}
	if m.timer != nil && !m.timer.Stop() {
		return context.Cause(m.ctx)
	}
	m.mark = -1
	size := len(m.out)
	m.until = m.until.Add(time.Duration(size/partBytes) * partTime)
	if err := cmp.Or(m.send(false), m.spend(costPerByte*float64(size))); err != nil {
		return err
	}
	if m.timer != nil && time.Now().After(m.until) {
		return m.written(fmt.Errorf("the client receives too slowly: %w", os.ErrDeadlineExceeded))
	}
	if m.timer != nil {
		m.timer.Reset(m.RequestTimeout)
	}
	return context.Cause(m.ctx)
}

func (c *conn) wakeUp(all bool) {
	if all {
		c.dirtyMu.Lock()
		c.dirtyAll = true
		c.dirtyMu.Unlock()
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
}

func (c *conn) markDirty(key wallet.Key) {
	c.dirtyMu.Lock()
	c.dirty[key] = struct{}{}
	c.dirtyMu.Unlock()
	c.wakeUp(false)
}
