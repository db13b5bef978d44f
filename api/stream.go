package api

import (
	"cmp"
	"net/http"
	"time"

	"birthmark/api/exchange"
	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/core/query"
	"birthmark/model"
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
	Reason   string           `json:"reason,omitempty"` // if not complete: limit, shutdown or problem
	Problem  *problem.Problem `json:"problem,omitempty"`

	Tip *query.PointAnswer `json:"tip,omitempty"` // if it is no longer that of X-Tip, because blocks arrived
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

// stream sends a list from the cursor to its end, one entry per line. An error after the first entry is in the last line;
// if that cannot be sent, the connection is cut, so that the client notices that it is missing.
//
// A snapshot keeps files of the database that could be deleted, and delays changes of the indexes. A list that takes longer
// than StreamTime therefore continues on a new one. If a reorganization removed the tip of the first, the list ends.
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
	_, csv := out.(*csvLines)
	s := streaming{API: a, request: q, lines: out, limit: q.page.Limit, single: q.op.unpaged || csv && q.page.Limit > 0}
	for {
		open, ended := false, false
		err := q.chain.View(q.r.Context(), func(v *query.View) (err error) {
			open = true
			v.Queries = v.WithGap(q.gap)
			ended, err = s.run(v)
			return err
		})
		if err != nil && !open {
			err = s.fail(err)
		}
		if ended || err != nil {
			return exchange.Appended{}, err
		}
	}
}

type streaming struct {
	*API
	*request
	lines
	limit  int  // 0: none
	single bool // one page of limit entries
	begun  bool
	first  model.Point // the tip of the first snapshot
	count  int
	ahead  query.Ahead
}

// run sends the list until it ends, or until the snapshot is held for StreamTime.
func (s *streaming) run(v *query.View) (ended bool, err error) {
	until := time.Now().Add(s.StreamTime)
	if err := s.open(v); err != nil {
		return true, s.fail(err)
	}
	s.snapshot = v
	v.ReadAhead(&s.ahead)
	for {
		switch {
		case s.single:
			s.page.Limit = s.limit
		case !s.begun:
			s.page.Limit = firstPage
		default:
			s.page.Limit = streamPage
		}
		if !s.single && s.limit > 0 {
			s.page.Limit = min(s.page.Limit, s.limit-s.count)
		}
		answer, err := any(nil), s.r.Context().Err()
		if err == nil {
			answer, err = s.op.ask(s.r.Context(), v, s.request)
		}
		if err != nil {
			return true, s.fail(err)
		}
		entries, next := s.op.entries(answer)
		if !s.begun {
			if err := s.begin(v, answer, next); err != nil {
				return true, err
			}
			s.begun = true
		}
		for entry := range entries {
			if err := s.entry(entry); err != nil {
				return true, err
			}
			s.count++
		}
		if err := s.flush(); err != nil {
			return true, err
		}
		if s.r.Method == http.MethodHead {
			return true, s.send()
		}
		if reason := s.reason(next); reason != nil {
			return true, s.finish(StreamEnding{Count: s.count, Next: next, Complete: next == nil, Reason: *reason})
		}
		s.page.After = *next
		if err := s.send(); err != nil {
			return true, err
		}
		if time.Now().After(until) {
			return false, nil
		}
	}
}

// open begins or continues the list on a snapshot.
func (s *streaming) open(v *query.View) error {
	if !s.begun {
		s.first = v.Tip
		indexes, err := s.chain.indexes.of(s.r.Context(), v)
		if err == nil {
			s.chain.headers(v.Tip, indexes, nil).write(s.r.Header())
		}
		return err
	}
	if p, err := v.PointAt(s.r.Context(), s.first.Height); err != nil || p.Hash != s.first.Hash {
		return cmp.Or(s.r.Context().Err(), model.Errorf(model.Usage, "cursor_rolled_back",
			"a reorganization removed block %d, the tip when the list began: request it again", s.first.Height))
	}
	return nil
}

// reason returns why a list ends at the cursor next: empty if it is complete, nil if it continues.
func (s *streaming) reason(next *string) *string {
	end := ""
	select {
	case <-s.Done:
		end = "shutdown"
	default:
	}
	switch {
	case next == nil:
		end = ""
	case s.limit > 0 && s.count >= s.limit || s.single:
		end = "limit"
	case end == "":
		return nil
	}
	return &end
}

// fail ends a list with an error, which is that of the request before the first entry.
func (s *streaming) fail(err error) error {
	if !s.begun {
		return err
	}
	e := StreamEnding{Count: s.count, Next: &s.page.After, Reason: "problem", Problem: s.interrupted(err)}
	if e.Problem.Code == "cursor_rolled_back" {
		e.Next = nil
	}
	return s.finish(e)
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
func (s *streaming) finish(end StreamEnding) error {
	if tip := s.snapshot.Tip; tip != s.first {
		end.Tip = &query.PointAnswer{Height: uint32(tip.Height), Hash: s.chain.Model.FormatHash(tip.Hash)}
	}
	cut := s.end(&StreamEnd{end})
	return cmp.Or(s.send(), cut)
}

// send sends the appended entries.
func (s *streaming) send() error {
	s.r.Header()["Cache-Control"] = []string{"no-store"}
	_ = http.NewResponseController(s.r.Writer()).SetWriteDeadline(time.Now().Add(s.WriteTimeout))
	return s.r.Flush()
}
