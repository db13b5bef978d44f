package events

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"birthmark/api/problem"
	"birthmark/api/served"
	"birthmark/model"
)

// Options of a [Handler]. The zero value is a server's.
type Options struct {
	Subscribers  int           // clients of a chain at once; 0: DefaultSubscribers
	Heartbeat    time.Duration // a comment after so long a silence; 0: DefaultHeartbeat
	WriteTimeout time.Duration // a client that takes nothing for so long is dropped; 0: DefaultWriteTimeout
	Retry        time.Duration // clients are told to wait so long before they connect again; 0: DefaultRetry

	Done <-chan struct{} // closed: every client is told that the server stops, and its request ends; nil: it never does
	Log  *slog.Logger    // nil: no log
	// Followed is told of a client that begins to follow a chain, by its name, and calls what it returns when the client
	// ends; nil: nobody counts.
	Subscribed func(chain string) (left func())
}

// What [Options] are where they are zero.
const (
	DefaultSubscribers  = 2048 // as many as a server with the default limit of connections may have streams
	DefaultHeartbeat    = 15 * time.Second
	DefaultWriteTimeout = 20 * time.Second
	DefaultRetry        = 3 * time.Second
)

// Comments, which clients do not see.
const (
	heartbeat = ":\n\n"
	stopping  = ": the server stops\n\n"
	failing   = ": the server failed\n\n"
)

// ContentType is the media type of events.
const ContentType = "text/event-stream"

type handler struct {
	Options
	source      *source
	subscribers atomic.Int64
}

// Handler answers GET with the events of a chain, wherever it is mounted. Requests that cannot be answered are told why with
// a [problem.Problem] before the first event: wrong parameters (400), an event id that is none of the chain's (400 bad_event_id), too
// many clients (503 too_many_subscribers).
//
// A request lasts until the client leaves or Options.Done is closed. Timeouts of the [http.Server] do not end it: it has its own.
func Handler(chain *served.Chain, o Options) http.Handler {
	h := &handler{Options: o, source: newSource(chain)}
	if h.Subscribers <= 0 {
		h.Subscribers = DefaultSubscribers
	}
	for _, d := range []struct {
		of *time.Duration
		is time.Duration
	}{{&h.Heartbeat, DefaultHeartbeat}, {&h.WriteTimeout, DefaultWriteTimeout}, {&h.Retry, DefaultRetry}} {
		if *d.of <= 0 {
			*d.of = d.is
		}
	}
	if h.Log == nil {
		h.Log = slog.New(slog.DiscardHandler)
	}
	if h.Subscribed == nil {
		h.Subscribed = func(string) func() { return func() {} }
	}
	return h
}

// ServeHTTP implements [http.Handler].
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		problem.Write(w, problem.New(http.StatusMethodNotAllowed, "method_not_allowed", "%.20s of events: expected GET", r.Method))
		return
	}
	wants, err := h.source.places.ids.read(r)
	if err != nil {
		problem.Write(w, problem.Of(err))
		return
	}
	defer h.subscribers.Add(-1)
	switch n := h.subscribers.Add(1); {
	case h.stopped():
		problem.Write(w, problem.Of(context.Canceled))
		return
	case n > int64(h.Subscribers):
		w.Header().Set("Retry-After", strconv.Itoa(int(max(1, h.Retry.Seconds()))))
		problem.Write(w, problem.New(http.StatusServiceUnavailable, "too_many_subscribers", "%d clients follow the events of %s, which is the most at once: try again later", h.Subscribers, h.source.chain.Name))
		return
	}
	defer h.Subscribed(h.source.chain.Name)()
	of := &h.source.connected[wants.detail()]
	of.Add(1)
	defer of.Add(-1)
	f := follower{handler: h, wants: wants, w: w, out: http.NewResponseController(w), most: fewBlocks}
	if err := f.begin(r.Context()); err != nil {
		h.note(r, "events cannot begin", err)
		problem.Write(w, problem.Of(err))
		return
	}
	if err := f.follow(r.Context()); err != nil {
		h.note(r, "events end", err)
	}
}

func (h *handler) stopped() bool {
	select {
	case <-h.Done:
		return true
	default:
		return false
	}
}

// note logs what is no fault of the request and no leave of the client.
func (h *handler) note(r *http.Request, what string, err error) {
	if kind, _ := model.KindOf(err); kind == model.Internal && !errors.Is(err, errGone) && !errors.Is(err, context.Canceled) {
		h.Log.Error(what, "chain", h.source.chain.Name, "path", r.URL.Path, "error", err)
	}
}
