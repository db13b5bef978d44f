package storage

import "sync"

// Gate lets a store close once nothing uses it any more. The zero Gate is open.
type Gate struct {
	mu     sync.Mutex
	closed bool
	users  sync.WaitGroup
}

// Enter counts a user in, who must Leave. After Close it is ErrClosed.
func (g *Gate) Enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	g.users.Add(1)
	return nil
}

// Leave counts a user out.
func (g *Gate) Leave() { g.users.Done() }

// Close shuts the gate and waits for those inside. It reports whether this call was the first.
func (g *Gate) Close() bool {
	g.mu.Lock()
	first := !g.closed
	g.closed = true
	g.mu.Unlock()
	g.users.Wait()
	return first
}
