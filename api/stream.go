package api

import (
	"cmp"
	"net/http"
	"time"

	"birthmark/api/exchange"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/core/query"
)

const (
	// The first page is small, so that the client receives something soon.
	firstPage  = 100
	streamPage = 1000
)

// StreamEnd is the last line of a streamed list. A list without it is truncated.
type StreamEnd struct {
	End StreamEnding `json:"end"`
}

// StreamEnding reports whether a streamed list is complete.
type StreamEnding struct {
	Complete bool             `json:"complete"`
	Count    int              `json:"count"`            // entries before this line
	Next     *string          `json:"next"`             // cursor to continue from; null if complete
	Reason   string           `json:"reason,omitempty"` // if not complete: limit, time, shutdown or problem
	Problem  *problem.Problem `json:"problem,omitempty"`
}

// lines is the form of a streamed list.
type lines interface {
	// begin begins the list, before anything is sent. answer is its first page.
	begin(v *query.View, answer any, next *string) error
	entry(entry any) error
	// flush appends the written entries to the answer.
	flush() error
	// end appends the last line. After an error the connection is cut.
	end(*StreamEnd) error
}

// jsonLines is newline-delimited JSON. The last line reports whether the list is complete.
type jsonLines struct{ *request }

func (l *jsonLines) begin(*query.View, any, *string) error {
	l.r.SetType(streamType)
	return nil
}

func (l *jsonLines) entry(entry any) error  { return l.r.Append(&document{entry}) }
func (*jsonLines) flush() error             { return nil }
func (l *jsonLines) end(e *StreamEnd) error { return l.r.Append(&document{e}) }

// stream sends a list from the cursor to its end, one entry per line, from one snapshot. An error after the first entry
// is in the last line; if that cannot be sent, the connection is cut, so that the client notices that it is missing.
// While it is sent, the snapshot keeps files of the database that could be deleted, and delays changes of the indexes.
func (a *API) stream(q *request, out lines) (any, error) {
	if q.mempool {
		return nil, problem.New(http.StatusBadRequest, "bad_value", "mempool: a streamed list has no unconfirmed transactions: "+
			"expected exclude, or Accept: %s", jsonType)
	}
	if !q.op.unpaged { // its single page is an answer like any other
		if err := ratelimit.Stream(q.r.Writer()); err != nil {
			return nil, err
		}
	}
	return exchange.Appended{}, q.chain.View(q.r.Context(), func(v *query.View) error {
		indexes, err := q.chain.indexes.of(q.r.Context(), v)
		if err != nil {
			return err
		}
		q.chain.headers(v.Tip, indexes, nil).write(q.r.Header())
		s := streaming{API: a, request: q, lines: out, until: time.Now().Add(a.StreamTime), limit: q.page.Limit}
		_, csv := out.(*csvLines)
		s.single = q.op.unpaged || csv && s.limit > 0
		return s.run(v)
	})
}

type streaming struct {
	*API
	*request
	lines
	until  time.Time
	limit  int  // 0: none
	single bool // one page of limit entries
	count  int
}

// run sends the list.
func (s *streaming) run(v *query.View) error {
	for size := firstPage; ; size = streamPage {
		switch {
		case s.single:
			s.page.Limit = s.limit
		case s.limit > 0:
			s.page.Limit = min(size, s.limit-s.count)
		default:
			s.page.Limit = size
		}
		answer, err := any(nil), s.r.Context().Err()
		if err == nil {
			answer, err = s.op.ask(s.r.Context(), v, s.request)
		}
		if err != nil {
			if size == firstPage {
				return err
			}
			return s.finish(&StreamEnd{StreamEnding{Count: s.count, Next: &s.page.After, Reason: "problem", Problem: s.interrupted(err)}})
		}
		entries, next := s.op.entries(answer)
		if size == firstPage {
			if err := s.begin(v, answer, next); err != nil {
				return err
			}
		}
		for entry := range entries {
			if err := s.entry(entry); err != nil {
				return err
			}
			s.count++
		}
		if err := s.flush(); err != nil {
			return err
		}
		end := StreamEnding{Count: s.count, Next: next, Complete: next == nil, Reason: s.reason()}
		switch {
		case s.r.Method == http.MethodHead:
			return s.send()
		case end.Complete:
			end.Reason = ""
			return s.finish(&StreamEnd{end})
		case s.single:
			end.Reason = "limit"
			return s.finish(&StreamEnd{end})
		case end.Reason != "":
			return s.finish(&StreamEnd{end})
		}
		s.page.After = *next
		if err := s.send(); err != nil {
			return err
		}
	}
}

// reason returns why a list ends before its last entry; empty: it continues.
func (s *streaming) reason() string {
	select {
	case <-s.Done:
		return "shutdown"
	default:
	}
	switch {
	case s.limit > 0 && s.count >= s.limit:
		return "limit"
	case time.Now().After(s.until):
		return "time"
	}
	return ""
}

// interrupted returns the problem that ends a list, and logs an internal error.
func (s *streaming) interrupted(err error) *problem.Problem {
	p := problem.Of(err)
	if p.Status == http.StatusInternalServerError {
		s.Log.ErrorContext(s.r.Context(), "request failed", "route", s.r.Pattern, "error", err)
	}
	return p
}

// finish sends the rest of the list.
func (s *streaming) finish(end *StreamEnd) error {
	cut := s.end(end)
	return cmp.Or(s.send(), cut)
}

// send sends the appended entries.
func (s *streaming) send() error {
	s.r.Header()["Cache-Control"] = []string{"no-store"}
	_ = http.NewResponseController(s.r.Writer()).SetWriteDeadline(time.Now().Add(s.WriteTimeout))
	return s.r.Flush()
}
