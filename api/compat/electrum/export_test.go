package electrum

import (
	"maps"
	"net/netip"
	"slices"
)

// Methods returns the names of all methods.
func Methods() []string { return slices.Sorted(maps.Keys(methods)) }

// HoldPlaces takes the places of all long answers until release is called.
func (s *Server) HoldPlaces() (release func()) {
	_ = s.long.Acquire(s.ctx, int64(s.LongAnswers)) // fails only if the server is closed
	return func() { s.long.Release(int64(s.LongAnswers)) }
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
