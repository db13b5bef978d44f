package ratelimit

import (
	"log/slog"
	"math"
	"net/http"
	"net/netip"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"birthmark/api/auth"
	"birthmark/api/netserver"
	"birthmark/api/problem"
	"birthmark/core/meter"
)

// Options are the limits on requests. Zero means no limit. [Defaults] suit a server on a small machine.
type Options struct {
	Log *slog.Logger // nil: no log

	Keys      *auth.Keys // nil: no API keys
	Anonymous bool       // with Keys: also accept requests without a key, as those of their IP address

	Rate    Rate           // of a client without its own rate
	Submit  float64        // transactions that a client may submit per minute, counted by [Submission]
	Clients int            // clients that are tracked; above it, one that was idle for long is dropped
	Proxies []netip.Prefix // whose X-Forwarded-For is trusted

	Timeout time.Duration // of an answer, except a stream
	Stall   time.Duration // for a client to accept a part of an answer, and to send its whole request body
	Body    int64         // bytes
	URI     int           // bytes of path and query

	// Expensive limits concurrent requests that cost more than plain ones: by default, they run on half of the processors.
	// A client gets at most half of it, at least one. A request waits for its place at most Wait, a stream as long as
	// necessary.
	Expensive int64
	Wait      time.Duration

	// Medium limits concurrent requests that cost more than about a millisecond, and are not expensive. They wait for their
	// place, so that the processors are free for short ones.
	Medium int64

	// Memory is the budget of bytes that answers hold which are read, encoded or sent; nil: no limit.
	Memory *meter.Budget

	// Streams is the number of concurrent streams, StreamsEach those of one client unless it is on this machine. Each
	// occupies a connection.
	Streams, StreamsEach int

	// Origins are the origins of web pages that may send requests from a browser: "https://example.org",
	// "https://*.example.org". Empty: only pages of the server itself. "*": pages of all origins, to APIs and
	// the paths below them. Pages of the explorer, which can have private names of addresses, and metrics are no APIs.
	Origins []string
	APIs    []string

	// CheckHost rejects requests whose Host header is not an IP address, localhost, or one of Hosts (lower case), unless
	// one of Proxies forwards them. For servers that only this machine can reach.
	CheckHost bool
	Hosts     []string

	// Upload reports whether the handler of requests to a path calls [Upload], so that they have no limit of bytes. It may
	// be nil.
	Upload func(r *http.Request) bool

	// Errors write rejections of requests to a path and the paths below it, for protocols with their own form of errors.
	// Others are problem documents.
	Errors map[string]func(http.ResponseWriter, *problem.Problem)

	// Writes reports whether the handler of a path answers PUT and DELETE. Nil: no handler does.
	Writes func(path string) bool

	// Rejected is called with the reason of each rejected request, one of [Reasons]. It may be nil.
	Rejected func(reason string)
}

// Rate is how many requests a client may send: PerSecond on average, Burst at once. An expensive request counts as
// several: one per [meter.Unit] of its cost, which is taken while the cost is spent. It continues until the client has
// used its Burst in advance. The zero Rate means no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

func (r Rate) limited() bool { return r.PerSecond > 0 }

// time returns the time in which a client gets units.
func (r Rate) time(units float64) time.Duration {
	return time.Duration(math.Ceil(units / r.PerSecond * float64(time.Second)))
}

func (r Rate) limit() (rate.Limit, int) {
	if !r.limited() {
		return rate.Inf, 0
	}
	return rate.Limit(r.PerSecond), max(r.Burst, 1)
}

// Defaults returns limits that a normal client does not reach. They have no rate, which depends on the clients.
func Defaults() Options {
	return Options{
		Clients:   1 << 16,
		Timeout:   10 * time.Second,
		Stall:     10 * time.Second,
		Body:      1 << 20, // a batch of 1,000 outputs has less than 100 kB
		URI:       8 << 10,
		Expensive: int64(max(1, runtime.GOMAXPROCS(0)/2)),
		Wait:      5 * time.Second,
		Medium:    int64(2 * runtime.GOMAXPROCS(0)),

		Streams: 2048, StreamsEach: 64,
	}
}

// Codes of the problems of rejected requests.
const (
	methodNotAllowed = "method_not_allowed"
	unauthorized     = "unauthorized"
	tooManyRequests  = "too_many_requests"
	tooLarge         = "too_large"
	uriTooLong       = "uri_too_long"
	overloaded       = "overloaded"
	tooManyStreams   = "too_many_streams"
	timeout          = "timeout"
	internal         = "internal"
)

// Reasons returns all reasons for Options.Rejected: the codes of problems.
func Reasons() []string {
	return []string{
		methodNotAllowed, unauthorized, tooManyRequests, tooLarge, uriTooLong, overloaded, tooManyStreams, timeout,
		netserver.CodeWrongHost, internal,
	}
}

// New returns next with the limits of o.
func New(o Options, next http.Handler) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Upload == nil {
		o.Upload = func(*http.Request) bool { return false }
	}
	if o.Writes == nil {
		o.Writes = func(string) bool { return false }
	}
	if o.Rejected == nil {
		o.Rejected = func(string) {}
	}
	h := &handler{Options: o, next: next, clients: newClients(o.Clients, (o.Expensive+1)/2)}
	h.clients.submit = Rate{PerSecond: o.Submit / 60, Burst: int(math.Ceil(o.Submit))}
	h.errors.limit = rate.NewLimiter(errorsPerSecond, errorsPerSecond)
	h.unavailable.limit = rate.NewLimiter(rate.Every(unavailableInterval), 1)
	if o.Expensive > 0 {
		h.expensive = semaphore.NewWeighted(o.Expensive)
	}
	if o.Medium > 0 {
		h.medium = semaphore.NewWeighted(o.Medium)
	}
	return h.withOrigins(h)
}
