package blockbook

import (
	"maps"
	"slices"
)

var DescribeData = describeData

// Operations returns the operations of REST, with their methods, and of WebSocket.
func Operations() (rest, ws []string) {
	for _, e := range (&Server{}).endpoints() {
		rest = append(rest, e.Method+" /"+e.Path)
	}
	return rest, slices.Sorted(maps.Keys(methods))
}

// BreakSubscription makes each change of a watched script panic.
func (s *Server) BreakSubscription(pkScript []byte) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	s.hub.watched[keyOf(pkScript)].conns[nil] = &subscription{confirmed: true}
}
