package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"birthmark/api/auth"
	"birthmark/api/netserver"
	"birthmark/api/problem"
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

// guard is a handler with limits.
type guard struct {
	Options
	next      http.Handler
	clients   *clients
	expensive *semaphore.Weighted // nil: no limit
	faults    lines               // about answers that failed
	late      lines               // about those of status 503
	streams   atomic.Int64        // that go on
}

// ServeHTTP implements [http.Handler]. It leaves the pattern that the request came to in r.Pattern.
func (g *guard) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	began := time.Now()
	h := rw.Header()
	for name, value := range headers {
		h[name] = value
	}
	ask := &request{
		guard: g, r: r, free: netserver.IsHealthCheck(r), began: began, spent: Plain,
		w: writer{ResponseWriter: rw, stall: g.Stall},
	}
	w := &ask.w
	w.request = ask
	defer func() {
		ask.closeStream()
		fault := recover()
		if fault != nil && fault != http.ErrAbortHandler {
			ask.panicked(w, fault)
		}
		ask.log(w)
		if fault != nil && w.status != http.StatusInternalServerError {
			panic(http.ErrAbortHandler) // the client is not to take what it got for all of it
		}
	}()
	if p := ask.admit(h); p != nil {
		ask.refuse(w, p)
		return
	}
	ask.answer(w)
}

// request is a request on its way through the guard.
type request struct {
	*guard
	r     *http.Request
	w     writer
	free  bool // asked by those who watch over the server: no key, no rate
	began time.Time
	who   client
	limit Rate
	spent int64 // of the rate

	stream *account // whose stream it is; nil: it is none
}

// admit says why the request is not answered; nil where it is. h are the answer's headers.
func (q *request) admit(h http.Header) *problem.Problem {
	r := q.r
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodOptions:
	default:
		h.Set("Allow", "GET, HEAD, POST, OPTIONS")
		return problem.New(http.StatusMethodNotAllowed, notAllowed, "no request of method %.20q is answered: ask with GET, HEAD or POST", r.Method)
	}
	if n := len(r.URL.Path) + len(r.URL.RawQuery); q.URI > 0 && n > q.URI {
		return problem.New(http.StatusRequestURITooLong, tooLong, "path and query have %d bytes, at most %d are read: ask for many things with POST", n, q.URI)
	}
	if q.Body > 0 && r.ContentLength > q.Body {
		h.Set("Connection", "close") // nobody reads it
		return problem.New(http.StatusRequestEntityTooLarge, tooLarge, "the body has %d bytes, at most %d are read: ask for less at once", r.ContentLength, q.Body)
	}
	if q.CheckHost && !netserver.IsLocalHost(r.Host, q.Hosts) && !netserver.Trusts(q.Proxies, netserver.AddressOf(r.RemoteAddr)) {
		return netserver.WrongHost(r.Host)
	}
	q.who = client{from: netserver.Sender(r, q.Proxies)}
	if q.free {
		return nil
	}
	q.limit = q.Rate
	if q.Keys != nil {
		k, p := q.identify(h)
		if p != nil {
			return p
		}
		if k != nil {
			q.who = client{key: k.Name}
			if k.Rate > 0 {
				q.limit = Rate{PerSecond: k.Rate, Burst: k.Burst}
			}
		}
	}
	if !q.limit.limited() {
		return nil
	}
	return q.spend(h, q.clients.of(q.who, q.limit, q.began), Plain)
}

// identify finds the key that is shown; nil where none is and none is needed.
func (q *request) identify(h http.Header) (*auth.Key, *problem.Problem) {
	shown, ok := auth.FromRequest(q.r)
	if !ok && q.Anonymous {
		return nil, nil
	}
	if ok {
		if k := q.Keys.Find(shown); k != nil {
			return k, nil
		}
	}
	h["Www-Authenticate"] = []string{`Bearer realm="birthmark"`, `Basic realm="birthmark", charset="UTF-8"`}
	if ok {
		return nil, problem.New(http.StatusUnauthorized, noKey, "the key is none of this server's")
	}
	return nil, problem.New(http.StatusUnauthorized, noKey, "this server answers those who show a key: Authorization: Bearer KEY, or X-API-Key: KEY")
}

// answer has the handler answer, in the time it may take.
func (q *request) answer(w *writer) {
	r := q.r
	ctx := r.Context()
	control := http.NewResponseController(w.ResponseWriter)
	if q.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, q.Timeout)
		defer cancel()
		w.slow = func() *problem.Problem {
			if ctx.Err() != context.DeadlineExceeded || r.Context().Err() != nil {
				return nil
			}
			q.Refused(tooSlow)
			return problem.New(http.StatusServiceUnavailable, tooSlow,
				"the answer took longer than %s, the most that a request may take: ask for less (limit), or turn on the index's options that make it cheap", q.Timeout)
		}
	}
	inner := r.WithContext(ctx)
	if r.Body != nil && r.ContentLength != 0 {
		inner.Body = q.body(control)
	}
	w.allow(q.began, q.Timeout)
	defer func() { r.Pattern = inner.Pattern }()
	q.next.ServeHTTP(w, inner)
}

// body is the request's body, within the limits of its size and of the time it may take to come.
func (q *request) body(control *http.ResponseController) io.ReadCloser {
	b := &body{ReadCloser: netserver.TrackBody(q.r), control: control}
	if q.Body > 0 {
		b.ReadCloser = http.MaxBytesReader(q.w.ResponseWriter, b.ReadCloser, q.Body)
	}
	if q.Stall > 0 {
		b.until(q.began.Add(q.Stall))
	}
	return b
}

// body is a request's while it comes.
type body struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		// The server goes on reading, to know when the client leaves: that has no end.
		b.until(time.Time{})
	}
	return n, err
}

// until is when all of it has to be there. A writer of a test has no deadlines.
func (b *body) until(t time.Time) { _ = b.control.SetReadDeadline(t) }

// left reports whether the client has gone, so that what it is answered means nothing.
func (q *request) left() bool { return q.r.Context().Err() != nil }

// refuse answers with p.
func (q *request) refuse(w *writer, p *problem.Problem) {
	if !q.left() {
		q.Refused(p.Code)
	}
	w.allow(q.began, 0)
	problem.Write(w, p)
}

// panicked answers a request whose handler broke off, where nothing was answered so far.
func (q *request) panicked(w *writer, fault any) {
	q.Log.Error("a request made the server panic, which is a bug", "method", q.r.Method, "route", q.route(),
		"panic", fmt.Sprint(fault), "stack", strings.TrimSpace(string(debug.Stack())))
	q.Refused(failed)
	if w.status == 0 {
		problem.Write(w, problem.Of(errors.New("panic")))
	}
}

func (q *request) route() string {
	if q.r.Pattern == "" {
		return "none"
	}
	return q.r.Pattern
}

// log logs each request at debug, and those that failed at warn, unless they ask whether the server is well: it may not
// be for hours. A line has the route and nothing else of what was asked, for it may hold secrets.
func (q *request) log(w *writer) {
	level, left := slog.LevelDebug, int64(0)
	if w.status >= http.StatusInternalServerError && !q.free && !q.left() {
		about := &q.faults
		if w.status == http.StatusServiceUnavailable {
			about = &q.late
		}
		var ok bool
		if left, ok = about.next(); ok {
			level = slog.LevelWarn
		}
	}
	ctx := q.r.Context()
	if !q.Log.Enabled(ctx, level) {
		return
	}
	line := []slog.Attr{
		slog.String("method", q.r.Method), slog.String("route", q.route()), slog.Int("status", w.answered()),
		slog.Int64("bytes", w.bytes), slog.Duration("took", time.Since(q.began)), slog.String("client", q.who.String()),
	}
	if left > 0 {
		line = append(line, slog.Int64("left_out", left))
	}
	q.Log.LogAttrs(ctx, level, "request", line...)
}
