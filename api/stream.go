package api

import (
	"errors"
	"net/http"
	"time"

	"birthmark/api/problem"
	"birthmark/api/ratelimit"
	"birthmark/core"
)

const (
	// firstPage is small, so that a client soon has something; the others are not.
	firstPage  = 100
	streamPage = 1000
)

// StreamEnd is the last line of a list that is streamed. A list without it was cut on the way.
type StreamEnd struct {
	End StreamEnding `json:"end"`
}

// StreamEnding says whether a streamed list is whole.
type StreamEnding struct {
	Complete bool             `json:"complete"`
	Count    int              `json:"count"`            // of the entries above
	Next     *string          `json:"next"`             // the cursor to go on from; null where the list is whole
	Reason   string           `json:"reason,omitempty"` // why it is not: limit, time, shutdown, problem
	Problem  *problem.Problem `json:"problem,omitempty"`
}

// stream answers with a list from where the question says to its end, one entry a line, all from one snapshot.
func (a *API) stream(w http.ResponseWriter, r *http.Request, q *request, cost int64) {
	release, err := ratelimit.Take(w, cost+ratelimit.Heavy)
	if err != nil {
		a.fail(w, r, err)
		return
	}
	defer release()
	if r, err = ratelimit.Stream(w, r); err != nil {
		a.fail(w, r, err)
		return
	}
	begun := false
	err = q.chain.View(r.Context(), func(v *core.View) error {
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
	// The client sees that there is no last line.
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

// run sends the list. begun is set when something is sent: what fails before has an answer of its own.
func (s *streaming) run(v *core.View, begun *bool) error {
	b := newBuffer()
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

// reason is why a list that has more ends here; empty where it goes on.
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

// interrupted is the problem of a list that fails on the way, logged where it is the server's.
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

// send hands what is in b to the client.
func (s *streaming) send(b *buffer) error {
	control := http.NewResponseController(s.w)
	// Where the connection knows no deadlines, that of its server counts.
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
