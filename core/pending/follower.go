package pending

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"birthmark/core/meter"
	"birthmark/core/query"
	"birthmark/model"
)

// Options are the parts that a [Follower] connects.
type Options struct {
	// View calls fn with a snapshot of the database. Moved returns its tip and a channel that is closed when the tip or
	// the indexes change.
	View  func(ctx context.Context, fn func(*query.View) error) error
	Moved func() (tip model.Point, moved <-chan struct{})

	// Open opens the source of the unconfirmed transactions, with the values of indexes and with [model.Tx.Raw]. The
	// follower closes it. It opens another one when the indexes change.
	Open func(ctx context.Context, indexes []string) (model.Source, error)

	Traits model.Traits
	Memory int64 // limit in bytes
	Log    *slog.Logger
	Now    func() time.Time // nil: time.Now

	Interval time.Duration // between two lists; 0: one second. It is longer if a list takes long.
	Patience time.Duration // how long readers wait for the overlay of a new tip; 0: three seconds
}

// Follower keeps the unconfirmed transactions of a source beside the tip of a database. It is safe for concurrent use.
type Follower struct {
	Options
	current atomic.Pointer[Standing]

	mu     sync.Mutex // held by the writer
	pool   *Pool
	feed   *feedNode
	source atomic.Pointer[openSource] // nil: not open

	held     *time.Timer // after a reorganization: see hold; nil: nothing is held
	answered time.Time   // when the source answered last

	lastAnswer atomic.Pointer[time.Time] // answered, for readers; nil: never

	histogram atomic.Pointer[histogram]
	ages      atomic.Pointer[ages]
	templates templates
	audits    audits

	wake   chan struct{} // requests a list
	reopen chan struct{} // the source must be opened again, for other indexes
}

// openSource is a source that has a mempool.
type openSource struct {
	model.Source
	model.Mempool
	indexes []string
}

// feedNode is a place in the list of changes. Consumers that are slow keep the changes, and not the standings.
type feedNode struct {
	change Change    // since the previous node
	next   *feedNode // set before moved is closed
	moved  chan struct{}
}

// Standing returns the current moment. It never waits. Its tip can be behind that of the database for some milliseconds
// after a block, and for up to two seconds after a reorganization.
func (f *Follower) Standing() *Standing { return f.current.Load() }

// View calls fn with a snapshot of the database and the overlay for its tip. If a block was added a moment ago it waits
// for the overlay, at most for the patience of readers; after that, and before the source was read, the overlay is empty
// and in state [Filling]. Both are valid until fn returns; the overlay is valid for longer. Its walks are reported to the
// [meter.Meter] of the context; an error of the meter is that of View, too.
func (f *Follower) View(ctx context.Context, fn func(*query.View, *Overlay) error) error {
	deadline := time.Now().Add(f.Patience)
	m := meter.Of(ctx)
	for {
		s := f.Standing()
		again := false
		err := f.Options.View(ctx, func(v *query.View) error {
			switch {
			case v.Tip == s.Tip || s.Count() == 0 && !s.filled:
				return cmp.Or(fn(v, s.counting(m)), m.Err())
			case time.Now().After(deadline):
				return fn(v, emptyOverlay(Filling, s.indexes))
			}
			again = true
			return nil
		})
		if err != nil || !again {
			return err
		}
		if s != f.Standing() {
			continue // the snapshot is newer than s
		}
		select {
		case <-s.moved:
		case <-time.After(time.Until(deadline)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Changes yields the current standing, and then the next one after each change of the tip, of the state or of the
// transactions, until ctx ends. A consumer that is slow gets several changes as one.
func (f *Follower) Changes(ctx context.Context) iter.Seq[Update] {
	return func(yield func(Update) bool) {
		s, feed := f.Feed()
		if !yield(Update{s, Change{All: true}}) {
			return
		}
		for {
			select {
			case <-feed.Moved():
			case <-ctx.Done():
				return
			}
			if !yield(feed.Next()) {
				return
			}
		}
	}
}

// Feed is a place in the sequence of standings. It is not safe for concurrent use.
type Feed struct {
	follower *Follower
	at       *feedNode
}

// Feed returns the current standing, and the feed of later ones.
func (f *Follower) Feed() (*Standing, *Feed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.Standing(), &Feed{f, f.feed}
}

// Moved returns a channel that is closed when there is another standing.
func (d *Feed) Moved() <-chan struct{} { return d.at.moved }

// Next moves the feed to the current standing. It never waits for another one.
func (d *Feed) Next() Update {
	var change Change
	d.follower.mu.Lock()
	defer d.follower.mu.Unlock()
	for ; d.at.next != nil; d.at = d.at.next {
		change.merge(&d.at.next.change)
	}
	return Update{d.follower.Standing(), change}
}

// Answered returns when the source last answered; zero: never.
func (f *Follower) Answered() time.Time {
	if at := f.lastAnswer.Load(); at != nil {
		return *at
	}
	return time.Time{}
}

// publish makes the state of the pool the current standing. mu is held.
func (f *Follower) publish() {
	if f.held != nil {
		return
	}
	old := f.Standing()
	s := &Standing{Tip: f.pool.tip, Overlay: f.pool.Overlay(), moved: make(chan struct{})}
	change := f.pool.takeChange()
	if old.Tip == s.Tip && old.state == s.state && old.wanted == s.wanted && change.empty() {
		return
	}
	f.dropUnused()
	if old.Tip != s.Tip {
		f.audit(old)
	}
	f.current.Store(s)
	close(old.moved)
	node := &feedNode{change: change, moved: make(chan struct{})}
	f.feed.next = node
	close(f.feed.moved)
	f.feed = node
}

// keepUnused is how long a histogram and a template are kept that nothing requests: they keep transactions that left.
const keepUnused = time.Minute

func (f *Follower) dropUnused() {
	if h := f.histogram.Load(); h != nil && time.Since(h.made) > keepUnused {
		f.histogram.CompareAndSwap(h, nil)
	}
	if t := f.templates.last.Load(); t != nil && time.Since(t.at) > keepUnused {
		f.templates.last.CompareAndSwap(t, nil)
	}
}

// emptyOverlay returns an overlay without transactions.
func emptyOverlay(s State, indexes []string) *Overlay {
	return &Overlay{tables: newTables(), state: s, indexes: indexes}
}
