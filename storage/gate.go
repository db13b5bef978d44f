package storage

import "sync"

// Gate delays closing a store until all calls in progress have returned. The zero Gate is open.
type Gate struct {
	mu     sync.Mutex
	closed bool
	users  sync.WaitGroup
}

// Enter registers a call, which must end with Leave. It returns ErrClosed after Close.
func (g *Gate) Enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	g.users.Add(1)
	return nil
}

// Leave ends a call.
func (g *Gate) Leave() { g.users.Done() }

// Close refuses further calls and waits for those in progress. It reports whether this call was the first.
func (g *Gate) Close() bool {
	g.mu.Lock()
	first := !g.closed
	g.closed = true
	g.mu.Unlock()
	g.users.Wait()
	return first
}
