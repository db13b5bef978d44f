package pending

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"time"

	"birthmark/core/query"
	"birthmark/internal/guard"
	"birthmark/model"
)

const (
	fetchSize    = 1000             // transactions that are fetched together
	maxEvents    = 100_000          // events that wait while a list is read; more of them cause another list
	listsAtMost  = 10 * time.Second // the longest interval between two lists
	publishEvery = 250 * time.Millisecond
	listShare    = 20 // a list is read again after this many times its duration; after half as many to confirm it

	// A node reports a replaced transaction before the one that replaces it. This is how long a removal waits for the
	// next event; then a list decides.
	replacementDelay = 20 * time.Millisecond
)

// reader reads the unconfirmed transactions of an open source.
type reader struct {
	*Follower
	src *openSource

	events   chan model.MempoolEvent // nil: the source has none
	broken   chan error              // the error after which the events ended
	overflow chan struct{}           // events were lost
	listed   uint64                  // events up to this number are part of the last list
	last     uint64                  // number of the last event; 0: unknown
	doubted  map[*Tx]bool            // transactions that the last list lacked and that are kept: see keepDoubted
	awaited  *time.Timer             // the hold during which the last complete list was read: see list
}

// read lists the transactions at intervals, and applies events in between. It returns nil if the indexes changed.
func (r *reader) read(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx) // ends the events too: a quiet source would never end them
	defer cancel()
	seq, err := r.src.MempoolEvents(ctx)
	if err != nil {
		return err
	}
	if seq != nil {
		r.events, r.broken, r.overflow = make(chan model.MempoolEvent, maxEvents), make(chan error, 1), make(chan struct{}, 1)
		ended := make(chan struct{})
		defer func() { cancel(); <-ended }()
		go func() {
			defer close(ended)
			if err := guard.Do(r.Log, "the events of the mempool", func() { r.receive(ctx, seq) }); err != nil {
				r.broken <- err
			}
		}()
	}
	for {
		wait, err := r.list(ctx)
		if err != nil {
			return err
		}
		if done, err := r.until(ctx, time.After(wait)); done || err != nil {
			return err
		}
	}
}

// until applies events until the next list. done: the indexes changed.
func (r *reader) until(ctx context.Context, next <-chan time.Time) (done bool, err error) {
	var soon <-chan time.Time // once a list is needed; later events do not postpone it
	for {
		select {
		case <-next:
			return false, nil
		case <-soon:
			return false, nil
		case <-r.wake:
			return false, nil
		case <-r.overflow:
			soon = cmp.Or(soon, time.After(r.Interval/5))
		case <-r.reopen:
			return true, nil
		case err := <-r.broken:
			return false, err
		case e := <-r.events:
			again, err := r.apply(ctx, e)
			if err != nil {
				return false, err
			}
			if again {
				soon = cmp.Or(soon, time.After(r.Interval/5))
			}
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
}

// receive moves events into the queue until they end. If the queue is full it drops them: the next list has them.
func (r *reader) receive(ctx context.Context, seq iter.Seq2[model.MempoolEvent, error]) {
	for e, err := range seq {
		if err != nil {
			r.broken <- err
			return
		}
		select {
		case r.events <- e:
		case <-ctx.Done():
			return
		default:
			signal(r.overflow)
		}
	}
	r.broken <- errEventsEnded
}

var errEventsEnded = model.Errorf(model.BadSource, "disconnected", "the source ended the events of its mempool")

// list brings the overlay to the list of the source, and returns how long to wait before the next one. If the source
// and the database have different tips, nothing leaves, since a block may have confirmed it.
//
// The source may have added and invalidated a block between the two requests of its tip. Its list then lacks the
// transactions of that block. So transactions leave only after a second list lacks them, and a hold ends after two lists.
func (r *reader) list(ctx context.Context) (wait time.Duration, err error) {
	began := time.Now()
	r.mu.Lock()
	mark, tip, asked, held := r.pool.arrived, r.pool.tip, r.Now(), r.held
	r.mu.Unlock()
	before, err := r.src.Tip(ctx)
	if err != nil {
		return 0, err
	}
	if int64(before.Height)-int64(tip.Height) > maxLag {
		r.reached(func() { r.pool.behind = true })
		return r.Interval, nil // wait for the database
	}
	ids, sequence, err := r.src.MempoolIDs(ctx)
	if err != nil {
		return 0, err
	}
	after, err := r.src.Tip(ctx)
	if err != nil {
		return 0, err
	}
	if sequence != 0 {
		r.listed = max(r.listed, sequence)
	}
	r.mu.Lock()
	current := r.pool.tables.copy()
	same := before.Hash == after.Hash && after.Hash == r.pool.tip.Hash
	r.mu.Unlock()
	missing, gone := compare(&current, ids, mark)
	r.mu.Lock()
	missing = r.pool.wanting(missing, asked)
	r.mu.Unlock()
	if !same {
		gone = nil
	}
	if err := r.fetch(ctx, missing, gone); err != nil {
		return 0, err
	}
	again := false
	r.reached(func() {
		r.pool.aside.extra = 0
		r.pool.aside.expire(r.Now())
		r.pool.wanted = len(ids)
		if same = same && after.Hash == r.pool.tip.Hash; same { // else it moved while the transactions were fetched
			r.pool.filled, r.pool.behind = true, false
			if again = r.held != nil && (r.held != held || r.held != r.awaited); !again {
				r.release()
			}
			r.awaited = held
		}
	})
	switch {
	case again && held != nil:
		return 0, nil
	case !same || again:
		return r.Interval / 5, nil
	case len(r.doubted) > 0:
		return max(r.Interval/5, min(listShare/2*time.Since(began), listsAtMost)), nil
	case r.events != nil && sequence != 0: // it reports also what leaves
		return max(r.Interval, listsAtMost), nil
	}
	return max(r.Interval, min(listShare*time.Since(began), listsAtMost)), nil
}

// reached records that the source has answered.
func (r *reader) reached(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Now()
	r.answered, r.pool.old, r.pool.opened = now, false, slices.Equal(r.src.indexes, r.pool.indexes)
	r.lastAnswer.Store(&now)
	if r.pool.opened {
		change()
	}
	r.publish()
}

// fetch fetches transactions and enters them. After the last one it removes the transactions in gone, except for the
// ones that keepDoubted keeps: a replaced transaction leaves when its replacement enters.
func (r *reader) fetch(ctx context.Context, ids []model.Hash, gone []*Tx) error {
	left := len(ids)
	published := time.Now()
	for chunk := range chunks(ids, fetchSize) {
		txs, err := r.src.MempoolTxs(ctx, chunk)
		if err != nil {
			return err
		}
		left -= len(chunk)
		quiet := left > 0 && time.Since(published) < publishEvery
		err = r.write(ctx, quiet, func(q *query.Query) error {
			if !slices.Equal(r.src.indexes, r.pool.indexes) {
				return nil // the source is opened again
			}
			r.pool.aside.extra = left
			if err := r.pool.enter(q, txs); err != nil || left > 0 {
				return err
			}
			r.pool.Drop(r.keepDoubted(gone))
			return nil
		})
		if err != nil {
			return err
		}
		if !quiet {
			published = time.Now()
		}
	}
	return nil
}

// keepDoubted returns the transactions to remove: the ones that this list and the previous one lack. It keeps the others
// until the next list, for two reasons. The source may have invalidated a block while it was listed: see list. And a
// transaction of the list that left before it was fetched may have replaced one of them: then the next list has the
// transaction that replaced it in turn.
func (r *reader) keepDoubted(gone []*Tx) (remove []*Tx) {
	doubted := map[*Tx]bool{}
	for _, t := range gone {
		if r.doubted[t] {
			remove = append(remove, t)
		} else {
			doubted[t] = true
		}
	}
	r.doubted = doubted
	return remove
}

// chunks yields parts of a list; an empty list is one part.
func chunks(ids []model.Hash, size int) iter.Seq[[]model.Hash] {
	return func(yield func([]model.Hash) bool) {
		for {
			n := min(size, len(ids))
			if !yield(ids[:n]) {
				return
			}
			if ids = ids[n:]; len(ids) == 0 {
				return
			}
		}
	}
}

// apply applies an event and all events that wait after it, in one step. If the last one is a removal, or an added
// transaction is lost before it is fetched, a removed transaction may have been replaced by one whose event is late:
// transactions then leave with the next list, which has the replacement. again reports that a list is needed: for this
// reason, or since events were lost or blocks were orphaned.
func (r *reader) apply(ctx context.Context, e model.MempoolEvent) (again bool, err error) {
	latest, order := map[model.Hash]model.MempoolEvent{}, []model.Hash(nil)
	sent := map[model.Hash]*model.Unconfirmed{}
	var delay <-chan time.Time
	for more := true; more; {
		again = r.note(e) || again
		if e.Kind != model.TxRemoved {
			delay = nil
		} else if delay == nil {
			delay = time.After(replacementDelay)
		}
		if e.Kind <= model.TxRemoved && (e.Sequence == 0 || e.Sequence > r.listed) {
			if _, seen := latest[e.ID]; !seen {
				order = append(order, e.ID)
			}
			if latest[e.ID] = e; e.Tx != nil {
				sent[e.ID] = e.Tx
			}
		}
		if more = len(order) < fetchSize; more {
			e, more = r.nextEvent(ctx, delay)
		}
	}
	undecided := delay != nil
	var fetch []model.Hash
	var txs []*model.Unconfirmed
	var gone []model.Hash
	s := r.Standing()
	for _, id := range order {
		switch e := latest[id]; {
		case e.Kind == model.TxRemoved:
			gone = append(gone, id)
			if sent[id] != nil { // it came and went: it may have replaced others
				txs = append(txs, sent[id])
			}
		case e.Tx != nil:
			txs = append(txs, e.Tx)
		case s.Tx(id) == nil:
			fetch = append(fetch, id)
		}
	}
	if len(fetch) > 0 {
		fetched, err := r.src.MempoolTxs(ctx, fetch)
		if err != nil {
			return false, err
		}
		txs = append(txs, fetched...)
		undecided = undecided || slices.Contains(fetched, nil)
	}
	again = again || undecided
	if len(txs)+len(gone) == 0 {
		return again, nil
	}
	return again, r.write(ctx, false, func(q *query.Query) error {
		if !slices.Equal(r.src.indexes, r.pool.indexes) {
			return nil
		}
		if err := r.pool.enter(q, txs); err != nil {
			return err
		}
		for _, id := range gone {
			r.pool.aside.drop(id)
			if t := r.pool.Tx(id); t != nil && !undecided {
				r.pool.Drop([]*Tx{t})
			}
		}
		return nil
	})
}

// nextEvent returns the next event, if there is one before the delay ends. Without a delay it does not wait.
func (r *reader) nextEvent(ctx context.Context, delay <-chan time.Time) (e model.MempoolEvent, ok bool) {
	select {
	case e = <-r.events:
		return e, true
	default:
	}
	if delay == nil {
		return e, false
	}
	select {
	case e = <-r.events:
		return e, true
	case <-delay:
	case <-ctx.Done():
	}
	return e, false
}

// note follows the numbers of events, and reports whether a list is needed.
func (r *reader) note(e model.MempoolEvent) (again bool) {
	switch {
	case e.Kind == model.BlockDisconnected:
		again = true
	case e.Kind == model.BlockConnected || e.Sequence == 0:
		r.last = 0 // the transactions of a block have numbers, but no events
		return false
	case e.Sequence <= r.listed: // the list includes it
	case r.last != 0 && e.Sequence != r.last+1:
		again = true
	}
	r.last = e.Sequence
	return again
}
