package api

import (
	"context"
	"sync"

	"birthmark/core/pending"
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
	done    chan struct{} // closed when result and err are set
	cancel  context.CancelFunc
	callers int // guarded by calls.mu
	result  result
	err     error
}

// joinOrStart adds a caller to the running call for a request. If none runs, it starts one: it calls ask with a context
// that ends with ctx, or when the last caller leaves.
func (cs *calls) joinOrStart(ctx context.Context, key callKey, ask func(context.Context) (result, error)) *call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c := cs.all[key]; c != nil {
		c.callers++
		return c
	}
	ctx, cancel := context.WithCancel(ctx)
	c := &call{done: make(chan struct{}), cancel: cancel, callers: 1}
	if cs.all == nil {
		cs.all = map[callKey]*call{}
	}
	cs.all[key] = c
	go func() {
		c.err = guard.Call(func() (err error) { // no request's goroutine
			c.result, err = ask(ctx)
			return err
		})
		cs.mu.Lock()
		cs.removeLocked(key, c)
		cs.mu.Unlock()
		close(c.done)
	}()
	return c
}

// wait returns the result, or the error of ctx if that ends before.
func (cs *calls) wait(ctx context.Context, key callKey, c *call) (result, error) {
	defer func() {
		cs.mu.Lock()
		defer cs.mu.Unlock()
		if c.callers--; c.callers == 0 {
			c.cancel()
			cs.removeLocked(key, c)
		}
	}()
	select {
	case <-c.done:
		return c.result, c.err
	case <-ctx.Done():
		return result{}, ctx.Err()
	}
}

func (cs *calls) removeLocked(key callKey, c *call) {
	if cs.all[key] == c {
		delete(cs.all, key)
	}
}
