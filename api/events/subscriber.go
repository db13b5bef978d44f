package events

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"birthmark/core/pending/answers"
)

// errDisconnected is the error of a client that disconnected or does not read.
var errDisconnected = errors.New("the client is gone")

// subscriber is a connected client.
type subscriber struct {
	*handler
	request   request
	w         http.ResponseWriter
	out       *http.ResponseController
	at        position
	maxBlocks int // of a batch, adapted to batchTime

	unconfirmed *answers.Watch // nil: not requested

	first   []byte // first batch
	more    bool   // more events are available now
	written time.Time
}

// begin reads the first batch, while an error can still be a problem document.
func (f *subscriber) begin(ctx context.Context) error {
	st, err := f.source.begin(ctx, &f.request)
	if err != nil {
		return err
	}
	f.at = st.to
	f.first = append([]byte(retryLine(f.Retry)), st.text...)
	if f.request.tipsOnly() {
		return nil
	}
	next, err := f.step(ctx) // fails for invalid values
	f.first = append(f.first, next...)
	return err
}

// follow sends events until the client disconnects or the server stops.
func (f *subscriber) follow(ctx context.Context) (err error) {
	defer func() {
		if !errors.Is(err, errDisconnected) {
			_ = f.out.SetWriteDeadline(time.Time{}) // for other requests on the connection
		}
	}()
	h := f.w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // disables buffering in nginx
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
				_ = f.write([]byte(failing)) // the stream ends in any case
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
		case <-f.unconfirmed.Moved():
		case <-silence.C:
		case <-f.Done:
		case <-ctx.Done():
			return nil
		}
	}
}

// step reads the next batch.
func (f *subscriber) step(ctx context.Context) ([]byte, error) {
	began := time.Now()
	st, err := f.source.step(ctx, &f.request, f.at, f.maxBlocks)
	if err != nil {
		return nil, err
	}
	f.at, f.more = st.to, st.more
	// The number of events per block depends on the request.
	switch took := time.Since(began); {
	case took > batchTime:
		f.maxBlocks = max(1, f.maxBlocks/4)
	case took < batchTime/4:
		f.maxBlocks = min(maxBlocks, f.maxBlocks*2)
	}
	if f.unconfirmed == nil {
		return st.text, nil
	}
	if st.back {
		f.unconfirmed.Reset()
	}
	if f.more || f.at.within != nil {
		f.unconfirmed.Collect()
		return st.text, nil
	}
	buf := newBuffer()
	f.more, err = f.unconfirmed.Next(ctx, f.at.at, func(e answers.Event) (bool, error) {
		name, data := e.Name()
		err := buf.event(name, "", data)
		return buf.text.Len() >= batchSize, err
	})
	return append(st.text, buf.text.Bytes()...), err
}

// write writes and flushes text within the write timeout.
func (f *subscriber) write(text []byte) error {
	f.written = time.Now()
	if err := f.out.SetWriteDeadline(f.written.Add(f.WriteTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("%w: %w", errDisconnected, err)
	}
	if _, err := f.w.Write(text); err != nil {
		return fmt.Errorf("%w: %w", errDisconnected, err)
	}
	if err := f.out.Flush(); err != nil {
		return fmt.Errorf("%w: %w", errDisconnected, err)
	}
	return nil
}
