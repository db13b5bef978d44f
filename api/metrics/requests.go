package metrics

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// requests counts requests by route.
type requests struct {
	total    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	size     *prometheus.HistogramVec
	inFlight prometheus.Gauge

	mu     sync.RWMutex
	routes map[string]string // by pattern
}

const (
	noRoute    = "none"  // of a request whose path is unknown
	otherRoute = "other" // of routes after the first maxRoutes: a bug must not make a metric of each path
	maxRoutes  = 200
)

func newRequests() *requests {
	return &requests{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "birthmark_http_requests_total", Help: "HTTP requests by route, method and status code.",
		}, []string{"route", "method", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "birthmark_http_request_duration_seconds", Help: "Duration of HTTP requests up to the last byte.",
			Buckets: []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
		}, []string{"route"}),
		size: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "birthmark_http_response_size_bytes", Help: "Size of HTTP responses without headers.",
			Buckets: []float64{1e3, 1e4, 1e5, 1e6, 1e7, 1e8},
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "birthmark_http_requests_in_flight", Help: "HTTP requests that are being served.",
		}),
		routes: map[string]string{},
	}
}

func (q *requests) collectors() []prometheus.Collector {
	return []prometheus.Collector{q.total, q.duration, q.size, q.inFlight}
}

type abortedKey struct{}

// Wrap counts the requests of next by the pattern that next leaves in [http.Request.Pattern]. Aborted responses count
// too.
func (m *Metrics) Wrap(next http.Handler) http.Handler {
	q := m.requests
	route := promhttp.WithLabelFromRequest("route", func(r *http.Request) string { return q.route(r.Pattern) })
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { *r.Context().Value(abortedKey{}).(*any) = recover() }() // promhttp does not count what panics
		next.ServeHTTP(w, r)
	})
	h = promhttp.InstrumentHandlerResponseSize(q.size, h, route)
	h = promhttp.InstrumentHandlerCounter(q.total, h, route)
	h = promhttp.InstrumentHandlerDuration(q.duration, h, route)
	h = promhttp.InstrumentHandlerInFlight(q.inFlight, h)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var aborted any
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), abortedKey{}, &aborted)))
		if aborted != nil {
			panic(aborted)
		}
	})
}

// route returns the label of a pattern, which may begin with a method.
func (q *requests) route(pattern string) string {
	q.mu.RLock()
	route, known := q.routes[pattern]
	q.mu.RUnlock()
	if known {
		return route
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.routes) >= maxRoutes {
		return otherRoute
	}
	route = pattern
	if _, path, ok := strings.Cut(pattern, " "); ok {
		route = strings.TrimSpace(path)
	}
	if route == "" {
		route = noRoute
	}
	q.routes[pattern] = route
	return route
}
