package ratelimit

import "net/http"

// Tracked returns how many clients a handler of New tracks.
func Tracked(h http.Handler) (n int) {
	for i := range h.(*handler).clients.shards {
		s := &h.(*handler).clients.shards[i]
		s.mu.Lock()
		n += len(s.by)
		s.mu.Unlock()
	}
	return n
}
