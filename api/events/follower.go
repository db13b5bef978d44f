package events

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// errGone is the error of a client that cannot be written to any more: it left, or takes nothing.
var errGone = errors.New("the client is gone")

// follower is one client.
type follower struct {
	*handler
	wants wanted
	w     http.ResponseWriter
	out   *http.ResponseController
	at    place
	most  int // blocks of a step: as many as take less than its time

	first   []byte // what it is told first
	more    bool   // there is more to tell at once
	written time.Time
}

// begin reads what the client is told first, while it can still be told that there is no answer.
func (f *follower) begin(ctx context.Context) error {
	st, err := f.source.begin(ctx, &f.wants)
	if err != nil {
		return err
	}
	f.at = st.to
	f.first = append([]byte(retryLine(f.Retry)), st.text...)
	if f.wants.tipsOnly() {
		return nil
	}
	next, err := f.step(ctx) // says what is wrong with the values
	f.first = append(f.first, next...)
	return err
}

// follow tells the client what happens until it leaves or the server stops.
func (f *follower) follow(ctx context.Context) (err error) {
	defer func() {
		if !errors.Is(err, errGone) {
			_ = f.out.SetWriteDeadline(time.Time{}) // the connection may serve other requests
		}
	}()
	h := f.w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy that collects answers must not
	f.w.WriteHeader(http.StatusOK)
	if err := f.write(f.first); err != nil {
		return err
	}
	f.first = nil
	silence := time.NewTimer(f.Heartbeat)
	defer silence.Stop()
	for {
		_, moved := f.source.chain.Moved()
		text, err := f.step(ctx)
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			if ctx.Err() == nil {
				_ = f.write([]byte(failing)) // it ends anyway
			}
			return err
		}
		if len(text) > 0 {
			err = f.write(text)
		} else if time.Since(f.written) >= f.Heartbeat {
			err = f.write([]byte(heartbeat))
		}
		if err != nil {
			return err
		}
		if f.stopped() {
			return f.write([]byte(stopping))
		}
		if f.more {
			continue
		}
		silence.Reset(f.Heartbeat - time.Since(f.written))
		select {
		case <-moved:
		case <-silence.C:
		case <-f.Done:
		case <-ctx.Done():
			return nil
		}
	}
}

// step is what the client is told next.
func (f *follower) step(ctx context.Context) ([]byte, error) {
	began := time.Now()
	st, err := f.source.step(ctx, &f.wants, f.at, f.most)
	if err != nil {
		return nil, err
	}
	f.at, f.more = st.to, st.more
	// Blocks that have much for one client have nothing for another.
	switch took := time.Since(began); {
	case took > stepTime:
		f.most = max(1, f.most/4)
	case took < stepTime/4:
		f.most = min(mostBlocks, f.most*2)
	}
	return st.text, nil
}

// write sends text at once. A client that does not take it in time is gone.
func (f *follower) write(text []byte) error {
	f.written = time.Now()
	if err := f.out.SetWriteDeadline(f.written.Add(f.WriteTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if _, err := f.w.Write(text); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	if err := f.out.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errGone, err)
	}
	return nil
}
