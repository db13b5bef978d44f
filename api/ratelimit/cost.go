package ratelimit

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"birthmark/api/problem"
)

// What answers cost, in plain requests. Every request has cost a plain one when its handler is called. Handlers take
// the rest with [Take] once they know what is asked.
const (
	Plain = 1
	Term  = 1  // each further term of a search
	Heavy = 8  // a whole list, or an answer that goes through many rows which no index option keeps added up
	Most  = 32 // no request costs more

	costlyPage  = 250 // entries of a page that cost as much as a plain request
	costlyBatch = 50  // likewise, questions of a batch
)

// Page is what a page of so many entries costs more than a plain request.
func Page(entries int) int64 { return int64(entries / costlyPage) }

// Batch is what a batch of so many questions costs.
func Batch(questions int) int64 { return Plain + int64(questions/costlyBatch) }

// Take sets what a request costs altogether, when that is more than a plain request or than it cost so far. The
// difference is taken from the client's rate. Until release is called, which may be after the request, the cost counts
// as work that is done at once, for the client and for all of them. The error is a [problem.Problem] that names the
// limit that was reached. Without a guard nothing is limited.
func Take(w http.ResponseWriter, cost int64) (release func(), err error) {
	q := requestOf(w)
	if q == nil || cost <= Plain {
		return func() {}, nil
	}
	h := w.Header()
	a := q.clients.of(q.who, q.limit, time.Now())
	cost = min(cost, Most)
	if more := cost - q.spent; more > 0 && q.limit.limited() {
		if p := q.spend(h, a, more); p != nil {
			return nil, q.turnedAway(p)
		}
		q.spent = cost
	}
	if q.expensive == nil {
		return func() {}, nil
	}
	n := min(cost, q.Expensive/2)
	if p := q.hold(h, a, n); p != nil {
		return nil, q.turnedAway(p)
	}
	return func() {
		q.expensive.Release(n)
		a.share.Release(n)
		a.busy.Add(-1)
	}, nil
}

// Stream makes the request one whose answer goes on for as long as the client takes it: it counts against the streams
// that may be open, and has no time limit. It returns the request for the handler to go on with. The error is a
// [problem.Problem].
func Stream(w http.ResponseWriter, r *http.Request) (*http.Request, error) {
	q := requestOf(w)
	if q == nil {
		return r, nil
	}
	if p := q.openStream(w.Header()); p != nil {
		return r, q.turnedAway(p)
	}
	q.w.stream, q.w.slow = true, nil
	// The client may be silent. Whether it goes on reading is for the deadline of each write to tell.
	_ = http.NewResponseController(q.w.ResponseWriter).SetReadDeadline(time.Time{})
	q.w.rest()
	return r.WithContext(q.r.Context()), nil
}

// requestOf is the request whose answer w is; nil: no guard has seen it.
func requestOf(w http.ResponseWriter) *request {
	for {
		switch is := w.(type) {
		case *writer:
			return is.request
		case interface{ Unwrap() http.ResponseWriter }:
			w = is.Unwrap()
		default:
			return nil
		}
	}
}

// turnedAway counts a request that a handler answers with p.
func (q *request) turnedAway(p *problem.Problem) error {
	if !q.left() {
		q.Refused(p.Code)
	}
	return p
}

// spend takes a cost from the client's rate, or says how long to wait. The headers are those of the draft RateLimit
// header fields for HTTP.
func (q *request) spend(h http.Header, a *account, cost int64) *problem.Problem {
	l, now := a.limiter, time.Now()
	burst := l.Burst()
	n := min(int(cost), burst)
	wait := time.Duration(0)
	if !l.AllowN(now, n) {
		missing := float64(n) - l.TokensAt(now)
		wait = time.Duration(missing / q.limit.PerSecond * float64(time.Second))
	}
	left := max(l.TokensAt(now), 0)
	window, full := float64(burst)/q.limit.PerSecond, (float64(burst)-left)/q.limit.PerSecond
	h[policyHeader] = []string{`"client";q=` + strconv.Itoa(burst) + `;w=` + wholeSeconds(window)}
	h[rateHeader] = []string{`"client";r=` + strconv.Itoa(int(left)) + `;t=` + wholeSeconds(full)}
	if wait == 0 {
		return nil
	}
	after := wholeSeconds(wait.Seconds())
	h["Retry-After"] = []string{after}
	return problem.New(http.StatusTooManyRequests, tooMany,
		"rate limit exceeded (%s requests/s, burst %d): retry in %s s",
		strconv.FormatFloat(q.limit.PerSecond, 'f', -1, 64), burst, after)
}

// wholeSeconds rounds up, to 1 at least: a client that comes back after them has not come too early.
func wholeSeconds(s float64) string { return strconv.Itoa(max(1, int(math.Ceil(s)))) }

// hold takes a part of the work that is done at once, or says that there is none: first of the client's share, so that
// a client that asks for much waits for itself and the others do not wait for it.
func (q *request) hold(h http.Header, a *account, cost int64) *problem.Problem {
	a.busy.Add(1)
	ctx, cancel := context.WithTimeout(q.r.Context(), q.Wait)
	defer cancel()
	if a.share.Acquire(ctx, cost) != nil {
		a.busy.Add(-1)
		h["Retry-After"] = []string{"1"}
		return problem.New(http.StatusTooManyRequests, tooBusy,
			"too many of your expensive requests are being answered: send one after the other")
	}
	if q.expensive.Acquire(ctx, cost) != nil {
		a.share.Release(cost)
		a.busy.Add(-1)
		h["Retry-After"] = []string{"1"}
		return problem.New(http.StatusServiceUnavailable, tooBusy,
			"too many expensive requests are being answered: retry in a second, or ask for less: "+
				"a page (limit, after) costs less than a whole list, and options of an index (balance, unspent, history) make its answers cheap")
	}
	return nil
}

// openStream counts a stream in, or says that there are enough.
func (q *request) openStream(h http.Header) *problem.Problem {
	a := q.clients.of(q.who, q.limit, time.Now())
	a.busy.Add(1)
	q.stream = a
	all, own := q.guard.streams.Add(1), a.streams.Add(1)
	switch {
	case q.StreamsEach > 0 && own > int64(q.StreamsEach) && !q.who.local():
		h["Retry-After"] = []string{"60"}
		return problem.New(http.StatusTooManyRequests, tooStreamy,
			"you have %d streams open, the most that a client may have: close one", own-1)
	case q.Streams > 0 && all > int64(q.Streams):
		h["Retry-After"] = []string{"60"}
		return problem.New(http.StatusServiceUnavailable, tooStreamy,
			"the server has %d streams open, which is the limit: ask for pages, or retry in a minute", all-1)
	}
	return nil
}

// closeStream counts it out.
func (q *request) closeStream() {
	if q.stream != nil {
		q.guard.streams.Add(-1)
		q.stream.streams.Add(-1)
		q.stream.busy.Add(-1)
	}
}
