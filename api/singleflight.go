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
	rows     int // limit
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

// join adds a caller to the running call for a request. It returns nil if there is no such call.
func (cs *calls) join(key callKey) *call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	return cs.joinLocked(key)
}

func (cs *calls) joinLocked(key callKey) *call {
	c := cs.all[key]
	if c != nil {
		c.callers++
	}
	return c
}

// start runs ask, whose context ends when the last caller leaves, and then calls release. If another caller started the
// same call before, start joins it and calls release at once.
func (cs *calls) start(
	ctx context.Context, key callKey, release func(), ask func(context.Context) (result, error),
) *call {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c := cs.joinLocked(key); c != nil {
		release()
		return c
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c := &call{done: make(chan struct{}), cancel: cancel, callers: 1}
	if cs.all == nil {
		cs.all = map[callKey]*call{}
	}
	cs.all[key] = c
	go func() {
		defer release()
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
