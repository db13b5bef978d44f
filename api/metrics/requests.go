package metrics

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// requests counts what passes.
type requests struct {
	total    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	bytes    *prometheus.CounterVec
	inFlight prometheus.Gauge

	mu     sync.RWMutex
	routes map[string]string // by pattern
}

const (
	// noRoute is the route of a request that no path is for, otherRoute of those past mostRoutes: a handler that named
	// routes after paths would make as many metrics as there are paths.
	noRoute    = "none"
	otherRoute = "other"
	mostRoutes = 200
)

// buckets are in seconds: most answers take less than a millisecond, the slowest what a request may take.
var buckets = []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10}

func newRequests() *requests {
	return &requests{
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "birthmark_http_requests_total", Help: "Requests that were answered, by the pattern of their path.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "birthmark_http_request_seconds", Help: "How long answers took, to their last byte.", Buckets: buckets,
		}, []string{"route"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "birthmark_http_response_bytes_total", Help: "Bytes of answers, without their headers.",
		}, []string{"route"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "birthmark_http_requests_in_flight", Help: "Requests that are being answered.",
		}),
		routes: map[string]string{},
	}
}

func (q *requests) collectors() []prometheus.Collector {
	return []prometheus.Collector{q.total, q.seconds, q.bytes, q.inFlight}
}

// Wrap is next, counted by the pattern that it leaves in [http.Request.Pattern].
func (m *Metrics) Wrap(next http.Handler) http.Handler {
	q := m.requests
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		began := time.Now()
		w := &writer{ResponseWriter: rw}
		q.inFlight.Inc()
		defer func() {
			q.inFlight.Dec()
			route := q.route(r.Pattern)
			q.total.WithLabelValues(route, method(r.Method), status(w.status)).Inc()
			q.seconds.WithLabelValues(route).Observe(time.Since(began).Seconds())
			q.bytes.WithLabelValues(route).Add(float64(w.bytes))
		}()
		next.ServeHTTP(w, r)
	})
}

// route is the label of a pattern, which may begin with a method.
func (q *requests) route(pattern string) string {
	q.mu.RLock()
	route, known := q.routes[pattern]
	q.mu.RUnlock()
	if known {
		return route
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.routes) >= mostRoutes {
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

func method(m string) string {
	switch m {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions:
		return m
	}
	return "other"
}

func status(n int) string {
	switch n {
	case 0, http.StatusOK: // a handler that says nothing says that all is well
		return "200"
	case http.StatusNotModified:
		return "304"
	case http.StatusNotFound:
		return "404"
	}
	return strconv.Itoa(n)
}

// writer notes what is answered.
type writer struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader implements [http.ResponseWriter].
func (w *writer) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *writer) Write(b []byte) (int, error) {
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// Unwrap is for [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }
