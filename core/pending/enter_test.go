package pending

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/internal/testseed"
	"birthmark/model"
)

// run runs a follower of a world until the test ends.
func run(t testing.TB, w *world, interval time.Duration, open func(context.Context, []string) (model.Source, error)) *Follower {
	f := NewFollower(Options{
		View: w.db.View, Moved: w.db.Moved, Traits: w.db.Chain().Traits(), Memory: 1 << 30, Log: slog.New(slog.DiscardHandler),
		Interval: interval, Open: open,
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx)
	}()
	t.Cleanup(func() { cancel(); <-ended })
	return f
}

// A transaction that is submitted while the source is not open is in the overlay when Enter returns: Enter has the
// source opened, whose next attempt would be an hour later.
func TestEnterWhileTheSourceIsNotOpen(t *testing.T) {
	w := newWorld(t, variants()[0], testseed.New(t))
	n := &node{w: w, rng: w.rng}
	tried, up := make(chan struct{}, 100), atomic.Bool{}
	f := run(t, w, time.Hour, func(context.Context, []string) (model.Source, error) {
		tried <- struct{}{}
		if !up.Load() {
			return nil, errAway
		}
		return n, nil
	})
	<-tried
	n.mu.Lock()
	u := w.pay(w.coins(nil))
	w.arrive(u)
	n.mu.Unlock()
	up.Store(true)
	if err := f.Enter(t.Context(), u.Hash); err != nil {
		t.Fatal(err)
	}
	if f.Standing().Tx(u.Hash) == nil {
		t.Error("the transaction is not in the overlay")
	}
}

// bare is a source without a mempool.
type bare struct{ model.Source }

func (bare) Close() error { return nil }

// Enter does not wait for a source that has no mempool.
func TestEnterWithoutAMempool(t *testing.T) {
	w := newWorld(t, variants()[0], testseed.New(t))
	f := run(t, w, time.Hour, func(context.Context, []string) (model.Source, error) { return bare{}, nil })
	<-f.ended
	if _, code := model.KindOf(f.Enter(t.Context(), model.Hash{1})); code != "no_mempool" {
		t.Errorf("code %q, expected no_mempool", code)
	}
}
