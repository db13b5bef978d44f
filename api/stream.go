package api

import (
	"errors"
	"net/http"
	"time"

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

// stream sends a list from the cursor to its end, one entry per line, from one snapshot.
func (a *API) stream(w http.ResponseWriter, r *http.Request, q *request) {
	if err := ratelimit.Stream(w); err != nil {
		a.fail(w, r, err)
		return
	}
	begun := false
	err := q.chain.View(r.Context(), func(v *query.View) error {
		indexes, err := q.chain.indexes.of(r.Context(), v)
		if err != nil {
			return err
		}
		q.chain.headers(v.Tip, indexes).write(w.Header())
		s := streaming{API: a, w: w, r: r, q: q, until: time.Now().Add(a.StreamTime), limit: q.page.Limit}
		return s.run(v, &begun)
	})
	if err == nil {
		return
	}
	if !begun {
		a.fail(w, r, err)
		return
	}
	// Cuts the connection, so that the client notices the missing last line.
	panic(http.ErrAbortHandler)
}

type streaming struct {
	*API
	w     http.ResponseWriter
	r     *http.Request
	q     *request
	until time.Time
	limit int // 0: none
	count int
}

// run sends the list. It sets begun before the first byte; an error before that is for the caller to send.
func (s *streaming) run(v *query.View, begun *bool) error {
	b := new(buffer)
	size := firstPage
	for {
		s.q.page.Limit = size
		if s.limit > 0 {
			s.q.page.Limit = min(size, s.limit-s.count)
		}
		answer, err := any(nil), s.r.Context().Err()
		if err == nil {
			answer, err = s.q.op.ask(s.r.Context(), v, s.q)
		}
		if err != nil && !*begun {
			return err
		}
		end := StreamEnding{Count: s.count}
		if err != nil {
			end.Problem = s.interrupted(err)
			end.Reason, end.Next = "problem", &s.q.page.After
			if s.q.page.After == "" {
				end.Next = nil
			}
			return s.finish(b, end)
		}
		entries, next := s.q.op.entries(answer)
		for entry := range entries {
			if err := b.encode(entry); err != nil {
				return err
			}
			s.count++
		}
		if !*begun {
			*begun = true
			h := s.w.Header()
			h.Set("Content-Type", streamType)
			h.Set("Cache-Control", "no-store")
			if s.r.Method == http.MethodHead {
				return nil
			}
		}
		end.Count, end.Next, end.Complete, end.Reason = s.count, next, next == nil, s.reason()
		if end.Complete || end.Reason != "" {
			if end.Complete {
				end.Reason = ""
			}
			return s.finish(b, end)
		}
		s.q.page.After, size = *next, streamPage
		if err := s.send(b); err != nil {
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

func (s *streaming) finish(b *buffer, end StreamEnding) error {
	if err := b.encode(StreamEnd{end}); err != nil {
		return err
	}
	return s.send(b)
}

// send writes and flushes the buffer.
func (s *streaming) send(b *buffer) error {
	control := http.NewResponseController(s.w)
	_ = control.SetWriteDeadline(time.Now().Add(s.WriteTimeout))
	if _, err := s.w.Write(b.text); err != nil {
		return err
	}
	b.text = b.text[:0]
	if err := control.Flush(); !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	return nil
}
