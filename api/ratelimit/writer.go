package ratelimit

import (
	"net/http"
	"strings"
	"time"

	"birthmark/api/problem"
)

// writer is the response writer of a request: it counts bytes, sets write deadlines, and replaces an error of a handler
// that ran out of time by a problem that reports the time limit.
type writer struct {
	http.ResponseWriter
	request  *request
	stall    time.Duration           // for the client to accept a part of the answer
	private  bool                    // only caches of the client may store the answer
	free     bool                    // bytes cost nothing
	stream   bool                    // pauses between parts have no deadline
	timedOut func() *problem.Problem // nil, or returns nil: the time limit was not reached

	status   int // 0: no answer yet
	bytes    int64
	replaced bool      // a problem was written in place of the handler's answer
	cut      bool      // the client could not pay for the rest of the answer
	deadline time.Time // of the writes so far
}

// deadlineInterval is the least time between two settings of the deadline, each of which has a small cost.
const deadlineInterval = time.Second

// setDeadline sets the write deadline to now plus after plus stall.
func (w *writer) setDeadline(now time.Time, after time.Duration) {
	if w.stall <= 0 {
		return
	}
	w.deadline = now.Add(after + w.stall)
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.deadline) // fails with writers of tests
}

// extendDeadline extends the deadline for the next part of the body.
func (w *writer) extendDeadline() {
	if now := time.Now(); w.stall > 0 && (w.stream || now.Add(w.stall).Sub(w.deadline) > deadlineInterval) {
		w.setDeadline(now, 0)
	}
}

// pause removes the deadline of a stream: HTTP/2 resets a stream at its deadline even if there is nothing to write.
func (w *writer) pause() {
	if w.stream && w.stall > 0 {
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Time{})
	}
}

func (w *writer) WriteHeader(status int) {
	if w.status != 0 || w.replaced {
		return
	}
	if status >= http.StatusInternalServerError && w.timedOut != nil && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		if p := w.timedOut(); p != nil {
			w.timedOut = nil
			w.request.write(w, p)
			w.replaced = true
			return
		}
	}
	if status >= http.StatusOK { // not an informational response, which may be repeated
		w.begin(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// begin sets the status of an answer and completes its headers.
func (w *writer) begin(status int) {
	w.status = status
	h := w.Header()
	w.request.work.headers(h)
	if cache := h["Cache-Control"]; w.private && len(cache) == 1 && strings.HasPrefix(cache[0], "public") {
		h["Cache-Control"] = []string{"private" + cache[0][len("public"):]}
	}
}

func (w *writer) Write(b []byte) (int, error) {
	if w.replaced {
		return len(b), nil
	}
	if w.status == 0 {
		w.begin(http.StatusOK)
	}
	// An answer that begins is read already: the client pays, but gets it in any case.
	if !w.free {
		if err := w.request.work.Sent(len(b)); err != nil && w.bytes > 0 {
			w.cut = true
			return 0, err
		}
	}
	w.request.work.Pause()
	w.extendDeadline()
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// FlushError flushes the answer; [http.ResponseController] calls it.
func (w *writer) FlushError() error {
	if w.status == 0 {
		w.begin(http.StatusOK)
	}
	w.extendDeadline()
	err := http.NewResponseController(w.ResponseWriter).Flush()
	w.pause()
	return err
}

func (w *writer) Flush() { _ = w.FlushError() } // the next write returns the error too

// Unwrap returns the wrapped writer for [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// sentStatus returns the status that the client received.
func (w *writer) sentStatus() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}
