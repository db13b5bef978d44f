package answertest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/model"
)

// Mempool follows the unconfirmed transactions of a source beside a database until the test ends. It returns when it has
// n of them.
func Mempool(t testing.TB, db *core.DB, uri string, n int) *pending.Follower {
	t.Helper()
	f := Follow(t, db, func(ctx context.Context, indexes []string) (model.Source, error) {
		return db.Chain().Open(ctx, model.SourceOptions{URI: uri, Indexes: indexes, Raw: true, Follow: true})
	})
	for f.Standing().State() != pending.Live || f.Standing().Count() != n {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	return f
}

// Follow follows the unconfirmed transactions of the sources that open opens, beside a database, until the test ends.
// change changes the options of the follower.
func Follow(
	t testing.TB, db *core.DB, open func(ctx context.Context, indexes []string) (model.Source, error), change ...func(*pending.Options),
) *pending.Follower {
	t.Helper()
	o := pending.Options{
		View: db.View, Moved: db.Moved, Traits: db.Chain().Traits(), Memory: 64 << 20, Log: slog.New(slog.DiscardHandler),
		Interval: 5 * time.Millisecond, Patience: 2 * time.Minute, Open: open,
	}
	for _, c := range change {
		c(&o)
	}
	f := pending.NewFollower(o)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	return f
}
