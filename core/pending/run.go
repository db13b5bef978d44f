package pending

import (
	"context"
	"errors"
	"slices"
	"time"

	"birthmark/core/query"
	"birthmark/internal/guard"
	"birthmark/model"
)

const (
	oldAfter   = 30 * time.Second // without an answer of the source, until the overlay is marked old
	emptyAfter = 10 * time.Minute // likewise, until it is emptied
	retryMost  = 10 * time.Second // between two attempts to reach the source
	maxLag     = 2                // blocks by which the database may be behind the source while lists are read
)

// NewFollower returns a follower whose overlay is empty until Run reads the source.
func NewFollower(o Options) *Follower {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Interval == 0 {
		o.Interval = time.Second
	}
	if o.Patience == 0 {
		o.Patience = 3 * time.Second
	}
	f := &Follower{
		Options: o, pool: NewPool(o.Traits, o.Memory, o.Now),
		feed: &feedNode{moved: make(chan struct{})}, wake: make(chan struct{}, 1), reopen: make(chan struct{}, 1),
	}
	f.audits.due = make(chan *Standing, 1)
	f.current.Store(&Standing{Overlay: f.pool.Overlay(), moved: make(chan struct{})})
	return f
}

// Run follows the tip of the database and the source until ctx ends. Errors of the source are logged, and it is tried
// again.
func (f *Follower) Run(ctx context.Context) {
	wait := guard.Beside(func() { f.keep(ctx, f.followSource) })
	compared := guard.Beside(func() { f.auditBlocks(ctx) })
	f.keep(ctx, f.followTip)
	wait()
	compared()
}

// keep runs do again after a panic, with an empty overlay: its tables may be half changed.
func (f *Follower) keep(ctx context.Context, do func(context.Context)) {
	for guard.Do(f.Log, "the unconfirmed transactions", func() { do(ctx) }) != nil && ctx.Err() == nil {
		f.mu.Lock()
		f.pool.Reset(f.pool.indexes)
		f.hold()
		f.mu.Unlock()
		f.sleep(ctx, time.Second)
	}
}

// followTip moves the pool to each new tip.
func (f *Follower) followTip(ctx context.Context) {
	for ctx.Err() == nil {
		_, moved := f.Moved()
		if err := f.write(ctx, false, func(*query.Query) error { return nil }); err != nil && ctx.Err() == nil {
			f.Log.Error("cannot read the new blocks for the mempool, retrying", "error", err, "in", time.Second)
			f.sleep(ctx, time.Second)
			continue
		}
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
}

// write moves the pool to the tip of the database, calls change, and publishes the result unless quiet is set.
func (f *Follower) write(ctx context.Context, quiet bool, change func(*query.Query) error) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	returned := false
	defer func() {
		if !returned { // a panic: the tables may be half changed
			f.pool.Reset(f.pool.indexes)
			f.hold()
		}
	}()
	err := f.Options.View(ctx, func(v *query.View) error {
		return v.From(ctx, func(q *query.Query) error {
			indexes := f.pool.indexes
			if err := f.pool.Advance(q); err != nil {
				f.pool.Reset(indexes) // the tables may be half changed
				f.hold()
				return err
			}
			if !slices.Equal(indexes, f.pool.indexes) {
				f.pool.opened = false
				signal(f.reopen)
			}
			if f.pool.orphaned && f.pool.opened {
				f.hold()
			}
			f.pool.orphaned = false
			return change(q)
		})
	})
	if !quiet {
		f.publish()
	}
	returned = true
	return err
}

// hold keeps the overlay from being published until the source has listed its transactions, at most for two thirds of
// the patience of readers: transactions of orphaned blocks would otherwise disappear and return. mu is held.
func (f *Follower) hold() {
	f.release()
	signal(f.wake)
	var held *time.Timer
	held = time.AfterFunc(f.Patience*2/3, func() {
		_ = guard.Do(f.Log, "the unconfirmed transactions", func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			if f.held == held {
				f.held = nil
				f.publish()
			}
		})
	})
	f.held = held
}

// release ends a hold. mu is held.
func (f *Follower) release() {
	if f.held != nil {
		f.held.Stop()
		f.held = nil
	}
}

// signal sends to a channel with room for one signal.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (f *Follower) sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// errNoMempool is returned for a source without a mempool.
var errNoMempool = errors.New("the source has no mempool")

// followSource opens the source and reads it, again and again after errors.
func (f *Follower) followSource(ctx context.Context) {
	for pause := f.Interval; ctx.Err() == nil; pause = min(2*pause, max(retryMost, f.Interval)) {
		select {
		case <-f.reopen: // the indexes are read now
		default:
		}
		f.mu.Lock()
		indexes := f.pool.indexes
		f.mu.Unlock()
		if indexes == nil { // the database has not been read yet
			f.sleep(ctx, 10*time.Millisecond)
			pause = f.Interval
			continue
		}
		began := f.Now()
		err := f.session(ctx, indexes)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, errNoMempool):
			return
		case err == nil: // the indexes changed
			pause = f.Interval
			continue
		case f.Now().Sub(began) > time.Minute:
			pause = f.Interval
		}
		f.Log.Warn("cannot read the mempool of the source, retrying", "error", err, "in", pause)
		f.age()
		f.sleep(ctx, pause)
	}
}

// session opens a source and reads it until an error. It returns nil if the indexes of the database change.
func (f *Follower) session(ctx context.Context, indexes []string) (err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	opened, err := f.Open(ctx, indexes)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	pool, ok := opened.(model.Mempool)
	if !ok {
		return errNoMempool
	}
	src := &openSource{opened, pool, indexes}
	f.source.Store(src)
	defer f.source.CompareAndSwap(src, nil)
	return (&reader{Follower: f, src: src}).read(ctx)
}

// age marks the overlay as old, or empties it, if the source has not answered for long.
func (f *Follower) age() {
	f.mu.Lock()
	defer f.mu.Unlock()
	since := f.Now().Sub(f.answered)
	if f.pool.old = f.pool.filled && since > oldAfter; since > emptyAfter && f.pool.Count() > 0 {
		f.pool.Reset(f.pool.indexes)
	}
	f.publish()
}

// errNotOpen is returned while the source cannot be reached.
var errNotOpen = model.Errorf(model.NotFound, "no_mempool", "the mempool of the source is not available")

// Enter fetches transactions from the source and enters them, for a client that has just submitted them. It returns
// after they are published.
func (f *Follower) Enter(ctx context.Context, ids ...model.Hash) error {
	src := f.source.Load()
	if src == nil {
		return errNotOpen
	}
	txs, err := src.MempoolTxs(ctx, ids)
	if err != nil {
		return err
	}
	// The node has them, whether the client is still connected or not.
	return f.write(context.WithoutCancel(ctx), false, func(q *query.Query) error {
		if !slices.Equal(src.indexes, f.pool.indexes) {
			return nil
		}
		return f.pool.enter(q, txs)
	})
}

// Raw returns the serialized transaction. It fetches it from the source if it was dropped to save memory; NotFound
// (unknown_tx) if the source no longer has it: see [HasLeft].
func (f *Follower) Raw(ctx context.Context, t *Tx) ([]byte, error) {
	if raw := t.Raw(); raw != nil {
		return raw, nil
	}
	src := f.source.Load()
	if src == nil {
		return nil, errNotOpen
	}
	txs, err := src.MempoolTxs(ctx, []model.Hash{t.ID})
	if err != nil {
		return nil, err
	}
	if len(txs) != 1 || txs[0] == nil {
		return nil, model.Errorf(model.NotFound, "unknown_tx", "transaction %s is %w", t.ID, errLeft)
	}
	return txs[0].Raw, nil
}

// HasLeft reports whether an error of [Follower.Raw] is that of a transaction that has left the source, so that it will leave
// the overlay, too. Lists leave such transactions out.
func HasLeft(err error) bool { return errors.Is(err, errLeft) }

var errLeft = errors.New("no longer in the mempool")

// Source returns the open source, for its other interfaces; nil if it cannot be reached. It may be closed at any time:
// its methods then fail.
func (f *Follower) Source() model.Source {
	if src := f.source.Load(); src != nil {
		return src.Source
	}
	return nil
}
