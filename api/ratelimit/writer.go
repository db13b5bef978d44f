package ratelimit

import (
	"net/http"
	"strings"
	"time"

	"birthmark/api/problem"
)

// writer is an answer on its way: it counts, gives the client a time to take each part, and has an answer that came too late
// say so.
type writer struct {
	http.ResponseWriter
	request *request
	stall   time.Duration
	stream  bool                    // has times of silence, in which nothing has to be taken
	slow    func() *problem.Problem // why the handler failed, where it was its time; nil

	status  int // 0: nothing is answered yet
	bytes   int64
	instead bool      // of the handler's answer, a problem was written
	until   time.Time // when the client has to have taken what was written
}

// again is how often the deadline is set: each time costs a little, and many small writes are one answer.
const again = time.Second

// allow gives the client until stall after now and a while to take what is written by then.
func (w *writer) allow(now time.Time, while time.Duration) {
	if w.stall <= 0 {
		return
	}
	w.until = now.Add(while + w.stall)
	_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(w.until) // a writer of a test has none
}

// more gives the client more time, as it took what came before.
func (w *writer) more() {
	if now := time.Now(); w.stall > 0 && (w.stream || now.Add(w.stall).Sub(w.until) > again) {
		w.allow(now, 0)
	}
}

// rest lets a stream be silent: HTTP/2 ends it at its deadline, whether something is to be written or not.
func (w *writer) rest() {
	if w.stream && w.stall > 0 {
		_ = http.NewResponseController(w.ResponseWriter).SetWriteDeadline(time.Time{})
	}
}

// WriteHeader implements [http.ResponseWriter].
func (w *writer) WriteHeader(status int) {
	if w.status != 0 || w.instead {
		return
	}
	if status >= http.StatusInternalServerError && w.slow != nil && !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		if p := w.slow(); p != nil {
			w.slow = nil
			problem.Write(w, p)
			w.instead = true
			return
		}
	}
	if status >= http.StatusOK { // before come hints, of which there may be many
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter].
func (w *writer) Write(b []byte) (int, error) {
	if w.instead {
		return len(b), nil
	}
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.more()
	n, err := w.ResponseWriter.Write(b)
	w.bytes += int64(n)
	return n, err
}

// FlushError hands on what was written; [http.ResponseController] calls it.
func (w *writer) FlushError() error {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	w.more()
	err := http.NewResponseController(w.ResponseWriter).Flush()
	w.rest()
	return err
}

// Flush implements [http.Flusher].
func (w *writer) Flush() { _ = w.FlushError() } // the next write finds it too

// Unwrap is for [http.ResponseController].
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// answered is the status that the client saw.
func (w *writer) answered() int {
	if w.status == 0 {
		return http.StatusOK
	}
	return w.status
}
