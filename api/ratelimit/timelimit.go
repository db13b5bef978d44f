package ratelimit

import (
	"context"
	"sync"
	"time"
)

// timeLimit is the context of a request. It ends with [context.DeadlineExceeded] after a time, unless the limit is lifted
// before. A context that is derived from it has the same error.
type timeLimit struct {
	context.Context // of the connection
	timer           *time.Timer
	forget          func() bool // the end of the connection

	mu   sync.Mutex
	done chan struct{}
	err  error // nil until done is closed
}

func newTimeLimit(connection context.Context, after time.Duration) *timeLimit {
	t := &timeLimit{Context: connection, done: make(chan struct{})}
	t.timer = time.AfterFunc(after, func() { t.end(context.DeadlineExceeded) })
	t.forget = context.AfterFunc(connection, func() { t.end(connection.Err()) })
	return t
}

// lift removes the limit. It returns false if the limit was exceeded, or lifted, before.
func (t *timeLimit) lift() bool { return t.timer.Stop() }

// cancel ends the context when the request was answered.
func (t *timeLimit) cancel() {
	t.timer.Stop()
	t.forget()
	t.end(context.Canceled)
}

func (t *timeLimit) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.err == nil {
		t.err = err
		close(t.done)
	}
}

// Done implements [context.Context].
func (t *timeLimit) Done() <-chan struct{} { return t.done }

// Err implements [context.Context].
func (t *timeLimit) Err() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}
