package blockbook

import (
	"maps"
	"slices"
	"time"
)

var DescribeData = describeData

// SetWriteTimeout sets the time that a client has to receive an answer, until restore is called.
func SetWriteTimeout(d time.Duration) (restore func()) {
	before := writeTimeout
	writeTimeout = d
	return func() { writeTimeout = before }
}

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
