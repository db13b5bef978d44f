package ratelimit

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"time"

	"birthmark/api/problem"
	"birthmark/core/meter"
)

// Message begins the work of a message that a client sends within a stream, and takes the price of a plain request for
// it. The message continues with the returned context, whose meter takes the rest, until end is called. The error is a
// [problem.Problem]. Without a handler of [New] there is no limit.
func Message(ctx context.Context, w http.ResponseWriter) (message context.Context, end func(), err error) {
	q := requestOf(w)
	if q == nil {
		return ctx, func() {}, nil
	}
	if q.limit.limited() {
		a := q.clients.of(q.client, q.limit, time.Now())
		if p := q.spend(http.Header{}, a); p != nil { // the headers of the request have been sent
			return ctx, nil, q.rejected(p)
		}
	}
	message, end = q.part(ctx, meter.Unit)
	return message, end, nil
}

// Part returns a function that begins a part of a request that can outlast it: the client of the request pays for it, but
// independently of the rest, until end is called.
func Part(w http.ResponseWriter) func(context.Context) (part context.Context, end func()) {
	q := requestOf(w)
	return func(ctx context.Context) (context.Context, func()) {
		if q == nil {
			return ctx, func() {}
		}
		return q.part(ctx, 0)
	}
}

func (q *request) part(ctx context.Context, first int64) (context.Context, func()) {
	w := new(work)
	w.begin(ctx, q, first)
	return meter.With(ctx, &w.Meter), func() {
		w.end()
		if q.Log.Enabled(ctx, slog.LevelDebug) {
			cost := w.Cost()
			q.Log.Debug("part", "route", q.route(), "points", cost.Points, "rows", cost.Rows)
		}
	}
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

// Stream makes the request a stream: it counts against the open streams, and its context has no time limit. If it costs
// more than the client's rate allows, it waits. The error is a [problem.Problem].
func Stream(w http.ResponseWriter) error {
	q := requestOf(w)
	if q == nil || q.w.stream {
		return nil
	}
	if p := q.acquireStream(w.Header()); p != nil {
		return q.rejected(p)
	}
	q.noTimeLimit()
	q.w.stream = true
	q.work.pace()
	// The client sends nothing more; the write deadlines detect a client that does not read.
	_ = http.NewResponseController(q.w.ResponseWriter).SetReadDeadline(time.Time{})
	q.w.pause()
	return nil
}

// Bulk is [Stream] for a stream whose bytes cost nothing, such as that of a database to a replica.
func Bulk(w http.ResponseWriter) error {
	if q := requestOf(w); q != nil {
		q.w.free = true
	}
	return Stream(w)
}

// Upload makes the request one with a large body: it counts against the open streams and has no time limit, but the
// client must send each part within the time for the body of other requests. The error is a [problem.Problem]. See
// [Options.Upload].
func Upload(w http.ResponseWriter, r *http.Request) error {
	q := requestOf(w)
	if q == nil {
		return nil
	}
	if p := q.acquireStream(w.Header()); p != nil {
		return q.rejected(p)
	}
	q.noTimeLimit()
	q.work.pace()
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

// spend takes the price of a plain request from the client's rate, or returns a problem with the time to wait.
func (q *request) spend(h http.Header, a *account) *problem.Problem {
	now := time.Now()
	ok := a.limiter.AllowN(now, Plain)
	q.rateHeaders(h, a)
	if ok {
		return nil
	}
	why := q.rateExceeded(a.limiter.Burst(), Plain-a.limiter.TokensAt(now))
	h["Retry-After"] = []string{why.after}
	return why.Problem
}

// rateHeaders sets the headers of the draft "RateLimit header fields for HTTP".
func (q *request) rateHeaders(h http.Header, a *account) {
	burst := a.limiter.Burst()
	left := a.limiter.TokensAt(time.Now())
	window, full := float64(burst)/q.limit.PerSecond, (float64(burst)-left)/q.limit.PerSecond
	h[policyHeader] = []string{`"client";q=` + strconv.Itoa(burst) + `;w=` + wholeSeconds(window)}
	h[rateHeader] = []string{`"client";r=` + strconv.Itoa(int(max(left, 0))) + `;t=` + wholeSeconds(full)}
}

// rateExceeded returns the refusal of a client that lacks units.
func (q *request) rateExceeded(burst int, missing float64) *refusal {
	after := wholeSeconds(missing / q.limit.PerSecond)
	return &refusal{problem.New(http.StatusTooManyRequests, tooManyRequests,
		"rate limit exceeded (%s requests/s, burst %d): retry in %s s",
		strconv.FormatFloat(q.limit.PerSecond, 'f', -1, 64), burst, after), after}
}

// wholeSeconds rounds up, to at least 1, so that a client that waits that long is not too early.
func wholeSeconds(s float64) string { return strconv.Itoa(max(1, int(math.Ceil(s)))) }

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
