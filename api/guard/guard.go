package guard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"birthmark/api/problem"
)

const (
	rateHeader   = "Ratelimit"
	policyHeader = "Ratelimit-Policy"

	// Of answers that failed no more are logged: a client that makes them fail must not fill the disk.
	faultsPerSecond = 10
)

// What browsers are told of every answer. A handler may say otherwise.
var headers = map[string][]string{
	// Charts are pictures within the page, whose shapes have their colours in style attributes.
	"Content-Security-Policy": {"default-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; object-src 'none'; " +
		"base-uri 'none'; frame-ancestors 'none'; form-action 'self'"},
	"X-Content-Type-Options": {"nosniff"},
	"Referrer-Policy":        {"same-origin"},
}

// guard is a handler with limits.
type guard struct {
	Options
	next      http.Handler
	clients   *clients
	expensive *semaphore.Weighted // nil: no limit
	faults    *rate.Limiter       // of lines about them
	streams   atomic.Int64        // that go on
}

// ServeHTTP implements [http.Handler]. It leaves the pattern that the request came to in r.Pattern.
func (g *guard) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	began := time.Now()
	h := rw.Header()
	for name, value := range headers {
		h[name] = value
	}
	ask := &request{guard: g, r: r, class: classOf(r), began: began, w: writer{ResponseWriter: rw, stall: g.Stall}}
	w := &ask.w
	defer func() {
		ask.release()
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
	class class
	began time.Time
	who   client
	held  *account // whose share it has a part of; nil
	holds int64

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
	q.who = client{from: sender(r, q.Proxies)}
	if q.class.free {
		return nil
	}
	limit := q.Rate
	if q.Keys != nil {
		k, p := q.identify(h)
		if p != nil {
			return p
		}
		if k != nil {
			q.who = client{key: k.name}
			if k.rate.limited() {
				limit = k.rate
			}
		}
	}
	if !limit.limited() && !q.class.stream && (q.class.cost == plainCost || q.expensive == nil) {
		return nil
	}
	a := q.clients.of(q.who, limit, q.began)
	if limit.limited() {
		if p := q.spend(h, a.limiter, limit); p != nil {
			return p
		}
	}
	if q.class.stream {
		if p := q.open(h, a); p != nil {
			return p
		}
	}
	return q.hold(h, a)
}

// identify finds the key that is shown; nil where none is and none is needed.
func (q *request) identify(h http.Header) (*key, *problem.Problem) {
	shown, ok := shownKey(q.r)
	if !ok && q.Anonymous {
		return nil, nil
	}
	if ok {
		if k := q.Keys.find(shown); k != nil {
			return k, nil
		}
	}
	h["Www-Authenticate"] = []string{`Bearer realm="birthmark"`, `Basic realm="birthmark", charset="UTF-8"`}
	if ok {
		return nil, problem.New(http.StatusUnauthorized, noKey, "the key is none of this server's")
	}
	return nil, problem.New(http.StatusUnauthorized, noKey, "this server answers those who show a key: Authorization: Bearer KEY, or X-API-Key: KEY")
}

// spend takes the request's cost from the client's rate, or says how long to wait. The headers are those of the draft
// RateLimit header fields for HTTP.
func (q *request) spend(h http.Header, l *rate.Limiter, limit Rate) *problem.Problem {
	burst := l.Burst()
	cost := min(int(q.class.cost), burst)
	wait := time.Duration(0)
	if !l.AllowN(q.began, cost) {
		missing := float64(cost) - l.TokensAt(q.began)
		wait = time.Duration(missing / limit.PerSecond * float64(time.Second))
	}
	left := max(l.TokensAt(q.began), 0)
	h[policyHeader] = []string{`"client";q=` + strconv.Itoa(burst) + `;w=` + wholeSeconds(float64(burst)/limit.PerSecond)}
	h[rateHeader] = []string{`"client";r=` + strconv.Itoa(int(left)) + `;t=` + wholeSeconds((float64(burst)-left)/limit.PerSecond)}
	if wait == 0 {
		return nil
	}
	after := wholeSeconds(wait.Seconds())
	h["Retry-After"] = []string{after}
	return problem.New(http.StatusTooManyRequests, tooMany, "you may ask %s times a second, %d times at once: ask again in %s s",
		strconv.FormatFloat(limit.PerSecond, 'f', -1, 64), burst, after)
}

// wholeSeconds rounds up, to 1 at least: a client that comes back after them has not come too early.
func wholeSeconds(s float64) string { return strconv.Itoa(max(1, int(math.Ceil(s)))) }

// open counts a stream in, or says that there are enough.
func (q *request) open(h http.Header, a *account) *problem.Problem {
	a.busy.Add(1)
	q.stream = a
	all, own := q.guard.streams.Add(1), a.streams.Add(1)
	switch {
	case q.StreamsEach > 0 && own > int64(q.StreamsEach) && !q.who.local():
		h["Retry-After"] = []string{"60"}
		return problem.New(http.StatusTooManyRequests, tooStreamy, "you have %d streams open, the most that a client may have: close one", own-1)
	case q.Streams > 0 && all > int64(q.Streams):
		h["Retry-After"] = []string{"60"}
		return problem.New(http.StatusServiceUnavailable, tooStreamy, "the server has as many streams open as it may: ask for pages, or again in a minute")
	}
	return nil
}

// hold takes the request's part of what is done at once of what is expensive, or says that there is none: first of the
// client's share, so that who asks for much waits for himself and not the others for him.
func (q *request) hold(h http.Header, a *account) *problem.Problem {
	if q.class.cost == plainCost || q.expensive == nil {
		return nil
	}
	a.busy.Add(1)
	cost := min(q.class.cost, q.Expensive/2)
	ctx, cancel := context.WithTimeout(q.r.Context(), q.Wait)
	defer cancel()
	if a.share.Acquire(ctx, cost) != nil {
		a.busy.Add(-1)
		h["Retry-After"] = []string{"1"}
		return problem.New(http.StatusTooManyRequests, tooBusy, "too many of your expensive requests are being answered: ask for one after the other")
	}
	if q.expensive.Acquire(ctx, cost) != nil {
		a.share.Release(cost)
		a.busy.Add(-1)
		h["Retry-After"] = []string{"1"}
		return problem.New(http.StatusServiceUnavailable, tooBusy,
			"too many expensive requests are being answered: ask again in a second, or for less: a page (limit, after) costs less than a whole list, and options of an index (balance, unspent, history) make its answers cheap")
	}
	q.held, q.holds = a, cost
	return nil
}

func (q *request) release() {
	if q.stream != nil {
		q.guard.streams.Add(-1)
		q.stream.streams.Add(-1)
		q.stream.busy.Add(-1)
	}
	if q.held != nil {
		q.expensive.Release(q.holds)
		q.held.share.Release(q.holds)
		q.held.busy.Add(-1)
	}
}

// answer has the handler answer, in the time it may take.
func (q *request) answer(w *writer) {
	r := q.r
	ctx := r.Context()
	control := http.NewResponseController(w.ResponseWriter)
	switch {
	case q.class.stream:
		w.stream = true
		// It is the client's who reads it. That it goes on reading is for the deadline of each write to tell.
		_ = control.SetReadDeadline(time.Time{})
	case q.Timeout > 0:
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
	if !w.stream {
		w.allow(q.began, q.Timeout)
	}
	defer func() { r.Pattern = inner.Pattern }()
	q.next.ServeHTTP(w, inner)
}

// body is the request's body, within the limits of its size and of the time it may take to come.
func (q *request) body(control *http.ResponseController) io.ReadCloser {
	b := &body{ReadCloser: q.r.Body, control: control}
	if q.Body > 0 {
		b.ReadCloser = http.MaxBytesReader(q.w.ResponseWriter, b.ReadCloser, q.Body)
	}
	if q.Stall > 0 {
		b.until(q.began.Add(q.Stall))
	}
	if q.r.ProtoMajor == 1 {
		b.on = connectionOf(q.r)
	}
	return b
}

// body is a request's while it comes.
type body struct {
	io.ReadCloser
	control *http.ResponseController
	on      *connection // that has no other request meanwhile; nil: not known
}

// Read implements [io.Reader].
func (b *body) Read(p []byte) (int, error) {
	if b.on != nil {
		b.on.sending.CompareAndSwap(0, time.Now().UnixNano())
	}
	n, err := b.ReadCloser.Read(p)
	if err != nil {
		if b.on != nil {
			b.on.sending.Store(0)
		}
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

// log tells of the request: of each at debug, of what failed also above, unless it was asked whether the server is well,
// which it may not be for hours. It says nothing of what was asked, in which secrets may be, but the route.
func (q *request) log(w *writer) {
	level := slog.LevelDebug
	if w.status >= http.StatusInternalServerError && !q.class.free && !q.left() && q.faults.Allow() {
		level = slog.LevelWarn
	}
	ctx := q.r.Context()
	if !q.Log.Enabled(ctx, level) {
		return
	}
	q.Log.LogAttrs(ctx, level, "request", slog.String("method", q.r.Method), slog.String("route", q.route()), slog.Int("status", w.answered()),
		slog.Int64("bytes", w.bytes), slog.Duration("took", time.Since(q.began)), slog.String("client", q.who.String()))
}
