package api

import (
	"context"
	"errors"
	"sync"

	"birthmark/api/exchange"
	"birthmark/api/ratelimit"
	"birthmark/core/meter"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/internal/guard"
)

// calls runs concurrent equal requests once. Unlike golang.org/x/sync/singleflight it cancels a call when its last
// caller has left, and the deadline of a caller does not affect the others.
type calls struct {
	mu  sync.Mutex
	all map[callKey]*call
}

// callKey is a question at a tip and, with unconfirmed transactions, at a state of them.
type callKey struct {
	at       <-chan struct{} // of [served.Chain.Moved]
	standing *pending.Standing
	question string
}

// call is a question that is being answered.
type call struct {
	done   chan struct{} // closed when result and err are set
	result result
	err    error

	cancel, end func()
	callers     int // guarded by calls.mu
}

// freeRows is how many rows a request reads by itself in addition to its page.
var freeRows = 1000

// once reads an answer with a limit on the number of rows. If that is reached, concurrent equal requests share one
// reading without limit, which the client of the first one pays. Its text counts as held until all of them have ended.
func once(ctx context.Context, q *request) (result, error) {
	res, err := q.read(ctx, freeRows+q.page.Limit, q.r.Encoder())
	res.own = true
	if !errors.Is(err, query.ErrTooManyRows) {
		return res, err
	}
	question, err := q.question()
	if err != nil {
		return res, err
	}
	_, moved := q.chain.Moved()
	key := callKey{at: moved, question: question}
	if q.mempool && q.chain.Mempool != nil {
		key.standing = q.chain.Mempool.Standing()
	}
	shared := *q
	shared.r = nil // the call can outlast the request
	calls := &q.chain.calls
	c := calls.joinOrStart(context.WithoutCancel(ctx), key, ratelimit.Part(q.r.Writer()), func(ctx context.Context) (result, error) {
		return shared.read(ctx, 0, &exchange.Encoder{Ctx: ctx})
	})
	return calls.wait(ctx, key, c)
}

// joinOrStart adds a caller to the running call for a request. If none runs, it starts one: it calls ask with a context
// that ends with ctx, or when the last caller leaves. The context is that of a part of the work of the caller.
func (cs *calls) joinOrStart(
	ctx context.Context, key callKey, part func(context.Context) (context.Context, func()), ask func(context.Context) (result, error),
) *call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c := cs.all[key]; c != nil {
		c.callers++
		return c
	}
	ctx, cancel := context.WithCancel(ctx)
	ctx, end := part(ctx)
	c := &call{done: make(chan struct{}), cancel: cancel, end: end, callers: 1}
	if cs.all == nil {
		cs.all = map[callKey]*call{}
	}
	cs.all[key] = c
	go func() {
		c.err = guard.Call(func() (err error) { // no request's goroutine
			c.result, err = ask(ctx)
			return err
		})
		meter.Of(ctx).Pause()
		cs.mu.Lock()
		defer cs.mu.Unlock()
		close(c.done)
		cs.removeLocked(key, c)
		if c.callers == 0 {
			end()
		}
	}()
	return c
}

// wait returns the result, or the error of ctx if that ends before.
func (cs *calls) wait(ctx context.Context, key callKey, c *call) (result, error) {
	leave := func() { cs.leave(key, c) }
	select {
	case <-c.done:
		if !meter.Of(ctx).AtEnd(leave) {
			leave()
		}
		return c.result, c.err
	case <-ctx.Done():
		leave()
		return result{}, ctx.Err()
	}
}

// leave removes a caller. The last one ends the call.
func (cs *calls) leave(key callKey, c *call) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c.callers--; c.callers > 0 {
		return
	}
	c.cancel()
	cs.removeLocked(key, c)
	select {
	case <-c.done:
		c.end()
	default: // ends when it returns
	}
}

func (cs *calls) removeLocked(key callKey, c *call) {
	if cs.all[key] == c {
		delete(cs.all, key)
	}
}
