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
	f := pending.NewFollower(pending.Options{
		View: db.View, Moved: db.Moved, Traits: db.Chain().Traits(), Memory: 64 << 20, Log: slog.New(slog.DiscardHandler),
		Interval: 5 * time.Millisecond, Patience: 2 * time.Minute,
		Open: func(ctx context.Context, indexes []string) (model.Source, error) {
			return db.Chain().Open(ctx, model.SourceOptions{URI: uri, Indexes: indexes, Raw: true, Follow: true})
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); f.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
	for f.Standing().State() != pending.Live || f.Standing().Count() != n {
		if err := t.Context().Err(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond)
	}
	return f
}
