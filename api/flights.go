package api

import (
	"context"
	"sync"
)

// flights answers equal questions that are asked at the same time once. Unlike golang.org/x/sync/singleflight it ends
// the work when the last caller has left, and no caller's deadline is that of another.
type flights struct {
	mu  sync.Mutex
	all map[flightKey]*flight
}

// flightKey is a question, and the tip it is asked at.
type flightKey struct {
	at       <-chan struct{} // of [served.Chain.Moved]
	rows     int             // that may be gone through
	question string
}

// flight is a question that is being answered.
type flight struct {
	done    chan struct{} // closed: answer and err are set
	stop    context.CancelFunc
	callers int // guarded by flights.mu
	answer  made
	err     error
}

// made is an answer. Its text may be sent by several callers, and is not changed.
type made struct {
	names *tipNames // nil: before the first block
	text  []byte
	same  bool // the client has it
}

// join is the flight of a question, with one caller more; nil: nobody asks it.
func (fs *flights) join(key flightKey) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.joined(key)
}

// joined is join. mu is held.
func (fs *flights) joined(key flightKey) *flight {
	f := fs.all[key]
	if f != nil {
		f.callers++
	}
	return f
}

// begin has a question answered by ask, whose context ends when no caller waits any more; then release is called. If
// another caller began meanwhile, release is called at once.
func (fs *flights) begin(
	ctx context.Context, key flightKey, release func(), ask func(context.Context) (made, error),
) *flight {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f := fs.joined(key); f != nil {
		release()
		return f
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	f := &flight{done: make(chan struct{}), stop: stop, callers: 1}
	if fs.all == nil {
		fs.all = map[flightKey]*flight{}
	}
	fs.all[key] = f
	go func() {
		defer release()
		f.answer, f.err = ask(ctx)
		fs.mu.Lock()
		fs.drop(key, f)
		fs.mu.Unlock()
		close(f.done)
	}()
	return f
}

// wait waits for the answer as long as the caller does.
func (fs *flights) wait(ctx context.Context, key flightKey, f *flight) (made, error) {
	defer func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		if f.callers--; f.callers == 0 {
			f.stop()
			fs.drop(key, f)
		}
	}()
	select {
	case <-f.done:
		return f.answer, f.err
	case <-ctx.Done():
		return made{}, ctx.Err()
	}
}

// drop lets nobody join f any more. mu is held.
func (fs *flights) drop(key flightKey, f *flight) {
	if fs.all[key] == f {
		delete(fs.all, key)
	}
}
