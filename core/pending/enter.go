package pending

import (
	"context"
	"errors"
	"slices"

	"birthmark/core/query"
	"birthmark/model"
)

// errNotOpen is returned while the source cannot be reached.
var errNotOpen = model.Errorf(model.NotFound, "no_mempool", "the mempool of the source is not available")

// errOtherIndexes is returned if the source has the values of other indexes than the database.
var errOtherIndexes = errors.New("the mempool of the source is being opened again for other indexes")

// Enter fetches transactions from the source and enters them, for a client that has just submitted them. It returns
// after they are published. While the source is not open, Enter has it opened and waits for that, at most three seconds.
func (f *Follower) Enter(ctx context.Context, ids ...model.Hash) error {
	ctx, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	var src *openSource
	for failed := errNotOpen; ; {
		if src = f.openOther(ctx, src); src == nil {
			return failed
		}
		err := f.enterFrom(ctx, src, ids)
		if err == nil || err != errOtherIndexes && f.source.Load() == src {
			return err
		}
		failed = err
	}
}

// enterFrom fetches transactions from an open source and enters them.
func (f *Follower) enterFrom(ctx context.Context, src *openSource, ids []model.Hash) error {
	txs, err := src.MempoolTxs(ctx, ids)
	if err != nil {
		return err
	}
	return f.write(ctx, false, func(q *query.Query) error {
		if !slices.Equal(src.indexes, f.pool.indexes) {
			return errOtherIndexes
		}
		return f.pool.enter(q, txs)
	})
}

// setSource makes an open source the current one.
func (f *Follower) setSource(src *openSource) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.source.Store(src)
	close(f.opened)
	f.opened = make(chan struct{})
}

// openOther returns the open source if it is another one than before, else the next one that is opened; nil if ctx ends
// before that, or no source will be opened.
func (f *Follower) openOther(ctx context.Context, before *openSource) *openSource {
	for {
		f.mu.Lock()
		src, opened := f.source.Load(), f.opened
		f.mu.Unlock()
		if src != nil && src != before {
			return src
		}
		signal(f.hurry)
		select {
		case <-opened:
		case <-f.ended:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// Refresh has the source listed now, for a client that has just submitted transactions whose ids are not known.
func (f *Follower) Refresh() { signal(f.wake) }
