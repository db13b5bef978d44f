package ratelimit

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"birthmark/api/problem"
)

// Costs of answers, in plain requests. Each request has paid for a plain one when its handler is called. A handler pays
// the rest with [Take] after it has parsed the request.
const (
	Plain = 1
	Term  = 1  // each additional term of a search
	Heavy = 8  // a whole list, or an answer that reads many rows because no index option has the sum
	Most  = 32 // the maximum of a request

	entriesPerUnit   = 250 // of a page
	questionsPerUnit = 50  // of a batch
)

// Page returns the cost of a page in addition to a plain request.
func Page(entries int) int64 { return int64(entries / entriesPerUnit) }

// Batch returns the cost of a batch.
func Batch(questions int) int64 { return Plain + int64(questions/questionsPerUnit) }

// Take sets the total cost of a request, if it is more than a plain request or than before. The difference is taken from
// the client's rate. Until release is called, which may be after the request, the cost counts as concurrent work of the
// client and of all clients. The error is a [problem.Problem]. Without a handler of [New] there is no limit.
func Take(w http.ResponseWriter, cost int64) (release func(), err error) {
	q := requestOf(w)
	if q == nil || cost <= Plain {
		return func() {}, nil
	}
	h := w.Header()
	a := q.clients.of(q.client, q.limit, time.Now())
	cost = min(cost, Most)
	if more := cost - q.spent; more > 0 && q.limit.limited() {
		if p := q.spend(h, a, more); p != nil {
			return nil, q.rejected(p)
		}
		q.spent = cost
	}
	return q.occupy(h, a, cost)
}

// Message takes the cost of a message that a client sends within a stream. It is independent of the costs of the
// request and of other messages; a message that costs more than a plain request also counts as concurrent work until
// release is called. The error is a [problem.Problem].
func Message(w http.ResponseWriter, cost int64) (release func(), err error) {
	q := requestOf(w)
	if q == nil || cost <= 0 {
		return func() {}, nil
	}
	h := http.Header{} // the headers of the request have been sent
	a := q.clients.of(q.client, q.limit, time.Now())
	cost = min(cost, Most)
	if q.limit.limited() {
		if p := q.spend(h, a, cost); p != nil {
			return nil, q.rejected(p)
		}
	}
	if cost <= Plain {
		return func() {}, nil
	}
	return q.occupy(h, a, cost)
}

// occupy counts a cost as concurrent work of the client and of all clients.
func (q *request) occupy(h http.Header, a *account, cost int64) (release func(), err error) {
	if q.expensive == nil {
		return func() {}, nil
	}
	n := min(cost, q.Expensive/2)
	if p := q.acquireExpensive(h, a, n); p != nil {
		return nil, q.rejected(p)
	}
	return func() {
		q.expensive.Release(n)
		a.share.Release(n)
		a.busy.Add(-1)
	}, nil
}

// Submission counts a request that submits transactions, in addition to its cost: each is work of the node. The error
// is a [problem.Problem]. Without a handler of [New] there is no limit.
func Submission(w http.ResponseWriter) error {
	q := requestOf(w)
	if q == nil || q.Submit <= 0 {
		return nil
	}
	now := time.Now()
	l := q.clients.of(q.client, q.limit, now).submit
	if l.AllowN(now, 1) {
		return nil
	}
	after := wholeSeconds((1 - l.TokensAt(now)) / float64(l.Limit()))
	w.Header()["Retry-After"] = []string{after}
	return q.rejected(problem.New(http.StatusTooManyRequests, tooManyRequests,
		"limit of submitted transactions exceeded (submit_limit: %s per minute): retry in %s s",
		strconv.FormatFloat(q.Submit, 'f', -1, 64), after))
}

// Stream makes the request a stream: it counts against the open streams, and its context has no time limit. The error
// is a [problem.Problem].
func Stream(w http.ResponseWriter) error {
	q := requestOf(w)
	if q == nil {
		return nil
	}
	if p := q.acquireStream(w.Header()); p != nil {
		return q.rejected(p)
	}
	q.noTimeLimit()
	q.w.stream = true
	// The client sends nothing more; the write deadlines detect a client that does not read.
	_ = http.NewResponseController(q.w.ResponseWriter).SetReadDeadline(time.Time{})
	q.w.pause()
	return nil
}

// Upload makes the request one with a large body: it counts against the open streams, and its context has no time limit,
// but the client must send each part within the time for the body of other requests. The error is a [problem.Problem].
// See [Options.Upload].
func Upload(w http.ResponseWriter, r *http.Request) error {
	q := requestOf(w)
	if q == nil {
		return nil
	}
	if p := q.acquireStream(w.Header()); p != nil {
		return q.rejected(p)
	}
	q.noTimeLimit()
	_ = http.NewResponseController(q.w.ResponseWriter).SetWriteDeadline(time.Time{}) // the first write sets it again
	q.w.deadline = time.Time{}
	if b, ok := r.Body.(*body); ok {
		b.each = q.Stall
	}
	return nil
}

// requestOf returns the request that w answers; nil without a handler of [New].
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

// rejected counts a request that its handler answers with p.
func (q *request) rejected(p *problem.Problem) error {
	if !q.clientGone() {
		q.Rejected(p.Code)
	}
	return p
}

// spend takes a cost from the client's rate, or returns a problem with the time to wait. It sets the headers of the
// draft "RateLimit header fields for HTTP".
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
	return problem.New(http.StatusTooManyRequests, tooManyRequests,
		"rate limit exceeded (%s requests/s, burst %d): retry in %s s",
		strconv.FormatFloat(q.limit.PerSecond, 'f', -1, 64), burst, after)
}

// wholeSeconds rounds up, to at least 1, so that a client that waits that long is not too early.
func wholeSeconds(s float64) string { return strconv.Itoa(max(1, int(math.Ceil(s)))) }

// acquireExpensive takes a share of the expensive work: first of the client's share, so that a client with many requests
// waits for its own, and others do not wait for it.
func (q *request) acquireExpensive(h http.Header, a *account, cost int64) *problem.Problem {
	a.busy.Add(1)
	ctx, cancel := context.WithTimeout(q.r.Context(), q.Wait)
	defer cancel()
	if a.share.Acquire(ctx, cost) != nil {
		a.busy.Add(-1)
		h["Retry-After"] = []string{"1"}
		return problem.New(http.StatusTooManyRequests, overloaded,
			"too many of your expensive requests run at the same time: send one after the other")
	}
	if q.expensive.Acquire(ctx, cost) != nil {
		a.share.Release(cost)
		a.busy.Add(-1)
		h["Retry-After"] = []string{"1"}
		return problem.New(http.StatusServiceUnavailable, overloaded,
			"too many expensive requests run at the same time: retry in a second, or request less: a page (limit, after) "+
				"costs less than a whole list, and options of an index (balance, unspent, history) make its answers cheap")
	}
	return nil
}

// acquireStream counts a stream, or returns a problem if there are too many.
func (q *request) acquireStream(h http.Header) *problem.Problem {
	a := q.clients.of(q.client, q.limit, time.Now())
	a.busy.Add(1)
	q.stream = a
	all, own := q.handler.streams.Add(1), a.streams.Add(1)
	switch {
	case q.StreamsEach > 0 && own > int64(q.StreamsEach) && !q.client.local():
		h["Retry-After"] = []string{"60"}
		return problem.New(http.StatusTooManyRequests, tooManyStreams,
			"you have %d open streams, the limit for a client: close one", own-1)
	case q.Streams > 0 && all > int64(q.Streams):
		h["Retry-After"] = []string{"60"}
		return problem.New(http.StatusServiceUnavailable, tooManyStreams,
			"the server has %d open streams, its limit: request pages, or retry in a minute", all-1)
	}
	return nil
}

func (q *request) closeStream() {
	if q.stream != nil {
		q.handler.streams.Add(-1)
		q.stream.streams.Add(-1)
		q.stream.busy.Add(-1)
	}
}

// KeyOf returns the name of the API key of the request that w answers; empty if it has none, or without a handler of
// [New].
func KeyOf(w http.ResponseWriter) string {
	q := requestOf(w)
	if q == nil {
		return ""
	}
	return q.client.key
}
