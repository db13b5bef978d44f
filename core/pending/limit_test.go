package pending

import (
	"context"
	"fmt"
	"testing"
	"time"

	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// filledPool returns a pool with about n transactions of a world, and the memory that it uses.
func filledPool(t *testing.T, w *world, n int, limit int64, now func() time.Time) *Pool {
	t.Helper()
	for len(w.Pool) < n {
		u := w.Pay(w.Coins(w.Pool))
		u.Raw = make([]byte, 2*u.Size)
		w.Arrive(u)
	}
	p := NewPool(w.DB.Chain().Traits(), limit, now)
	w.Query(func(q *query.Query) error { return p.Enter(q, w.Fetch(w.IDs())) })
	return p
}

// At the memory limit, the raw bytes are dropped first, then the transactions with the lowest fee rates. They are
// fetched again when memory is free.
func TestMemoryLimit(t *testing.T) {
	seed := testseed.New(t)
	w := newWorld(t, pendingtest.Variants()[0], seed)
	all := filledPool(t, w, 40, 1<<30, time.Now)
	if all.memory <= all.raws || all.raws == 0 {
		t.Fatalf("%d bytes, %d of them serialized", all.memory, all.raws)
	}
	t.Run("serialized bytes", func(t *testing.T) {
		p := filledPool(t, w, 40, all.memory-all.raws/2, time.Now)
		o := p.Overlay()
		p.opened, p.filled = true, true
		if o.Count() != all.Count() || p.state() != Live || p.memory > p.limit {
			t.Fatalf("%+v, %d bytes, state %v", o.Info(), p.memory, p.state())
		}
		dropped, kept := 0, 0
		for tx := range o.Arrivals(0) {
			if tx.Raw() == nil {
				dropped++
			} else {
				kept++
			}
		}
		if dropped == 0 || kept == 0 {
			t.Errorf("%d dropped, %d kept", dropped, kept)
		}
	})
	t.Run("low fee rates", func(t *testing.T) {
		half := func() *Pool { return filledPool(t, w, 40, (all.memory-all.raws)/2, time.Now) }
		p := half()
		for i := uint64(1); p.Count() == 0 && i < 20; i++ { // every transaction was a descendant of a dropped one
			w = newWorld(t, pendingtest.Variants()[0], seed+i)
			all = filledPool(t, w, 40, 1<<30, time.Now)
			p = half()
		}
		p.opened, p.filled = true, true
		o := p.Overlay()
		w.consistent(o)
		if p.state() != Partial || p.memory > p.limit || o.Count() == 0 || o.Count() >= all.Count() {
			t.Fatalf("%+v, %d bytes, state %v", o.Info(), p.memory, p.state())
		}
		tables := p.tables.copy()
		missing, _ := compare(&tables, w.IDs(), p.arrived)
		p.limit = p.memory // descendants were dropped too, so memory may be free
		if wanted := p.wanting(missing, p.now()); len(wanted) > 0 {
			t.Errorf("%d transactions beyond the limit are fetched again", len(wanted))
		}
		p.limit = 1 << 30
		missing, _ = compare(&tables, w.IDs(), p.arrived)
		wanted := p.wanting(missing, p.now())
		w.Query(func(q *query.Query) error { return p.enter(q, w.Fetch(wanted)) })
		if p.Count() != len(w.Pool) || p.state() != Live {
			t.Errorf("%d of %d transactions are back, state %v", p.Count(), len(w.Pool), p.state())
		}
	})
}

// Raw bytes that were dropped are fetched from the source.
func TestRawOfADroppedTransaction(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	for len(w.Pool) < 5 {
		w.Arrive(w.Pay(w.Coins(w.Pool)))
	}
	n := &node{w: w, rng: w.Rand}
	f, stop := following(w, n)
	defer stop()
	s := settled(t, w, f)
	for tx := range s.Arrivals(0) {
		want := string(tx.Raw())
		tx.raw.Store(nil)
		raw, err := f.Raw(t.Context(), tx)
		if err != nil || string(raw) != want {
			t.Errorf("%q, %v, expected %q", raw, err, want)
		}
	}
	if _, err := f.Raw(t.Context(), &Tx{ID: model.Hash{1}}); err == nil {
		t.Error("an unknown transaction has raw bytes")
	} else if kind, code := model.KindOf(err); kind != model.NotFound || code != "unknown_tx" {
		t.Error(err)
	}
}

// A transaction that a client has submitted is in the overlay when Enter returns.
func TestEnterOfASubmittedTransaction(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	n := &node{w: w, rng: w.Rand}
	f, stop := following(w, n)
	defer stop()
	settled(t, w, f)
	for range 20 {
		n.mu.Lock()
		u := w.Pay(w.Coins(w.Pool))
		w.Arrive(u)
		n.mu.Unlock()
		if err := f.Enter(t.Context(), u.Hash); err != nil {
			t.Fatal(err)
		}
		if f.Standing().Tx(u.Hash) == nil {
			t.Fatalf("transaction %v is not in the overlay", u.Hash)
		}
	}
}

func TestFates(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	now := time.Unix(1_700_000_000, 0)
	p := filledPool(t, w, 1, 1<<30, func() time.Time { return now })
	first := w.Pool[0]
	second := pendingtest.Unconfirmed(model.Tx{Hash: w.Name(), Inputs: first.Inputs[:1], Outputs: first.Outputs[:1]})
	enter := func(u *model.Unconfirmed) {
		t.Helper()
		w.Query(func(q *query.Query) error { return p.Enter(q, []*model.Unconfirmed{u}) })
	}
	enter(second)
	if gone := p.Gone(first.Hash); gone == nil || gone.Reason != Replaced || gone.By != second.Hash || gone.At != now.Unix() {
		t.Errorf("the first: %+v", gone)
	}
	before := p.Overlay()
	p.Drop([]*Tx{p.Tx(second.Hash)})
	if gone := p.Gone(second.Hash); gone == nil || gone.Reason != Dropped || gone.Reason.String() != "dropped" {
		t.Errorf("the second: %+v", gone)
	}
	if before.Gone(second.Hash) != nil {
		t.Error("an earlier overlay has a later fate")
	}
	enter(first)
	if gone := p.Gone(first.Hash); gone != nil {
		t.Errorf("it returned, but is reported as gone: %+v", gone)
	}
	now = now.Add(fateTime + time.Second)
	p.Drop([]*Tx{p.Tx(first.Hash)})
	if p.Gone(second.Hash) != nil || p.Gone(first.Hash) == nil {
		t.Error("after a day, the fate of the second is still stored, or that of the first is missing")
	}
}

// Transactions that wait for an unknown parent are bounded in number and time.
func TestAsideIsBounded(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	now := time.Unix(1_700_000_000, 0)
	p := filledPool(t, w, 1, 1<<30, func() time.Time { return now })
	var orphans []*model.Unconfirmed
	for range maxAside + 50 {
		orphans = append(orphans, pendingtest.Unconfirmed(model.Tx{Hash: w.Name(), Inputs: []model.Input{{Tx: w.Name()}}, Outputs: w.Outputs(1, 5)}))
	}
	w.Query(func(q *query.Query) error { return p.Enter(q, orphans) })
	if len(p.aside.txs) != maxAside || p.Count() != 1 {
		t.Errorf("%d are kept aside, %d in the overlay", len(p.aside.txs), p.Count())
	}
	now = now.Add(asideTime + time.Second)
	if p.aside.expire(now); len(p.aside.txs)+len(p.aside.parents) != 0 {
		t.Errorf("%d are kept aside after a minute", len(p.aside.txs))
	}
}

// If the source does not respond, the overlay is stale after 30 seconds and empty after ten minutes.
func TestOverlayOfASourceThatIsAway(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	now := time.Unix(1_700_000_000, 0)
	f := NewFollower(Options{View: w.DB.View, Moved: w.DB.Moved, Traits: w.DB.Chain().Traits(), Memory: 1 << 30, Now: func() time.Time { return now }})
	w.Arrive(w.Pay(w.Coins(nil)))
	if err := f.write(context.Background(), false, func(q *query.Query) error { return f.pool.enter(q, w.Fetch(w.IDs())) }); err != nil {
		t.Fatal(err)
	}
	f.pool.opened, f.pool.filled, f.answered = true, true, now
	for _, c := range []struct {
		after time.Duration
		state State
		count int
	}{{oldAfter, Live, 1}, {oldAfter + 1, Old, 1}, {emptyAfter, Old, 1}, {emptyAfter + 1, Filling, 0}} {
		now = f.answered.Add(c.after)
		f.age()
		if s := f.Standing(); s.State() != c.state || s.Count() != c.count {
			t.Errorf("after %v: %v with %d transactions, expected %v with %d", c.after, s.State(), s.Count(), c.state, c.count)
		}
	}
}

// A gap in the numbers of events requires a list. Numbers that the list includes, and those of blocks, do not.
func TestGapsInEvents(t *testing.T) {
	r := &reader{listed: 10}
	for i, c := range []struct {
		kind     model.MempoolEventKind
		sequence uint64
		again    bool
	}{
		{model.TxAdded, 9, false}, {model.TxAdded, 10, false}, {model.TxAdded, 11, false}, {model.TxRemoved, 12, false},
		{model.TxAdded, 14, true}, {model.TxAdded, 15, false}, {model.BlockConnected, 0, false}, {model.TxAdded, 2515, false},
		{model.TxAdded, 2516, false}, {model.BlockDisconnected, 0, true}, {model.TxAdded, 2519, false},
	} {
		if got := r.note(model.MempoolEvent{Kind: c.kind, Sequence: c.sequence}); got != c.again {
			t.Errorf("%s: list needed %t, expected %t", fmt.Sprint(i, c), got, c.again)
		}
	}
}

// A transaction enters although its parent is sent again after the database has it.
func TestParentThatIsConfirmed(t *testing.T) {
	for _, v := range pendingtest.Variants() {
		w := newWorld(t, v, testseed.New(t))
		parent := w.Pay(w.Coins(nil))
		w.Mine([]*model.Unconfirmed{parent})
		w.Sync()
		coins := w.Coins(nil)
		child := w.Pay(coins[len(coins)-len(parent.Outputs):])
		grandchild := w.Pay([]pendingtest.Coin{{Tx: child.Hash, Index: uint32(child.OutputIndex(0)), Output: &child.Outputs[0]}})
		p := NewPool(w.DB.Chain().Traits(), 1<<30, time.Now)
		w.Query(func(q *query.Query) error { return p.Enter(q, []*model.Unconfirmed{grandchild, child, parent}) })
		if p.Count() != 2 || p.Tx(parent.Hash) != nil || len(p.aside.txs) > 0 {
			t.Errorf("%s: %d transactions entered, %d are kept aside", v.Name, p.Count(), len(p.aside.txs))
		}
	}
}

// A removal that no event follows is decided by the next list: the transaction was replaced if the list has another
// that spends its inputs, however late the event of that one is.
func TestALateReplacementIsNoDrop(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	n := &pendingtest.Node{World: w.World}
	f := NewFollower(Options{View: w.DB.View, Moved: w.DB.Moved, Traits: w.DB.Chain().Traits(), Memory: 1 << 30})
	if err := f.write(ctx, false, func(*query.Query) error { return nil }); err != nil {
		t.Fatal(err)
	}
	r := &reader{Follower: f, src: &openSource{n, n, f.pool.indexes}, events: make(chan model.MempoolEvent, 9)}
	list := func() {
		t.Helper()
		if _, err := r.list(ctx); err != nil {
			t.Fatal(err)
		}
	}
	removed := func(id model.Hash, want bool) {
		t.Helper()
		if again, err := r.apply(ctx, model.MempoolEvent{Kind: model.TxRemoved, ID: id}); err != nil || again != want {
			t.Fatalf("list needed %t, expected %t: %v", again, want, err)
		}
	}
	fate := func(id model.Hash, want *Fate) {
		t.Helper()
		gone := f.Standing().Gone(id)
		if want == nil && gone != nil || want != nil && (gone == nil || gone.Reason != want.Reason || gone.By != want.By) {
			t.Fatalf("%v: got %+v, expected %+v", id, gone, want)
		}
	}
	first := w.Pay(w.Coins(nil))
	second := pendingtest.Unconfirmed(model.Tx{Hash: w.Name(), Inputs: first.Inputs, Outputs: first.Outputs[:1]})
	third := pendingtest.Unconfirmed(model.Tx{Hash: w.Name(), Inputs: first.Inputs, Outputs: first.Outputs[:1]})
	w.Pool = []*model.Unconfirmed{first}
	list()

	w.Pool = []*model.Unconfirmed{second} // without the event of the second
	removed(first.Hash, true)
	fate(first.Hash, nil)
	list()
	fate(first.Hash, &Fate{Reason: Replaced, By: second.Hash})

	w.Pool = []*model.Unconfirmed{third} // with its event, after which no list is needed
	r.events <- model.MempoolEvent{Kind: model.TxAdded, ID: third.Hash, Tx: third}
	removed(second.Hash, false)
	fate(second.Hash, &Fate{Reason: Replaced, By: third.Hash})
	for _, id := range []model.Hash{first.Hash, second.Hash, third.Hash} {
		all, more := f.Standing().Replacements(id, 2)
		if len(all) != 2 || more || all[0].ID != first.Hash || all[1].ID != second.Hash || all[0].Fee != 0 && all[0].Rate == 0 {
			t.Errorf("the replacements of %v are %+v, %t", id, all, more)
		}
		if one, more := f.Standing().Replacements(id, 1); len(one) != 1 || !more {
			t.Errorf("one replacement of %v: %+v, more %t", id, one, more)
		}
	}

	w.Pool = nil
	removed(third.Hash, true)
	for range 2 { // the event needs a list, and that another one
		fate(third.Hash, nil)
		list()
	}
	fate(third.Hash, &Fate{Reason: Dropped})
}

// After a reorganization a list that lacks the transactions of the orphaned block does not become visible: the node may
// have had another block while it was listed. The next list has them.
func TestTwoListsEndAHold(t *testing.T) {
	ctx := t.Context()
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	n := &pendingtest.Node{World: w.World}
	f := NewFollower(Options{
		View: w.DB.View, Moved: w.DB.Moved, Traits: w.DB.Chain().Traits(), Memory: 1 << 30, Patience: testrun.Patience,
	})
	advance := func() {
		t.Helper()
		w.Sync()
		if err := f.write(ctx, false, func(*query.Query) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	advance()
	r := &reader{Follower: f, src: &openSource{n, n, f.pool.indexes}}
	list := func() {
		t.Helper()
		if _, err := r.list(ctx); err != nil {
			t.Fatal(err)
		}
	}
	list()
	u := w.Pay(w.Coins(nil))
	w.Mine([]*model.Unconfirmed{u})
	advance()
	mined := w.Tip()
	w.Orphan(1)
	pool := w.Pool
	advance()
	w.Pool = nil
	list()
	if s := f.Standing(); s.Tip != mined {
		t.Errorf("the first list is visible: tip %v with %d transactions, expected %v", s.Tip, s.Count(), mined)
	}
	w.Pool = pool
	list()
	if s := f.Standing(); s.Tip != w.Tip() || s.Tx(u.Hash) == nil {
		t.Errorf("the second list is not visible: tip %v with %d transactions", s.Tip, s.Count())
	}
}

// A transaction that spends no output, as one from a shielded pool, enters, and not after it was confirmed.
func TestTransactionsWithoutInputs(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	u := pendingtest.Unconfirmed(model.Tx{Hash: w.Name(), Outputs: w.Outputs(1, 1000)})
	p := NewPool(w.DB.Chain().Traits(), 1<<30, time.Now)
	enter := func() int {
		w.Query(func(q *query.Query) error { return p.Enter(q, []*model.Unconfirmed{u}) })
		return p.Count()
	}
	if enter() != 1 {
		t.Error("it does not enter")
	}
	w.Mine([]*model.Unconfirmed{u})
	w.Sync()
	p = NewPool(w.DB.Chain().Traits(), 1<<30, time.Now)
	if enter() != 0 {
		t.Error("it enters after its block")
	}
}
