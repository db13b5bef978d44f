package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"birthmark/api/auth"
	"birthmark/api/netserver"
	"birthmark/api/problem"
	"birthmark/core/meter"
)

const (
	rateHeader   = "Ratelimit"
	policyHeader = "Ratelimit-Policy"
)

// headers are the security headers of every answer. A handler may replace them. Pages load what the server has, and
// nothing else; none has inline styles or scripts.
var headers = map[string][]string{
	"Content-Security-Policy": {"default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; " +
		"frame-ancestors 'none'; form-action 'self'"},
	"X-Content-Type-Options": {"nosniff"},
	"Referrer-Policy":        {"same-origin"},
}

type handler struct {
	Options
	next        http.Handler
	clients     *clients
	expensive   *semaphore.Weighted // nil: no limit
	medium      *semaphore.Weighted // nil: no limit
	errors      logLimiter
	unavailable logLimiter   // status 503
	streams     atomic.Int64 // open
}

// ServeHTTP implements [http.Handler]. It sets r.Pattern to the pattern that next matched.
func (h *handler) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	began := time.Now()
	header := rw.Header()
	for name, value := range headers {
		header[name] = value
	}
	q := &request{
		handler: h, r: r, health: netserver.IsHealthCheck(r), began: began,
		w: writer{ResponseWriter: rw, stall: h.Stall, private: h.Keys != nil},
	}
	w := &q.w
	w.request = q
	q.work.begin(r.Context(), q, meter.Unit)
	defer func() {
		q.closeStream()
		q.work.end()
		p := recover()
		if p != nil && p != http.ErrAbortHandler {
			q.panicked(w, p)
		}
		q.log(w)
		if w.cut || p != nil && w.status != http.StatusInternalServerError {
			panic(http.ErrAbortHandler) // closes the connection: the client must not take a part for the whole answer
		}
	}()
	if p := q.admit(header); p != nil {
		q.reject(w, p)
		return
	}
	q.answer(w)
}

type request struct {
	*handler
	r      *http.Request
	w      writer
	health bool // a health check: needs no key and no rate
	began  time.Time
	client client
	limit  Rate
	work   work
	dear   atomic.Bool // it has cost more than a plain request, or a part of it

	time   *timeLimit // nil: none
	stream *account   // that a stream counts for; nil: not a stream
}

// admit returns why the request is rejected; nil if it is not. h are the headers of the answer.
func (q *request) admit(h http.Header) *problem.Problem {
	r := q.r
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions:
	default:
		if (r.Method == http.MethodPut || r.Method == http.MethodDelete) && q.Writes(r.URL.Path) {
			break
		}
		h.Set("Allow", "GET, HEAD, POST, OPTIONS")
		return problem.New(http.StatusMethodNotAllowed, methodNotAllowed, "method %.20q is not allowed: use GET, HEAD or POST", r.Method)
	}
	if n := len(r.URL.Path) + len(r.URL.RawQuery); q.URI > 0 && n > q.URI {
		return problem.New(http.StatusRequestURITooLong, uriTooLong,
			"path and query have %d bytes, the limit is %d: request many things with POST", n, q.URI)
	}
	if q.Body > 0 && r.ContentLength > q.Body && !q.Upload(r) {
		h.Set("Connection", "close") // the body is not read
		return problem.New(http.StatusRequestEntityTooLarge, tooLarge,
			"the body has %d bytes, the limit is %d: send smaller requests", r.ContentLength, q.Body)
	}
	if q.CheckHost && !netserver.IsLocalHost(r.Host, q.Hosts) && !netserver.Trusts(q.Proxies, netserver.AddressOf(r.RemoteAddr)) {
		return netserver.WrongHost(r.Host)
	}
	q.client = client{from: netserver.Sender(r, q.Proxies)}
	if q.health {
		return nil
	}
	q.limit = q.Rate
	if q.Keys != nil {
		k, p := q.identify(h)
		if p != nil {
			return p
		}
		if k != nil {
			q.client = client{key: k.Name}
			if k.Rate > 0 {
				q.limit = Rate{PerSecond: k.Rate, Burst: k.Burst}
			}
		}
	}
	if !q.limit.limited() {
		return nil
	}
	return q.spend(h, q.clients.of(q.client, q.limit, q.began))
}

// identify returns the API key of the request; nil if it has none and needs none.
func (q *request) identify(h http.Header) (*auth.Key, *problem.Problem) {
	text, ok := auth.FromRequest(q.r)
	if !ok && q.Anonymous {
		return nil, nil
	}
	if ok {
		if k := q.Keys.Find(text); k != nil {
			return k, nil
		}
	}
	h["Www-Authenticate"] = []string{`Bearer realm="birthmark"`, `Basic realm="birthmark", charset="UTF-8"`}
	if ok {
		return nil, problem.New(http.StatusUnauthorized, unauthorized, "invalid API key")
	}
	return nil, problem.New(http.StatusUnauthorized, unauthorized,
		"API key required: send the header Authorization: Bearer KEY, or X-API-Key: KEY")
}

// answer calls the handler with the time limit.
func (q *request) answer(w *writer) {
	r := q.r
	ctx := r.Context()
	control := http.NewResponseController(w.ResponseWriter)
	if q.Timeout > 0 {
		q.time = newTimeLimit(ctx, q.Timeout)
		defer q.time.cancel()
		ctx = q.time
		w.timedOut = func() *problem.Problem {
			if ctx.Err() != context.DeadlineExceeded || r.Context().Err() != nil {
				return nil
			}
			q.Rejected(timeout)
			return problem.New(http.StatusServiceUnavailable, timeout,
				"the answer took longer than %s: request less (limit), or enable options of the index", q.Timeout)
		}
	}
	q.work.ctx = ctx
	inner := r.WithContext(meter.With(ctx, &q.work.Meter))
	if r.Body != nil && r.ContentLength != 0 {
		inner.Body = q.body(control)
	}
	w.setDeadline(q.began, q.Timeout)
	defer func() { r.Pattern = inner.Pattern }()
	q.next.ServeHTTP(w, inner)
}

// noTimeLimit removes the time limit, unless it was exceeded.
func (q *request) noTimeLimit() {
	if q.time == nil || q.time.lift() {
		q.w.timedOut = nil
	}
}

// body returns the body of the request with its limits of size and time.
func (q *request) body(control *http.ResponseController) io.ReadCloser {
	b := &body{ReadCloser: netserver.TrackBody(q.r), control: control}
	if q.Body > 0 && !q.Upload(q.r) {
		b.ReadCloser = http.MaxBytesReader(q.w.ResponseWriter, b.ReadCloser, q.Body)
	}
	if q.Stall > 0 {
		b.setDeadline(q.began.Add(q.Stall))
	}
	return b
}

type body struct {
	io.ReadCloser
	control *http.ResponseController
	each    time.Duration // for each part of an upload; 0: the deadline is for the whole body
}

func (b *body) Read(p []byte) (int, error) {
	if b.each > 0 {
		b.setDeadline(time.Now().Add(b.each))
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		b.setDeadline(time.Time{}) // the server continues to read, to notice that the client disconnects
	}
	return n, err
}

// setDeadline sets the time by which the next bytes must be there. Response writers of tests have no deadlines.
func (b *body) setDeadline(t time.Time) { _ = b.control.SetReadDeadline(t) }

// clientGone reports whether the client has disconnected, so that the status is meaningless.
func (q *request) clientGone() bool { return q.r.Context().Err() != nil }

// reject answers with p.
func (q *request) reject(w *writer, p *problem.Problem) {
	if !q.clientGone() {
		q.Rejected(p.Code)
	}
	w.setDeadline(q.began, 0)
	q.write(w, p)
}

// write answers with p.
func (q *request) write(w http.ResponseWriter, p *problem.Problem) {
	write := problem.Write
	longest := -1 // a protocol can be below the path of another one
	for path, own := range q.Errors {
		below, ok := strings.CutPrefix(q.r.URL.Path, path)
		if ok = ok && (below == "" || below[0] == '/'); ok && len(path) > longest {
			write, longest = own, len(path)
		}
	}
	write(w, p)
}

// panicked logs a panic, and answers if the handler had not begun to.
func (q *request) panicked(w *writer, p any) {
	q.Log.Error("panic while handling a request: please report this bug", "method", q.r.Method, "route", q.route(),
		"panic", fmt.Sprint(p), "stack", strings.TrimSpace(string(debug.Stack())))
	q.Rejected(internal)
	if w.status == 0 {
		q.write(w, problem.Of(errors.New("panic")))
	}
}
