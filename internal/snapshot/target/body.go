package target

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// stallTimeout ends a read of remote storage that yields nothing for so long.
const stallTimeout = time.Minute

// body is a file that is read from remote storage. A read that stalls fails, so that it can be repeated.
type body struct {
	io.ReadCloser
	doing   string
	after   time.Duration
	stalled atomic.Bool
}

// newBody returns a reader that returns the errors of [Target].
func newBody(doing string, r io.ReadCloser) io.ReadCloser {
	return &body{ReadCloser: r, doing: doing, after: stallTimeout}
}

// Read implements [io.Reader].
func (b *body) Read(to []byte) (int, error) {
	timer := time.AfterFunc(b.after, func() {
		b.stalled.Store(true)
		b.ReadCloser.Close() // ends the read
	})
	n, err := b.ReadCloser.Read(to)
	timer.Stop()
	switch {
	case err == nil, errors.Is(err, io.EOF), errors.Is(err, context.Canceled):
		return n, err
	case b.stalled.Load():
		err = errors.New("no data arrived for " + b.after.String())
	}
	return n, failed(b.doing, err)
}
