package pending

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// racing is a node that replaces a transaction again while its replacement is being fetched.
type racing struct {
	*node
	lose, last *model.Unconfirmed // lose is replaced by last when it is requested
}

func (n *racing) MempoolTxs(ctx context.Context, ids []model.Hash) ([]*model.Unconfirmed, error) {
	n.mu.Lock()
	if n.last != nil && len(ids) == 1 && ids[0] == n.lose.Hash {
		n.replace(n.last, n.lose)
		n.last = nil
	}
	n.mu.Unlock()
	return n.node.MempoolTxs(ctx, ids)
}

// replace replaces a transaction of the node, and sends the events. mu is held.
func (n *racing) replace(by, old *model.Unconfirmed) {
	n.w.Arrive(by)
	n.emit(model.MempoolEvent{Kind: model.TxRemoved, ID: old.Hash})
	n.emit(model.MempoolEvent{Kind: model.TxAdded, ID: by.Hash})
}

func (n *racing) emit(e model.MempoolEvent) {
	for _, c := range n.events {
		c <- e
	}
}

// A transaction that is replaced twice, whose first replacement is gone before it is fetched, was replaced by the
// second one.
func TestReplacedTwice(t *testing.T) {
	for _, mode := range []string{"lists", "events"} {
		t.Run(mode, func(t *testing.T) {
			w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
			coin := w.Coins(nil)[:1]
			first, second, third := w.Pay(coin), w.Pay(coin), w.Pay(coin)
			w.Arrive(first)
			n := &racing{node: &node{w: w, rng: rand.New(rand.NewPCG(1, 1)), listens: mode == "events"}}
			f := NewFollower(Options{
				View: w.DB.View, Moved: w.DB.Moved, Traits: w.DB.Chain().Traits(), Memory: 1 << 30, Log: slog.New(slog.DiscardHandler),
				Interval: 5 * time.Millisecond,
				Open:     func(context.Context, []string) (model.Source, error) { return n, nil },
			})
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				f.Run(ctx)
			}()
			defer func() { cancel(); <-ended }()
			settled(t, w, f)
			_, feed := f.Feed()
			n.mu.Lock()
			n.lose, n.last = second, third
			n.replace(second, first)
			n.mu.Unlock()
			for {
				<-feed.Moved()
				for _, left := range feed.Next().Change.Out {
					if left.ID != first.Hash {
						continue
					}
					want := Fate{ID: first.Hash, Reason: Replaced, By: third.Hash, At: left.At, Fee: left.Tx.Fee, Rate: left.Tx.Rate(), FeeKnown: left.Tx.FeeKnown}
					if left.Fate != want {
						t.Errorf("left as %+v, expected %+v", left.Fate, want)
					}
					return
				}
			}
		})
	}
}

// A transaction that comes and goes within one reading of the events, and whose bytes the node sent, replaces what it
// spends the inputs of.
func TestReplacedByATransactionThatIsGone(t *testing.T) {
	w := newWorld(t, pendingtest.Variants()[0], testseed.New(t))
	coins := w.Coins(nil)[:2]
	first, third := w.Pay(coins[:1]), w.Pay(coins[1:])
	second := w.Pay(coins)
	second.Inputs = []model.Input{first.Inputs[0], third.Inputs[0]}
	w.Arrive(first)
	n := &node{w: w, rng: rand.New(rand.NewPCG(1, 1))}
	f := NewFollower(Options{View: w.DB.View, Moved: w.DB.Moved, Traits: w.DB.Chain().Traits(), Memory: 1 << 30})
	r := &reader{Follower: f, src: &openSource{n, n, w.DB.Indexes()}, events: make(chan model.MempoolEvent, 3)}
	if err := f.write(t.Context(), false, func(q *query.Query) error { return f.pool.enter(q, w.Pool) }); err != nil {
		t.Fatal(err)
	}
	_, feed := f.Feed()
	w.Arrive(second)
	w.Arrive(third)
	for _, e := range []model.MempoolEvent{
		{Kind: model.TxAdded, ID: second.Hash, Tx: second}, {Kind: model.TxRemoved, ID: second.Hash},
		{Kind: model.TxAdded, ID: third.Hash},
	} {
		r.events <- e
	}
	if again, err := r.apply(t.Context(), model.MempoolEvent{Kind: model.TxRemoved, ID: first.Hash}); again || err != nil {
		t.Fatalf("another list is requested: %t, %v", again, err)
	}
	left := map[model.Hash]Fate{}
	for _, l := range feed.Next().Change.Out {
		left[l.ID] = l.Fate
	}
	if got := left[first.Hash]; got.Reason != Replaced || got.By != second.Hash {
		t.Errorf("the first left as %+v", got)
	}
	if got := left[second.Hash]; got.Reason != Replaced || got.By != third.Hash {
		t.Errorf("the second left as %+v", got)
	}
}
