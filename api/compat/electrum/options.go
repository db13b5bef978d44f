package electrum

import (
	"log/slog"
	"net/netip"
	"runtime"
	"time"

	"birthmark/core/meter"
)

// Options configure a [Server]. [Defaults] has the limits.
type Options struct {
	Log      *slog.Logger // nil: no log
	Version  string       // of the program
	Banner   string
	Donation string // address; may be empty
	Observer Observer
	Proxies  []netip.Prefix // whose clients have no limits of their own, and whose X-Forwarded-For is trusted (WebSocket)
	Origins  []string       // of web pages that may connect by WebSocket: "https://example.org", "*"
	Memory   *meter.Budget  // of answers, shared with other servers; nil: no limit

	Limits
}

// Limits bound what clients can use. The limits of a client do not apply to clients on this machine, which may be a
// proxy, and to [Options.Proxies]. Zero means no limit, except for MaxRequest and MaxBatch.
type Limits struct {
	MaxConnections   int           // of the server
	ClientConns      int           // of one client
	ClientSubs       int           // subscriptions of one client
	MaxRequest       int           // bytes of a message
	MaxBatch         int           // requests of a message
	IdleTimeout      time.Duration // without a request
	RequestTimeout   time.Duration // of an answer, without the time that the client takes to receive it
	StallTimeout     time.Duration // for a client to receive 64 KiB; a long answer must be received at 32 KiB/s on average
	SoftCost         float64       // cost of a client above which its requests are delayed
	HardCost         float64       // cost above which the connection ends
	CostPerSecond    float64       // by which the cost of a client falls
	SubmitPerMinute  float64       // transactions that a client submits
	LongAnswers      int           // that are read and encoded at the same time, on half of the processors; others wait
	malformedAllowed int
}

// Defaults returns the limits for a small machine.
func Defaults() Limits {
	return Limits{
		MaxConnections: 4096, ClientConns: 12, ClientSubs: 75_000,
		MaxRequest: 1 << 20, MaxBatch: 1000,
		IdleTimeout: 10 * time.Minute, RequestTimeout: 30 * time.Second, StallTimeout: 10 * time.Second,
		SoftCost: 1000, HardCost: 10_000, CostPerSecond: 50,
		LongAnswers: max(1, runtime.GOMAXPROCS(0)/2), malformedAllowed: 10,
	}
}

// Observer receives the events of a server for metrics. Its methods are called concurrently.
type Observer interface {
	// Answered is called after each request: code is that of the error, 0 without one. Unknown methods have the name
	// unknown.
	Answered(method string, code int, took time.Duration)
	Notified(method string)           // after each notification
	Connected(change int)             // when a connection opens (1) or closes (-1)
	Subscribed(change int)            // when the number of subscriptions changes
	RejectedConnection(reason string) // one of [Reasons]
}

// Reasons why connections are rejected or closed.
const (
	connectionLimit = "connection_limit" // of the server
	clientLimit     = "client_limit"     // connections of the client
	costLimit       = "cost_limit"
	malformed       = "malformed"
	stalled         = "stalled"
)

// Reasons returns all reasons of [Observer.RejectedConnection].
func Reasons() []string { return []string{connectionLimit, clientLimit, costLimit, malformed, stalled} }

type noObserver struct{}

func (noObserver) Answered(string, int, time.Duration) {}
func (noObserver) Notified(string)                     {}
func (noObserver) Connected(int)                       {}
func (noObserver) Subscribed(int)                      {}
func (noObserver) RejectedConnection(string)           {}
