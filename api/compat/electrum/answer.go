package electrum

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/core/meter"
	"birthmark/internal/guard"
)

// moment answers the requests of a message, or notifies, in one view.
type moment struct {
	*conn
	ctx    context.Context // ends after RequestTimeout
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil: no limit
	until  time.Time   // when the client must have received the parts that were sent
	meter  meter.Meter
	out    exchange.Encoder
	sent   bool // a part of the current result is sent
	view   *wallet.View
	since  uint64 // events of the hub before view
	failed error  // why there is no view

	paid  int64       // points
	place atomic.Bool // the moment has a place among the long answers
}

// longAnswer is the number of points, about a millisecond of CPU, above which an answer needs a place among
// [Limits.LongAnswers].
const longAnswer = 1000

// Pay implements [meter.Payer]. A long answer waits for its place.
func (m *moment) Pay(points int64) error {
	if err := m.spend(float64(points) * costPerPoint); err != nil {
		return err
	}
	if m.paid += points; m.paid <= longAnswer || m.long == nil || m.place.Load() {
		return nil
	}
	if err := m.long.Acquire(m.ctx, 1); err != nil {
		return cmp.Or(context.Cause(m.ctx), err)
	}
	m.place.Store(true)
	return nil
}

// Release implements [meter.Payer].
func (m *moment) Release() {
	if m.place.Swap(false) {
		m.long.Release(1)
	}
}

func (c *conn) newMoment() *moment {
	m := &moment{conn: c, since: c.hub.events.Load()}
	m.meter.Init(m, 0, pointsPerPayment, c.Memory)
	m.ctx, m.cancel = context.WithCancelCause(meter.With(c.ctx, &m.meter))
	m.out = exchange.Encoder{JSON: c.buffer[:0], Ctx: m.ctx, Send: m.sendPart}
	if c.RequestTimeout > 0 {
		m.timer = time.AfterFunc(c.RequestTimeout, func() { m.cancel(errTimeout) })
		m.until = time.Now().Add(c.RequestTimeout)
	}
	return m
}

func (m *moment) end() {
	if m.timer != nil {
		m.timer.Stop()
	}
	m.cancel(nil)
	m.Release()
	m.meter.End()
	if m.buffer = m.out.JSON; cap(m.buffer) > 4*partBytes {
		m.buffer = nil
	}
}

// enter sets the view, and notifies the client of its tip. left reports that the tip of the connection's previous view
// is no longer in the chain: any of its statuses may have changed, and the hub does not report this if it has not seen
// that tip.
func (m *moment) enter(v *wallet.View) (left bool, err error) {
	m.view = v
	before := m.seen
	if m.seen = v.Tip; before != v.Tip {
		kept, err := v.Has(before)
		if left = !kept; err != nil {
			return left, err
		}
	}
	return left, m.tellTip()
}

// answer answers a message. ok is false if it is malformed. Answers are sent when no other message waits.
func (c *conn) answer(message []byte) (ok bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err = c.spend(costPerByte * float64(len(message))); err == nil {
		ok, err = c.answerMessage(message)
	}
	if err == nil && !c.t.pending() {
		err = c.flush()
	}
	return ok, c.excess(err)
}

// maxKeptRequests is the size of the batches whose memory a connection keeps.
const maxKeptRequests = 16

func (c *conn) answerMessage(message []byte) (ok bool, err error) {
	reqs, batch, bad := parse(message, c.reqs[:0], c.MaxBatch)
	if c.reqs = reqs[:0]; cap(reqs) > maxKeptRequests {
		c.reqs = nil
	}
	if bad != nil {
		c.Observer.Answered("unknown", bad.Code, 0)
		if err := c.spend(costPerRequest); err != nil {
			return false, err
		}
		return bad.Code != codeParse, c.t.write(appendError(nil, null, bad), true)
	}
	reads := false
	for i := range reqs {
		reqs[i].prepare()
		reads = reads || reqs[i].readsChain()
	}
	m := c.newMoment()
	defer m.end()
	if reads {
		err := c.chain.View(m.ctx, func(v *wallet.View) error {
			left, err := m.enter(v)
			if err != nil {
				return err
			}
			if left {
				c.wakeUp(true)
			}
			return m.answerAll(reqs, batch)
		})
		if m.view != nil {
			return true, err
		}
		m.failed = err
	}
	return true, m.answerAll(reqs, batch)
}

// answerAll answers the requests of a message and sends the answer.
func (m *moment) answerAll(reqs []request, batch bool) error {
	answers := 0
	for i := range reqs {
		r := &reqs[i]
		if err := m.spend(costPerRequest); err != nil {
			return err
		}
		if r.id != nil {
			if answers++; batch {
				m.out.JSON = append(m.out.JSON, "[,"[min(answers-1, 1)])
			}
		}
		if err := m.answerOne(r); err != nil {
			return err
		}
		if err := m.out.Flush(); err != nil {
			return err
		}
	}
	if answers == 0 { // to notifications of the client
		return nil
	}
	if batch {
		m.out.JSON = append(m.out.JSON, ']')
	}
	return m.send(true)
}

// answerOne appends the answer to a request. An error ends the connection.
func (m *moment) answerOne(r *request) error {
	c, began, begin := m.conn, time.Now(), len(m.out.JSON)
	m.out.JSON = appendResult(m.out.JSON, r.id)
	m.sent = false
	err := guard.Call(func() error { // a panic ends the request
		v, err := m.call(r)
		if err == nil {
			err = m.out.Append(v)
		}
		return err
	})
	if err == nil {
		err = m.meter.Err() // a walk of the mempool that the client cannot pay for ends without another one
	}
	code := 0
	switch {
	case errors.Is(err, errCost):
		return err
	case err != nil:
		e, internal := c.errorOf(m.ctx, err)
		code = e.Code
		switch {
		case internal && (c.left || c.ctx.Err() != nil):
			c.Log.Debug("electrum: the client left during a request", "method", r.name(), "error", err)
		case internal:
			c.Log.Error("electrum: request failed", "method", r.name(), "error", err)
		}
		if m.sent {
			return err
		}
		m.out.JSON = appendError(m.out.JSON[:begin], r.id, e)
	default:
		m.out.JSON = append(m.out.JSON, '}')
	}
	if r.id == nil {
		if m.sent {
			return errors.New("a notification with a long answer")
		}
		m.out.JSON = m.out.JSON[:begin]
	}
	took := time.Since(began)
	c.Observer.Answered(r.name(), code, took)
	if c.Log.Enabled(m.ctx, slog.LevelDebug) {
		cost := m.meter.Cost() // of the message so far
		c.Log.Debug("electrum: request", "client", c.from, "method", r.name(), "code", code, "took", took,
			"points", cost.Points, "rows", cost.Rows)
	}
	return nil
}

// send sends the encoded bytes. end: they end the message. The client pays for them.
func (m *moment) send(end bool) error {
	size := len(m.out.JSON)
	if m.place.Load() {
		m.meter.Pause() // the client may take its time
	}
	err := m.t.write(m.out.JSON, end)
	m.partial = !end
	m.out.JSON = m.out.JSON[:0]
	if err := m.written(err); err != nil {
		return err
	}
	if err := m.spend(costPerByte * float64(size)); err != nil || end {
		return err
	}
	return m.meter.Sent(size) // encoding a long list takes time, also one that is shared and not read again
}

// partTime is the time that a client has on average to receive a part of an answer.
const partTime = 2 * time.Second

// sendPart sends a part of an answer. After that the result can no longer become an error. The time limit starts again:
// the time that the client takes to receive a part does not count, within the limit of [partTime].
func (m *moment) sendPart() error {
	if m.timer != nil && !m.timer.Stop() {
		m.cancel(errTimeout)
		return context.Cause(m.ctx)
	}
	m.sent = true
	m.until = m.until.Add(time.Duration(len(m.out.JSON)/partBytes) * partTime)
	if err := m.send(false); err != nil {
		return err
	}
	if m.timer != nil {
		if time.Now().After(m.until) {
			return m.written(fmt.Errorf("the client receives too slowly: %w", os.ErrDeadlineExceeded))
		}
		m.timer.Reset(m.RequestTimeout)
	}
	return context.Cause(m.ctx)
}
