package ratelimit

import "net/http"

// Remembered is how many clients h, which New made, remembers.
func Remembered(h http.Handler) (n int) {
	for i := range h.(*guard).clients.shards {
		s := &h.(*guard).clients.shards[i]
		s.mu.Lock()
		n += len(s.by)
		s.mu.Unlock()
	}
	return n
}
