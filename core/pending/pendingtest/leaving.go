package pendingtest

import (
	"context"
	"iter"
	"slices"
	"sync"

	"birthmark/model"
)

// Leaving is a source whose transactions arrive without their bytes, as if they were dropped to save memory, until
// [Leaving.Leave] is called.
type Leaving struct {
	model.Source
	model.Mempool
	mu   sync.Mutex
	left []model.Hash
	done bool
}

// NewLeaving wraps a source, which must have a mempool.
func NewLeaving(src model.Source) *Leaving {
	return &Leaving{Source: src, Mempool: src.(model.Mempool)}
}

// Leave removes transactions from what MempoolTxs returns, but not from the ids of the mempool. The others have their
// bytes from now on.
func (l *Leaving) Leave(ids ...model.Hash) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.left, l.done = ids, true
}

// MempoolTxs implements [model.Mempool].
func (l *Leaving) MempoolTxs(ctx context.Context, ids []model.Hash) ([]*model.Unconfirmed, error) {
	found, err := l.Mempool.MempoolTxs(ctx, ids)
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, u := range found {
		switch {
		case u == nil || l.done && !slices.Contains(l.left, u.Hash):
		case l.done:
			found[i] = nil
		default:
			bare := *u
			bare.Raw, found[i] = nil, &bare
		}
	}
	return found, err
}

// MempoolEvents implements [model.Mempool]: there are none, because they can have the bytes.
func (l *Leaving) MempoolEvents(context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	return nil, nil
}
