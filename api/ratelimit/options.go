package ratelimit

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/rs/cors"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"birthmark/api/auth"
	"birthmark/api/netserver"
)

// Options are the limits on requests. What is zero is not limited; [Defaults] are limits that suit a server on a small
// machine.
type Options struct {
	Log *slog.Logger // nil: nothing is logged

	Keys      *auth.Keys // nil: nobody is asked for a key
	Anonymous bool       // with Keys: who has none is answered too, as one of their address

	Rate    Rate           // of a client whose key has none of its own
	Clients int            // how many clients are remembered; past it, one that was not seen for long is forgotten
	Proxies []netip.Prefix // whose X-Forwarded-For is believed

	Timeout time.Duration // of an answer, except a stream
	Stall   time.Duration // how long a client may take nothing of an answer; and a body has to be there by then
	Body    int64         // bytes
	URI     int           // bytes of path and query

	// Expensive is how much of what is expensive is done at once, in the units of [Take], 2 at least; a client gets
	// half of it at most. A request waits for its part no longer than Wait.
	Expensive int64
	Wait      time.Duration

	// Streams is how many streams go on at once, and StreamsEach of one client, unless it is on this machine: each keeps a
	// connection that others cannot have.
	Streams, StreamsEach int

	// Origins are the web pages' that may ask from a browser: "https://example.org", "https://*.example.org", "*".
	// Empty: none but the server's own.
	Origins []string

	// CheckHost refuses requests for another host than this machine, by an address or as localhost, or one of Hosts,
	// which are in lower case. Requests that one of Proxies hands on are not checked. It is for servers that only this
	// machine can reach.
	CheckHost bool
	Hosts     []string

	// Refused is told why a request was refused, in one of [Reasons]. It may be nil.
	Refused func(reason string)
}

// Rate is how many requests a client may make: PerSecond in the long run, Burst at once. An expensive request counts as
// several ([Take]). The zero Rate is no limit.
type Rate struct {
	PerSecond float64
	Burst     int
}

// Defaults are limits that let a normal client do anything. They limit no rates, which depend on who asks.
func Defaults() Options {
	return Options{
		Clients:   1 << 16,
		Timeout:   10 * time.Second,
		Stall:     10 * time.Second,
		Body:      1 << 20, // a batch of 1,000 outputs has less than 100 kB
		URI:       8 << 10,
		Expensive: 64,
		Wait:      2 * time.Second,

		Streams: 2048, StreamsEach: 64,
	}
}

// What a request may be refused for: the codes of the problems that New answers with, for Options.Refused.
const (
	notAllowed = "method_not_allowed"
	noKey      = "unauthorized"
	tooMany    = "too_many_requests"
	tooLarge   = "too_large"
	tooLong    = "uri_too_long"
	tooBusy    = "too_busy"
	tooStreamy = "too_many_streams"
	tooSlow    = "too_slow"
	failed     = "internal"
)

// Reasons are all that Options.Refused may be told.
func Reasons() []string {
	return []string{
		notAllowed, noKey, tooMany, tooLarge, tooLong, tooBusy, tooStreamy, tooSlow, netserver.CodeWrongHost, failed,
	}
}

// New is next within the limits of o.
func New(o Options, next http.Handler) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Refused == nil {
		o.Refused = func(string) {}
	}
	g := &guard{Options: o, next: next, clients: newClients(o.Clients, o.Expensive/2)}
	g.faults.limit = rate.NewLimiter(faultsPerSecond, faultsPerSecond)
	g.late.limit = rate.NewLimiter(rate.Every(unavailableEvery), 1)
	if o.Expensive > 1 {
		g.expensive = semaphore.NewWeighted(o.Expensive)
	}
	if len(o.Origins) == 0 {
		return g
	}
	return cors.New(cors.Options{
		AllowedOrigins: o.Origins,
		AllowedMethods: []string{http.MethodGet, http.MethodHead, http.MethodPost},
		AllowedHeaders: []string{"Accept", "Authorization", "Content-Type", "If-None-Match", "Last-Event-ID", auth.Header},
		ExposedHeaders: []string{"ETag", "X-Tip", "X-Tip-Height", "Retry-After", rateHeader, policyHeader, "Link"},
		MaxAge:         int(time.Hour / time.Second),
	}).Handler(g)
}
