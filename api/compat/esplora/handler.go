package esplora

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"

	"birthmark/api/compat/wallet"
	"birthmark/model"
)

// Options configure a handler.
type Options struct {
	Chain *wallet.Chain
	Path  string       // below which the API is served: "/api"; empty: at the root
	Log   *slog.Logger // nil: no log
}

// New returns the handler of all requests below the path of o. It sets [http.Request.Pattern] to the route.
func New(o Options) http.Handler {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &handler{Options: o, routes: map[string][]*route{}}
	for _, r := range routes {
		r.segments = strings.Split(r.path, "/")
		r.label = o.Path + "/" + r.path
		h.routes[r.method+r.segments[0]] = append(h.routes[r.method+r.segments[0]], &r)
	}
	return h
}

type handler struct {
	Options
	routes map[string][]*route // by method and first segment of the path
}

// route is an endpoint.
type route struct {
	method string
	path   string // segments in braces are arguments
	answer func(*request) error
	// node: the answer comes from the node, so that it needs no view of the chain.
	node bool

	segments []string
	label    string
}

// request is a request and its answer.
type request struct {
	*handler
	ctx   context.Context
	r     *http.Request
	w     http.ResponseWriter
	args  []string
	view  *wallet.View // nil for routes to the node
	body  []byte       // of a POST
	query url.Values

	out         []byte // of the answer
	contentType string
	maxAge      int  // seconds
	sent        bool // a part of the answer was sent
	headers     map[uint32]headerInfo
}

var requests = sync.Pool{New: func() any { return new(request) }}

// maxKeptBuffer is the capacity in bytes up to which the buffer of an answer is used again.
const maxKeptBuffer = 1 << 20

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := requests.Get().(*request)
	*q = request{handler: h, ctx: r.Context(), r: r, w: w, out: q.out[:0], args: q.args[:0], headers: q.headers}
	clear(q.headers)
	defer func() {
		if cap(q.out) <= maxKeptBuffer {
			*q = request{out: q.out[:0], args: q.args[:0], headers: q.headers}
			requests.Put(q)
		}
	}()
	path := strings.TrimPrefix(r.URL.Path, h.Path)
	rt := q.match(path)
	if rt == nil {
		r.Pattern = ""
		q.fail(errorf(http.StatusNotFound, "endpoint does not exist %q", path))
		return
	}
	r.Pattern = rt.label
	if err := q.run(rt); err != nil {
		q.fail(err)
		return
	}
	if !q.sent {
		q.setHeaders()
		w.Header()["Content-Length"] = []string{strconv.Itoa(len(q.out))}
	}
	_, _ = w.Write(q.out) // fails only if the client is gone
}

// match finds the route of a path and sets the arguments. HEAD is answered as GET.
func (q *request) match(path string) *route {
	method := q.r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	path = strings.TrimPrefix(path, "/")
	first, _, _ := strings.Cut(path, "/")
	for _, rt := range q.routes[method+first] {
		if q.args = q.args[:0]; q.matches(rt, path) {
			return rt
		}
	}
	return nil
}

func (q *request) matches(rt *route, path string) bool {
	for i, segment := range rt.segments {
		value, rest, more := strings.Cut(path, "/")
		if segment[0] == '{' {
			q.args = append(q.args, value)
		} else if value != segment {
			return false
		}
		if last := i == len(rt.segments)-1; last || !more {
			return last && !more
		}
		path = rest
	}
	return false
}

func (q *request) run(rt *route) error {
	if rt.method == http.MethodPost {
		if err := q.readBody(); err != nil {
			return err
		}
	}
	if rt.node {
		return rt.answer(q)
	}
	return q.Chain.View(q.ctx, func(v *wallet.View) error {
		q.view = v
		return rt.answer(q)
	})
}

// param returns a parameter of the query; empty if it is absent.
func (q *request) param(name string) string {
	if q.r.URL.RawQuery == "" {
		return ""
	}
	if q.query == nil {
		q.query = q.r.URL.Query()
	}
	return q.query.Get(name)
}

// flushAt is the size in bytes of the parts in which long answers are sent.
const flushAt = 64 << 10

// flush sends the answer so far if it is long. The answer must be complete but for more of the same list.
func (q *request) flush() error {
	if len(q.out) < flushAt {
		return nil
	}
	if !q.sent {
		q.setHeaders()
		q.sent = true
	}
	_, err := q.w.Write(q.out)
	q.out = q.out[:0]
	if err == nil {
		err = q.ctx.Err()
	}
	return err
}

const (
	jsonType   = "application/json"
	textType   = "text/plain"
	binaryType = "application/octet-stream"
)

func (q *request) setHeaders() {
	h := q.w.Header()
	if q.contentType == "" {
		q.contentType = jsonType
	}
	h["Content-Type"] = []string{q.contentType}
	h["Cache-Control"] = []string{"public, max-age=" + strconv.Itoa(q.maxAge)}
}

// Lifetimes of answers in caches, in seconds.
const (
	forever = 157_784_630 // five years: what cannot change
	shortly = 10
	recent  = 5
	never   = 0
)

// finalDepth is the number of blocks above a block after which answers about it are cached forever.
const finalDepth = 10

// byDepth sets the lifetime of an answer about something confirmed at a height.
func (q *request) byDepth(height uint32) {
	q.maxAge = shortly
	if tip := uint32(q.view.Tip.Height); tip >= height && tip-height >= finalDepth {
		q.maxAge = forever
	}
}

func (q *request) byPlace(p wallet.Place) {
	q.maxAge = shortly
	if p.Confirmed {
		q.byDepth(p.Height)
	}
}

// hash reads a hash in display order.
func (q *request) hash(text string) (h model.Hash, err error) {
	h, ok := parseHash(text)
	if !ok {
		return h, errHex
	}
	return h, nil
}

func parseHash(text string) (h model.Hash, ok bool) {
	if len(text) != 2*len(h) {
		return h, false
	}
	for i := range h {
		high, low := nibble(text[2*i]), nibble(text[2*i+1])
		if high > 15 || low > 15 {
			return h, false
		}
		h[len(h)-1-i] = high<<4 | low
	}
	return h, true
}

// nibble returns the value of a hex digit, or 255.
func nibble(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
}

// number reads a number without sign. One that is larger than every height is returned as the largest.
func number(text string) (uint32, error) {
	n, err := strconv.ParseUint(text, 10, 32)
	if errors.Is(err, strconv.ErrRange) {
		return 1<<32 - 1, nil
	}
	if err != nil {
		return 0, errorf(http.StatusBadRequest, "Invalid number")
	}
	return uint32(n), nil
}
