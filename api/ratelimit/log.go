package ratelimit

import (
	"log/slog"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

const (
	// errorsPerSecond limits the log lines of failed requests, so that a client cannot fill the disk.
	errorsPerSecond = 10
	// unavailableInterval is the time between two log lines of status 503, which is frequent under load.
	unavailableInterval = 10 * time.Second
)

// logLimiter limits log lines of one kind.
type logLimiter struct {
	limit   *rate.Limiter
	skipped atomic.Int64 // lines since the last one
}

// next reports whether to log a line, and how many were skipped before.
func (l *logLimiter) next() (skipped int64, ok bool) {
	if !l.limit.Allow() {
		l.skipped.Add(1)
		return 0, false
	}
	return l.skipped.Swap(0), true
}

// log logs a request: at level debug, and at level warn if it failed, except health checks. The line has the route, and
// no other part of the request, which may contain secrets.
func (q *request) log(w *writer) {
	level, skipped := slog.LevelDebug, int64(0)
	if w.status >= http.StatusInternalServerError && !q.health && !q.clientGone() {
		limiter := &q.errors
		if w.status == http.StatusServiceUnavailable {
			limiter = &q.unavailable
		}
		var ok bool
		if skipped, ok = limiter.next(); ok {
			level = slog.LevelWarn
		}
	}
	ctx := q.r.Context()
	if !q.Log.Enabled(ctx, level) {
		return
	}
	line := []slog.Attr{
		slog.String("method", q.r.Method), slog.String("route", q.route()), slog.Int("status", w.sentStatus()),
		slog.Int64("bytes", w.bytes), slog.Duration("took", time.Since(q.began)), slog.String("client", q.client.String()),
	}
	if q.Log.Enabled(ctx, slog.LevelDebug) {
		cost := q.work.Cost()
		line = append(line, slog.Int64("points", cost.Points), slog.Int64("rows", cost.Rows))
	}
	if skipped > 0 {
		line = append(line, slog.Int64("left_out", skipped))
	}
	q.Log.LogAttrs(ctx, level, "request", line...)
}

func (q *request) route() string {
	if q.r.Pattern == "" {
		return "none"
	}
	return q.r.Pattern
}
