package events

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"birthmark/api/problem"
	"birthmark/api/served"
	"birthmark/core/pending/answers"
	"birthmark/core/query"
	"birthmark/model"
)

// Options configure a [Handler]. The zero value has the defaults of a server.
type Options struct {
	Subscribers  int           // concurrent clients of a chain; 0: DefaultSubscribers
	Heartbeat    time.Duration // interval of comments while there are no events; 0: DefaultHeartbeat
	WriteTimeout time.Duration // for a client to accept a write; 0: DefaultWriteTimeout
	Retry        time.Duration // delay of reconnects, sent to clients; 0: DefaultRetry

	Done <-chan struct{} // ends all streams with a comment; nil: never
	Log  *slog.Logger    // nil: no log
	// Subscribed is called with the name of the chain when a client connects, and the result when it disconnects; may be nil.
	Subscribed func(chain string) (left func())
}

// Defaults of [Options].
const (
	DefaultSubscribers  = 2048 // the default limit of streams
	DefaultHeartbeat    = 15 * time.Second
	DefaultWriteTimeout = 20 * time.Second
	DefaultRetry        = 3 * time.Second
)

// Comments, which clients ignore.
const (
	heartbeat = ":\n\n"
	stopping  = ": the server is shutting down\n\n"
	failing   = ": internal error\n\n"
)

// ContentType is the media type of events.
const ContentType = "text/event-stream"

type handler struct {
	Options
	source      *source
	subscribers atomic.Int64
}

// Handler serves the events of a chain at any path. Errors before the first event are problem documents
// ([problem.Problem]): invalid parameters (400), an event id of another chain (400 bad_event_id), too many clients
// (503 too_many_subscribers).
//
// A request lasts until the client disconnects or Options.Done is closed. It replaces the timeouts of the [http.Server].
func Handler(chain *served.Chain, o Options) http.Handler {
	h := &handler{Options: o, source: newSource(chain)}
	h.Subscribers = cmp.Or(h.Subscribers, DefaultSubscribers)
	h.Heartbeat = cmp.Or(h.Heartbeat, DefaultHeartbeat)
	h.WriteTimeout = cmp.Or(h.WriteTimeout, DefaultWriteTimeout)
	h.Retry = cmp.Or(h.Retry, DefaultRetry)
	if h.Log == nil {
		h.Log = slog.New(slog.DiscardHandler)
	}
	if h.Subscribed == nil {
		h.Subscribed = func(string) func() { return func() {} }
	}
	return h
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet {
		w.Header().Set("Allow", http.MethodGet)
		problem.Write(w, problem.New(http.StatusMethodNotAllowed, "method_not_allowed", "method %.20s is not allowed for events: use GET", r.Method))
		return
	}
	request, err := h.source.positions.ids.read(r)
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
		problem.Write(w, problem.New(http.StatusServiceUnavailable, "too_many_subscribers", "%d clients subscribe to %s, the limit: retry later", h.Subscribers, h.source.chain.Name))
		return
	}
	if request.watch != "" {
		lists, err := h.source.chain.WatchLists()
		if err == nil {
			request.list, err = lists.Acquire(request.watch)
		}
		if err != nil {
			problem.Write(w, problem.Of(err))
			return
		}
		defer request.list.Release()
	} else if err := h.listWallets(r.Context(), &request); err != nil {
		problem.Write(w, problem.Of(err))
		return
	} else if request.list != nil {
		defer func() {
			request.list.Discard()
			request.list.Release()
		}()
	}
	if request.list != nil {
		request.what.List = request.list.List()
	}
	defer h.Subscribed(h.source.chain.Name)()
	of := &h.source.connected[request.detail()]
	of.Add(1)
	defer of.Add(-1)
	f := subscriber{handler: h, request: request, w: w, out: http.NewResponseController(w), maxBlocks: firstBlocks}
	if request.mempool {
		follower, err := h.source.chain.Unconfirmed()
		if err != nil {
			problem.Write(w, problem.Of(err))
			return
		}
		f.unconfirmed = &answers.Watch{
			Follower: follower, View: h.source.chain.View, List: request.what.List, Spends: request.what.Spends,
		}
		if request.what.Term != (query.Term{}) {
			f.unconfirmed.Terms = append([]query.Term{request.what.Term}, request.what.Or...)
		}
	}
	if err := f.begin(r.Context()); err != nil {
		h.logError(r, "cannot start events", err)
		problem.Write(w, problem.Of(err))
		return
	}
	if err := f.follow(r.Context()); err != nil {
		h.logError(r, "events failed", err)
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

// logError logs internal errors, except disconnects.
func (h *handler) logError(r *http.Request, what string, err error) {
	if kind, _ := model.KindOf(err); kind == model.Internal && !errors.Is(err, errDisconnected) && !errors.Is(err, context.Canceled) {
		h.Log.Error(what, "chain", h.source.chain.Name, "path", r.URL.Path, "error", err)
	}
}
