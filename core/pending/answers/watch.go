package answers

import (
	"context"

	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

// Watch follows the unconfirmed transactions that match terms, for one consumer that also follows the blocks of the
// chain. It does not store the list of what the consumer has: it has the matching transactions that arrived up to a
// number and did not leave since. It is not safe for concurrent use.
type Watch struct {
	Follower *pending.Follower
	View     func(context.Context, func(*query.View) error) error
	Terms    []query.Term     // alternatives; without a value: every output with a value of the index, or with assets; none: only the total
	List     *query.WatchList // also outputs that have one of these values; nil: none
	Spends   bool             // also transactions that spend matching outputs

	standing *pending.Standing
	feed     *pending.Feed  // nil: not started
	left     []pending.Left // transactions that left and were not processed yet
	changed  bool           // the standing changed since everything was sent
	reset    bool           // the consumer starts again with an empty set
	unknown  bool           // see Selection
	arrived  uint64         // number of the last transaction that was considered
	now      moment
	marked   moment // of the last event of the mempool
}

// moment is the state that events of the mempool contain.
type moment struct {
	tip    model.Point
	state  pending.State
	count  int // transactions that the consumer has
	events int // total number of events
}

// maxLeft is the maximum number of transactions that wait while a consumer is behind. Above it, the consumer starts
// again.
const maxLeft = 100_000

// Reset makes the consumer start again with an empty set. It is called when blocks were rolled back: transactions that
// the consumer removed because a block confirmed them may never have left the overlay.
func (w *Watch) Reset() { w.reset = true }

// Moved returns a channel that is closed when there are changes; nil before the first call of Next.
func (w *Watch) Moved() <-chan struct{} {
	if w == nil || w.feed == nil {
		return nil
	}
	return w.feed.Moved()
}

// Collect moves to the current standing, after the first call of Next. A consumer that does not call Next for long
// calls it from time to time: it frees the changes that wait.
func (w *Watch) Collect() {
	if w.feed == nil {
		return
	}
	select {
	case <-w.feed.Moved():
	default:
		return
	}
	update := w.feed.Next()
	w.standing, w.changed = update.Standing, true
	w.left = append(w.left, update.Change.Out...)
	if w.reset = w.reset || update.Change.All || len(w.left) > maxLeft; w.reset {
		w.left = nil
	}
}

// Next calls emit with the next events for a consumer that has all blocks up to at, until emit reports that it has no
// room for more. There are none if the overlay does not belong to that block: it follows soon, or the consumer has to
// read another block first. more reports that there are more events now.
func (w *Watch) Next(ctx context.Context, at model.Point, emit func(Event) (full bool, err error)) (more bool, err error) {
	if w.feed == nil {
		w.standing, w.feed = w.Follower.Feed()
		w.reset = true
	}
	w.Collect()
	if !w.changed && !w.reset || w.standing.Tip != at {
		return false, nil
	}
	err = w.View(ctx, func(v *query.View) error {
		if v.Tip != at {
			return nil // a block was added a moment ago
		}
		return v.From(ctx, func(q *query.Query) error {
			s := sender{Watch: w, r: NewReader(q, w.standing.Overlay), emit: emit}
			if len(w.Terms) == 0 && w.List == nil {
				return s.total()
			}
			err := s.send()
			more = s.full
			return err
		})
	})
	return more, err
}

// sender sends the events of one call of Next.
type sender struct {
	*Watch
	r        *Reader
	emit     func(Event) (full bool, err error)
	full     bool
	selected *Selection
}

// total sends the number of all unconfirmed transactions.
func (s *sender) total() error {
	s.changed, s.reset, s.left = false, false, nil
	return s.event(Event{Mempool: s.mempool(s.standing.Tip, s.r.State(), s.r.Count())})
}

func (s *sender) mempool(tip model.Point, state pending.State, count int) *Mempool {
	a := &Mempool{State: state.String(), Count: count}
	if !tip.IsOrigin() {
		a.Tip = &query.PointAnswer{Height: uint32(tip.Height), Hash: s.r.Chain.FormatHash(tip.Hash)}
	}
	return a
}

func (s *sender) send() (err error) {
	if s.selected, err = s.r.Select(s.Terms, nil); err != nil {
		return err
	}
	if s.List != nil {
		if err := s.r.selectList(s.selected, s.List); err != nil {
			return err
		}
	}
	if s.reset = s.reset || s.selected.Unknown != s.unknown; s.reset {
		s.reset, s.unknown, s.changed = false, s.selected.Unknown, true
		s.left, s.arrived, s.now.count = nil, 0, 0
		if err := s.mark(true); err != nil {
			return err
		}
	}
	for ; len(s.left) > 0; s.left = s.left[1:] {
		if s.full {
			return nil
		}
		if err := s.gone(&s.left[0]); err != nil {
			return err
		}
	}
	s.left = nil
	for t := range s.selected.Txs(s.arrived) {
		if s.full {
			return nil
		}
		s.arrived = t.Arrival
		if a := s.pending(t); a != nil {
			s.now.count++
			if err := s.event(Event{Pending: a}); err != nil {
				return err
			}
		}
	}
	if s.full {
		return nil
	}
	s.arrived, s.changed = max(s.arrived, s.r.LastArrival()), false
	err = s.mark(false)
	s.full = false
	return err
}

func (s *sender) event(e Event) (err error) {
	s.now.events++
	s.full, err = s.emit(e)
	return err
}

// mark sends the event that ends a series of events, if anything changed; with reset the one that begins it.
func (s *sender) mark(reset bool) error {
	s.now.tip, s.now.state = s.standing.Tip, s.r.State()
	if s.now == s.marked && !reset {
		return nil
	}
	a := s.mempool(s.now.tip, s.now.state, s.now.count)
	a.Reset = reset
	err := s.event(Event{Mempool: a})
	if s.marked = s.now; reset {
		s.marked = moment{}
	}
	return err
}

// pending returns the matching outputs of a transaction and, if requested, the matching outputs that it spends; nil if
// there are none.
func (s *sender) pending(t *pending.Tx) *Pending {
	if !s.sends(t) {
		return nil
	}
	a := &Pending{
		Tx: s.r.Chain.FormatHash(t.ID), FirstSeen: t.Seen().Unix(), Outputs: []query.PendingOutputAnswer{},
	}
	for i := range t.NumOutputs() {
		if o := t.Output(i); s.selected.Has(o) {
			at := pending.Outpoint{Tx: t.ID, Index: t.FirstOutput + uint32(i)}
			a.Outputs = append(a.Outputs, s.r.Output(at, o, false))
		}
	}
	for i := range t.Inputs() {
		if in := &t.Inputs()[i]; s.Spends && s.selected.Has(in.Spends()) {
			a.Spends = append(a.Spends, s.r.Spend(in))
		}
	}
	return a
}

// sends reports whether there are events of a transaction.
func (s *sender) sends(t *pending.Tx) bool {
	for i := range t.NumOutputs() {
		if s.selected.Has(t.Output(i)) {
			return true
		}
	}
	for i := range t.Inputs() {
		if s.Spends && s.selected.Has(t.Inputs()[i].Spends()) {
			return true
		}
	}
	return false
}

// gone sends the event of a transaction that left, if the consumer has it and no block has it. Otherwise the block has
// replaced it.
func (s *sender) gone(left *pending.Left) error {
	if left.Tx.Arrival > s.arrived || !s.sends(left.Tx) {
		return nil
	}
	s.now.count--
	confirmed, err := s.r.confirmed(left)
	if confirmed || err != nil {
		return err
	}
	a := &Gone{Tx: s.r.Chain.FormatHash(left.ID), Reason: left.Reason.String()}
	switch left.Reason {
	case pending.Confirmed: // by a block that the consumer never had
		a.Reason = pending.Dropped.String()
	case pending.Replaced:
		a.By = s.r.Chain.FormatHash(left.By)
	case pending.Conflict:
		a.Block = &query.PointAnswer{Height: uint32(left.Block.Height), Hash: s.r.Chain.FormatHash(left.Block.Hash)}
	}
	return s.event(Event{Gone: a})
}

// confirmed reports whether the chain has a transaction that left.
func (r *Reader) confirmed(left *pending.Left) (bool, error) {
	if left.Reason == pending.Confirmed {
		row, ok, err := schema.FindBlock(r.R, left.Block.Height)
		if err != nil || ok && row.Hash == left.Block.Hash {
			return true, err
		}
	}
	found, err := r.TxPks([]model.Hash{left.ID})
	return err == nil && len(found[0]) > 0, err
}
