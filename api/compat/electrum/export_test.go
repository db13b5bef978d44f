package electrum

import (
	"context"
	"maps"
	"net/netip"
	"slices"

	"birthmark/api/compat/wallet"
)

// Methods returns the names of all methods.
func Methods() []string { return slices.Sorted(maps.Keys(methods)) }

// HoldScans takes the places of all scans of long histories until release is called.
func (s *Server) HoldScans() (release func()) {
	_ = s.hub.scans.Acquire(s.ctx, int64(s.ConcurrentScans)) // fails only if the server is closed
	return func() { s.hub.scans.Release(int64(s.ConcurrentScans)) }
}

// Status computes the status of a script with a midstate, which can be nil, and returns the next midstate. The context
// limits the wait for a place.
func (s *Server) Status(ctx context.Context, v *wallet.View, key wallet.Key, mid *wallet.Midstate) (*wallet.Midstate, error) {
	_, next, err := s.hub.compute(ctx, v, key, mid)
	return next, err
}

// Cost returns the cost of a client.
func (s *Server) Cost(of netip.Prefix) float64 {
	s.clients.mu.Lock()
	defer s.clients.mu.Unlock()
	if c := s.clients.by[of]; c != nil {
		return c.current()
	}
	return 0
}
