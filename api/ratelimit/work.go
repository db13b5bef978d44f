package ratelimit

import (
	"context"
	"net/http"
	"sync"
	"time"

	"birthmark/api/problem"
	"birthmark/core/meter"
)

// Plain is the price of a plain request, in units of [meter.Unit] points. Each request has paid it when its handler is
// called. A unit of more work takes another one from the client's rate when it is done.
const Plain = 1

// short is the number of points, about a millisecond of CPU, up to which work occupies no place. Above it, work waits for
// one of [Options.Medium], and above the price of a plain request for one of [Options.Expensive].
const short = 1000

// work is the work of a request, or of a message within a stream. It is the [meter.Payer] of its meter.
type work struct {
	meter.Meter
	q   *request
	ctx context.Context // of its waiting

	mu      sync.Mutex // guards the fields below
	paced   bool       // it waits for the client's rate and for its share, and does not fail
	dear    bool       // it has cost more than a plain request
	medium  bool       // it has a place of Options.Medium
	busy    *account   // whose expensive work it is counted as; nil: it is not
	refused *refusal   // nil: it could pay
}

// refusal is why work ended.
type refusal struct {
	*problem.Problem
	after string // seconds after which to retry
}

// begin begins work whose first points are paid.
func (w *work) begin(ctx context.Context, q *request, first int64) {
	w.q, w.ctx = q, ctx
	w.Init(w, first, meter.Unit, q.Memory)
	w.PayFrom(short)
}

// end releases everything that the work occupies.
func (w *work) end() {
	w.Release()
	w.End()
}

// Pay implements [meter.Payer]: it takes points from the client's rate, which may become negative by its burst, and then
// a share of the expensive work.
func (w *work) Pay(points int64) error {
	q := w.q
	w.mu.Lock()
	paced := w.paced
	w.dear = w.dear || points > 0
	dear := w.dear
	w.mu.Unlock()
	if !dear {
		return w.occupyMedium()
	}
	q.dear.Store(true)
	a := q.clients.of(q.client, q.limit, time.Now())
	for units := int(points / meter.Unit); units > 0 && q.limit.limited(); {
		now, burst := time.Now(), a.limiter.Burst()
		n := min(units, burst)
		missing := float64(n-burst) - a.limiter.TokensAt(now)
		switch {
		case missing <= 0:
			a.limiter.ReserveN(now, n)
			units -= n
			continue
		case !paced:
			return w.refuse(q.rateExceeded(burst, float64(burst+1)+max(missing-float64(n), 0)))
		}
		w.Release()
		select {
		case <-time.After(q.limit.time(missing)):
		case <-w.ctx.Done():
			return w.ctx.Err()
		}
	}
	return w.occupy(a, paced)
}

// occupyMedium takes a place of work that is not short, if it is not, unless the work has one.
func (w *work) occupyMedium() error {
	w.mu.Lock()
	has := w.medium
	w.mu.Unlock()
	if has || w.q.medium == nil || w.Cost().Points <= short {
		return nil
	}
	if err := w.q.medium.Acquire(w.ctx, 1); err != nil {
		return err
	}
	w.mu.Lock()
	w.medium = true
	w.mu.Unlock()
	return nil
}

// releaseMedium releases the place of work that is not short.
func (w *work) releaseMedium() {
	w.mu.Lock()
	has := w.medium
	w.medium = false
	w.mu.Unlock()
	if has {
		w.q.medium.Release(1)
	}
}

// occupy takes a share of the expensive work, unless the work has one: first of the client's share, so that a client with
// many requests waits for its own, and others do not wait for it.
func (w *work) occupy(a *account, paced bool) error {
	q := w.q
	w.mu.Lock()
	has := w.busy != nil
	w.mu.Unlock()
	if has || q.expensive == nil {
		return nil
	}
	w.releaseMedium() // others do not wait for it while it waits
	ctx := w.ctx
	if !paced {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.Wait)
		defer cancel()
	}
	a.busy.Add(1)
	if a.share.Acquire(ctx, 1) != nil {
		a.busy.Add(-1)
		return w.refuse(&refusal{problem.New(http.StatusTooManyRequests, overloaded,
			"too many of your expensive requests run at the same time: send one after the other"), "1"})
	}
	if q.expensive.Acquire(ctx, 1) != nil {
		a.share.Release(1)
		a.busy.Add(-1)
		return w.refuse(&refusal{problem.New(http.StatusServiceUnavailable, overloaded,
			"too many expensive requests run at the same time: retry in a second, or request less: a page (limit, after) "+
				"costs less than a whole list, and options of an index (balance, unspent, history) make its answers cheap"), "1"})
	}
	w.mu.Lock()
	w.busy = a
	w.mu.Unlock()
	return nil
}

// Release implements [meter.Payer]: it releases the places that the work has.
func (w *work) Release() {
	w.releaseMedium()
	w.mu.Lock()
	a := w.busy
	w.busy = nil
	w.mu.Unlock()
	if a == nil {
		return
	}
	w.q.expensive.Release(1)
	a.share.Release(1)
	a.busy.Add(-1)
}

// refuse ends the work.
func (w *work) refuse(why *refusal) error {
	if err := w.ctx.Err(); err != nil {
		return err
	}
	for _, of := range []*work{w, &w.q.work} { // a part sends to the same response
		of.mu.Lock()
		of.refused = why
		of.mu.Unlock()
	}
	return w.q.rejected(why.Problem)
}

// pace makes the work that of a stream.
func (w *work) pace() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.paced = true
}

// headers sets the headers of a client that has paid more than the plain price, before an answer begins.
func (w *work) headers(h http.Header) {
	w.mu.Lock()
	refused := w.refused
	w.mu.Unlock()
	if refused != nil {
		h["Retry-After"] = []string{refused.after}
	}
	if w.q.dear.Load() && w.q.limit.limited() {
		w.q.rateHeaders(h, w.q.clients.of(w.q.client, w.q.limit, time.Now()))
	}
}
