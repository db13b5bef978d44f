package core

import (
	"context"
	"log/slog"
	"time"

	"birthmark/internal/guard"
	"birthmark/model"
)

// transit is a reorganization that is being written in two steps: the rollback, and the first batch of the new branch.
// Queries that begin meanwhile wait for its end, so that none sees the chain between the two branches.
type transit struct {
	from  model.Point   // the tip before
	ended chan struct{} // closed at the end
	timer *time.Timer   // ends it, if the new branch does not come
}

// maxTransit is how long queries wait for the first batch of a new branch. It normally takes some milliseconds.
const maxTransit = 10 * time.Second

// beginTransit begins a transit, unless one has begun.
func (db *DB) beginTransit() {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.inTransit {
		return
	}
	t := &transit{from: db.tip, ended: make(chan struct{})}
	t.timer = time.AfterFunc(maxTransit, func() {
		_ = guard.Do(slog.Default(), "a reorganization", func() { db.end(t) })
	})
	db.inTransit = true
	db.transit.Store(t)
}

// endTransit ends the transit, if there is one.
func (db *DB) endTransit() {
	if t := db.transit.Load(); t != nil {
		db.end(t)
	}
}

func (db *DB) end(t *transit) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.transit.Load() != t || !db.inTransit {
		return
	}
	t.timer.Stop()
	db.inTransit = false
	close(t.ended)
	if db.tip != t.from {
		db.notifyMoved()
	}
}

// arrived waits for the end of the transit. It returns the last one that ended, nil if there was none: a snapshot that is
// taken afterwards shows no transit if there is no later one after it was taken.
func (db *DB) arrived(ctx context.Context) (*transit, error) {
	t := db.transit.Load()
	if t == nil {
		return nil, nil
	}
	select {
	case <-t.ended:
		return t, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
