package exchange

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"strings"

	"birthmark/api/problem"
)

// Protocol is an API below a path. V is a view of the chain at one tip.
type Protocol[V any] struct {
	Path      string // such as "/api"; empty: the root
	Endpoints []Endpoint[V]

	// Open calls fn with a view, which is valid until fn returns.
	Open func(r *Request, fn func(V) error) error

	// ETag returns the ETag of the answers from a view; empty: they have none. Nil: no answer has one. A client that has
	// the answer gets status 304, before the second step of the endpoint.
	ETag func(V) string

	// Error returns how the protocol words an error. The request is nil if the server rejected it.
	Error func(r *Request, err error) Failure

	// NotFound returns the error of a path without endpoint, which is below Path. allowed has its methods, if it has others.
	NotFound func(r *Request, path string, allowed []string) error

	// Preflight has the headers of the answer to OPTIONS, for all paths; nil: it has none.
	Preflight http.Header

	JSON    string       // media type of JSON; empty: [TypeJSON]
	End     string       // ends each answer with a body: a newline, or nothing
	Trim    bool         // slashes at both ends of the rest of a path are ignored
	MaxBody int64        // bytes of a body; 0: [DefaultBody]
	Log     *slog.Logger // nil: no log
}

// Endpoint is an operation of a protocol. It has one of the functions.
type Endpoint[V any] struct {
	Method  string // GET answers HEAD, too
	Path    string // segments in braces are arguments, which can be empty; {name...} is the rest of the path
	Mempool bool   // the view has the unconfirmed transactions: see [Request.Mempool]

	Unread   bool // the body is not read: the answer is an [http.Handler], which reads it
	Volatile bool // the answer depends on more than the view: status is never 304

	// Answer reads the arguments, and returns the function that returns the value of the answer.
	Answer func(*Request) func(V) (any, error)

	// Node returns the value of an answer that comes from the node, and needs no view.
	Node func(*Request) (any, error)
}

// Failure is an error as the client gets it.
type Failure struct {
	Status int
	Type   string // media type; empty: there is no body
	Body   []byte
}

// Handler answers the requests of a protocol. It sets [http.Request.Pattern] to the path of the endpoint. It is a
// [ProblemWriter].
func Handler[V any](p Protocol[V]) http.Handler {
	h := newHandler(p)
	for _, e := range p.Endpoints {
		rt := &route[V]{
			Endpoint: e, label: p.Path + "/" + e.Path, segments: strings.Split(e.Path, "/"), open: strings.HasSuffix(e.Path, "...}"),
		}
		first := rt.segments[0]
		if isArgument(first) {
			first = ""
		}
		h.routes[first] = append(h.routes[first], rt)
	}
	return h
}

// Single returns a handler of one endpoint of a protocol that has a router of its own, such as [http.ServeMux].
func Single[V any](p Protocol[V], e Endpoint[V]) http.Handler {
	h, rt := newHandler(p), &route[V]{Endpoint: e}
	return http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		h.serve(w, hr, func(r *Request) error {
			if r.method() != e.Method {
				return h.NotFound(r, r.URL.Path, []string{e.Method})
			}
			return h.answer(r, rt)
		})
	})
}

func newHandler[V any](p Protocol[V]) *handler[V] {
	if p.Log == nil {
		p.Log = slog.New(slog.DiscardHandler)
	}
	if p.MaxBody == 0 {
		p.MaxBody = DefaultBody
	}
	if p.JSON == "" {
		p.JSON = TypeJSON
	}
	return &handler[V]{Protocol: p, routes: map[string][]*route[V]{}}
}

type handler[V any] struct {
	Protocol[V]
	routes map[string][]*route[V] // by first segment of the path; empty: an argument
}

type route[V any] struct {
	Endpoint[V]
	segments []string
	label    string
	open     bool // the last segment is the rest of the path
}

func isArgument(segment string) bool { return strings.HasPrefix(segment, "{") }

// find returns the endpoint of a request and sets its arguments. The first one that matches answers.
func (h *handler[V]) find(r *Request) (found *route[V], allowed []string) {
	method := r.method()
	path := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, h.Path), "/")
	if h.Trim {
		path = strings.Trim(path, "/")
	}
	first, _, _ := strings.Cut(path, "/")
	n := 1 + strings.Count(path, "/")
	for _, routes := range [2][]*route[V]{h.routes[first], h.routes[""]} {
		for _, rt := range routes {
			r.args = r.args[:0]
			switch {
			case n != len(rt.segments) && (!rt.open || n < len(rt.segments)), !r.matches(rt.segments, path):
			case rt.Method == method || rt.Method == r.Method:
				return rt, nil
			default:
				allowed = append(allowed, rt.Method)
			}
		}
		if first == "" {
			break
		}
	}
	return nil, allowed
}

// matches reports whether a path, which has as many segments or more, matches them, and appends the arguments.
func (r *Request) matches(segments []string, path string) bool {
	for _, segment := range segments {
		value, rest, _ := strings.Cut(path, "/")
		if name, ok := strings.CutSuffix(segment, "...}"); ok {
			r.args = append(r.args, argument{name[1:], path})
		} else if isArgument(segment) {
			r.args = append(r.args, argument{segment[1 : len(segment)-1], value})
		} else if value != segment {
			return false
		}
		path = rest
	}
	return true
}

func (h *handler[V]) ServeHTTP(w http.ResponseWriter, hr *http.Request) {
	if hr.Method == http.MethodOptions && h.Preflight != nil {
		maps.Copy(w.Header(), h.Preflight)
		w.WriteHeader(http.StatusNoContent)
		return
	}
	h.serve(w, hr, func(r *Request) error {
		rt, allowed := h.find(r)
		if rt == nil {
			hr.Pattern = ""
			return h.NotFound(r, strings.TrimPrefix(r.URL.Path, h.Path), allowed)
		}
		hr.Pattern = rt.label
		return h.answer(r, rt)
	})
}

// serve answers a request with what fn appends.
func (h *handler[V]) serve(w http.ResponseWriter, hr *http.Request, fn func(*Request) error) {
	r := requests.Get().(*Request)
	r.begin(w, hr, h.JSON)
	defer r.end()
	if err := fn(r); err != nil {
		h.fail(r, err)
		return
	}
	if len(r.out.JSON) > 0 {
		r.out.JSON = append(r.out.JSON, h.End...)
	}
	r.finish()
}

func (h *handler[V]) answer(r *Request, rt *route[V]) error {
	if rt.Method == http.MethodPost && !rt.Unread {
		r.readBody(h.MaxBody)
	}
	r.mempool = rt.Mempool
	if rt.Node != nil {
		if r.invalid != nil {
			return r.invalid
		}
		v, err := rt.Node(r)
		if err != nil {
			return err
		}
		return r.appendWhole(v)
	}
	answer := rt.Answer(r)
	if r.invalid != nil {
		return r.invalid
	}
	return h.Open(r, func(view V) error {
		if h.ETag != nil && r.hasAnswer(h.ETag(view)) && !rt.Volatile {
			r.status = http.StatusNotModified
			return nil
		}
		v, err := answer(view)
		if err != nil {
			return err
		}
		return r.appendWhole(v)
	})
}

// ProblemWriter writes errors of the server, such as an exceeded limit, in the form of a protocol.
type ProblemWriter interface {
	WriteProblem(w http.ResponseWriter, p *problem.Problem)
}

// WriteProblem implements [ProblemWriter].
func (h *handler[V]) WriteProblem(w http.ResponseWriter, p *problem.Problem) {
	h.Error(nil, p).Write(w)
}

// fail answers with an error. If a part of the answer was sent, the connection is closed: the client must not take the
// part for the whole.
func (h *handler[V]) fail(r *Request, err error) {
	if r.sent {
		panic(http.ErrAbortHandler)
	}
	f := h.Error(r, err)
	gone := r.Context().Err()
	if f.Status == http.StatusInternalServerError && gone != context.Canceled || gone == nil && errors.Is(err, context.DeadlineExceeded) {
		h.Log.Error("a request failed", "route", r.Pattern, "error", err)
	}
	f.Write(r.w)
}
