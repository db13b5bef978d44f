package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// electrumMetrics are the metrics of the Electrum servers of all chains.
type electrumMetrics struct {
	requests      *prometheus.CounterVec
	duration      *prometheus.HistogramVec
	notifications *prometheus.CounterVec
	rejected      *prometheus.CounterVec
	connections   *prometheus.GaugeVec
	subscriptions *prometheus.GaugeVec
}

func newElectrumMetrics() *electrumMetrics {
	return &electrumMetrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "birthmark_electrum_requests_total", Help: "Electrum requests by method and error code; 0: no error.",
		}, []string{"chain", "method", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "birthmark_electrum_request_duration_seconds", Help: "Duration of Electrum requests.",
			Buckets: []float64{.0001, .0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10},
		}, []string{"chain", "method"}),
		notifications: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "birthmark_electrum_notifications_total", Help: "Notifications sent to Electrum clients.",
		}, []string{"chain", "method"}),
		rejected: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "birthmark_electrum_connections_rejected_total", Help: "Electrum connections rejected or closed, by reason.",
		}, []string{"chain", "reason"}),
		connections: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "birthmark_electrum_connections", Help: "Open Electrum connections.",
		}, []string{"chain"}),
		subscriptions: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "birthmark_electrum_subscriptions", Help: "Subscriptions of Electrum clients.",
		}, []string{"chain"}),
	}
}

func (e *electrumMetrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{e.requests, e.duration, e.notifications, e.rejected, e.connections, e.subscriptions}
}

// Electrum returns the observer of the Electrum server of a chain; reasons are the possible reasons to reject a
// connection.
func (m *Metrics) Electrum(chain string, reasons []string) *Electrum {
	e := m.electrum
	for _, reason := range reasons { // create every series with 0
		e.rejected.WithLabelValues(chain, reason)
	}
	return &Electrum{e, chain, e.connections.WithLabelValues(chain), e.subscriptions.WithLabelValues(chain)}
}

// Electrum receives the events of the Electrum server of one chain.
type Electrum struct {
	*electrumMetrics
	chain      string
	open, subs prometheus.Gauge
}

// Answered counts a request.
func (e *Electrum) Answered(method string, code int, took time.Duration) {
	e.requests.WithLabelValues(e.chain, method, strconv.Itoa(code)).Inc()
	e.duration.WithLabelValues(e.chain, method).Observe(took.Seconds())
}

// Notified counts a notification.
func (e *Electrum) Notified(method string) { e.notifications.WithLabelValues(e.chain, method).Inc() }

// Connected counts open connections.
func (e *Electrum) Connected(change int) { e.open.Add(float64(change)) }

// Subscribed counts subscriptions.
func (e *Electrum) Subscribed(change int) { e.subs.Add(float64(change)) }

// RejectedConnection counts a rejected connection.
func (e *Electrum) RejectedConnection(reason string) {
	e.rejected.WithLabelValues(e.chain, reason).Inc()
}
