package ratelimit

import (
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

const (
	// Of answers that failed no more are logged: a client that makes them fail must not fill the disk.
	faultsPerSecond = 10
	// 503 says that there was no time or no room. Under load it is answered often, and one line says as much as many.
	unavailableEvery = 10 * time.Second
)

// lines bounds how many lines of a kind are logged.
type lines struct {
	limit *rate.Limiter
	left  atomic.Int64 // out, since the last one
}

// next reports whether a line is logged, and how many were left out before.
func (l *lines) next() (left int64, ok bool) {
	if !l.limit.Allow() {
		l.left.Add(1)
		return 0, false
	}
	return l.left.Swap(0), true
}
