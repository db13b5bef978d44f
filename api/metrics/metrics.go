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

// Metrics are the metrics of a server. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	requests *requests
	scrapes  chan struct{} // a slot for each scrape that runs

	rejected    *prometheus.CounterVec
	connections prometheus.Gauge
	subscribers *prometheus.GaugeVec
	electrum    *electrumMetrics
}

// maxScrapes is how many scrapes run at once, since each reads the databases. Others wait.
const maxScrapes = 2

// New returns the metrics of a server of chains. version is the version of the program.
func New(chains []*served.Chain, version string) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: newRequests(),
		electrum: newElectrumMetrics(),
		scrapes:  make(chan struct{}, maxScrapes),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "birthmark_http_requests_rejected_total", Help: "Rejected requests and connections by reason.",
		}, []string{"reason"}),
		connections: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "birthmark_http_connections", Help: "Open connections.",
		}),
		subscribers: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "birthmark_event_subscribers", Help: "Clients that receive the events of a chain.",
		}, []string{"chain"}),
	}
	m.registry.MustRegister(m.rejected, m.connections, m.subscribers, collector(chains), build(version),
		m.requests.total, m.requests.duration, m.requests.size, m.requests.inFlight,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m.electrum.collectors()...)
	// Create every series with 0, so that rate() sees the first event.
	for _, c := range chains {
		m.subscribers.WithLabelValues(c.Name)
	}
	for _, reason := range slices.Concat(ratelimit.Reasons(), netserver.Reasons()) {
		m.rejected.WithLabelValues(reason)
	}
	return m
}

// build returns the metric of the version.
func build(version string) prometheus.Collector {
	commit := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				commit = s.Value
			}
		}
	}
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "birthmark_build_info", Help: "Always 1; the labels have the version of the program.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "go": runtime.Version()},
	})
	g.Set(1)
	return g
}

// Handler serves /metrics.
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

// Rejected counts a rejected request or connection by its reason, one of [ratelimit.Reasons] or [netserver.Reasons].
func (m *Metrics) Rejected(reason string) { m.rejected.WithLabelValues(reason).Inc() }

// Connections sets the number of open connections.
func (m *Metrics) Connections(open int) { m.connections.Set(float64(open)) }

// Subscribed counts a subscriber of a chain's events until left is called.
func (m *Metrics) Subscribed(chain string) (left func()) {
	g := m.subscribers.WithLabelValues(chain)
	g.Inc()
	return g.Dec
}
