package metrics

import (
	"net/http"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"birthmark/api/netserver"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
)

// Metrics is what a server tells of itself. It may be used from any goroutine.
type Metrics struct {
	registry *prometheus.Registry
	requests *requests
	scrapes  chan struct{} // those that are being answered

	refused     *prometheus.CounterVec
	connections prometheus.Gauge
	followers   *prometheus.GaugeVec
}

// mostAtOnce is how many scrapes are answered at once, for each asks the databases. Others wait.
const mostAtOnce = 2

// New makes the metrics of a server of chains.
func New(chains []*served.Chain) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: newRequests(),
		scrapes:  make(chan struct{}, mostAtOnce),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "birthmark_http_refused_total", Help: "Requests and connections that were refused, by why.",
		}, []string{"reason"}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "birthmark_http_connections", Help: "Connections that are open.",
		}),
		followers: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "birthmark_event_followers", Help: "Clients that follow a chain's events.",
		}, []string{"chain"}),
	}
	m.registry.MustRegister(m.refused, m.connections, m.followers, newChains(chains), build(),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.requests.collectors()...)
	// What has not happened yet is 0, so that the first time is an increase.
	for _, c := range chains {
		m.followers.WithLabelValues(c.Name)
	}
	for _, reason := range slices.Concat(ratelimit.Reasons(), netserver.Reasons()) {
		m.refused.WithLabelValues(reason)
	}
	return m
}

// build says which program this is.
func build() prometheus.Collector {
	version, commit := "unknown", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "birthmark_build_info", Help: "Always 1; the labels say which program this is.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "go": runtime.Version()},
	})
	g.Set(1)
	return g
}

// Handler answers /metrics.
func (m *Metrics) Handler() http.Handler {
	scrape := promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case m.scrapes <- struct{}{}:
			defer func() { <-m.scrapes }()
			scrape.ServeHTTP(w, r)
		case <-r.Context().Done():
			problem.Write(w, problem.Of(r.Context().Err()))
		}
	})
}

// Refused counts what was refused for a reason, one of the Reasons of ratelimit and netserver.
func (m *Metrics) Refused(reason string) { m.refused.WithLabelValues(reason).Inc() }

// Connections says how many are open.
func (m *Metrics) Connections(open int) { m.connections.Set(float64(open)) }

// Followed counts a follower of a chain's events in until the function that it returns is called.
func (m *Metrics) Followed(chain string) (left func()) {
	g := m.followers.WithLabelValues(chain)
	g.Inc()
	return g.Dec
}
