package pending

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// At no poll during any history of a node, of any kind of chain, is a transaction neither in the chain nor in the
// overlay of a view that the node has had for the whole time: with many blocks at once, reorganizations, outages, gaps
// in the events, a database that is behind the node, and blocks that the node has only while it is listed.
func TestTheViewNeverLacksWhatTheNodeHas(t *testing.T) {
	for _, v := range pendingtest.Variants() {
		for _, mode := range []string{"lists", "events", "numbered events"} {
			t.Run(v.Name+"/"+mode, func(t *testing.T) {
				w := newWorld(t, v, testseed.New(t))
				n := &node{
					w: w, rng: rand.New(rand.NewPCG(w.Rand.Uint64(), 1)), late: time.Millisecond,
					listens: mode != "lists", numbered: mode == "numbered events",
				}
				f := NewFollower(Options{
					View: w.DB.View, Moved: w.DB.Moved, Traits: w.DB.Chain().Traits(), Memory: 1 << 30, Log: slog.New(slog.DiscardHandler),
					Interval: 5 * time.Millisecond, Patience: testrun.Patience,
					Open: func(context.Context, []string) (model.Source, error) { return n, nil },
				})
				k := &keeper{node: n, f: f}
				ctx, cancel := context.WithCancel(t.Context())
				var running sync.WaitGroup
				running.Go(func() { f.Run(ctx) })
				running.Go(func() { k.poll(ctx, t) })
				running.Go(func() { // lists are read without a pause
					for ; ctx.Err() == nil; time.Sleep(time.Millisecond) {
						signal(f.wake)
					}
				})
				k.run(t)
				cancel()
				running.Wait()
				if k.polls.Load() == 0 || len(k.kept) == 0 {
					t.Errorf("%d polls of %d transactions", k.polls.Load(), len(k.kept))
				}
			})
		}
	}
}

// keeper records the transactions that a node had for the whole time.
type keeper struct {
	*node // mu also guards kept
	f     *Follower
	kept  map[model.Hash]bool
	polls atomic.Int64
}

// run changes the node, and waits from time to time until the follower has its transactions, which are kept from then on.
func (k *keeper) run(t *testing.T) {
	w := k.w
	rest := func() {
		for until := k.lists.Load() + 6; k.lists.Load() < until; time.Sleep(time.Millisecond) {
		}
	}
	settle := func() {
		k.leave(false)
		k.mu.Lock()
		w.Sync()
		k.visits = false // settled reads the blocks
		k.mu.Unlock()
		settled(t, w, k.f)
		k.mu.Lock()
		k.visits, k.kept = true, k.has()
		k.mu.Unlock()
		rest()
	}
	settle()
	for round := range testrun.Amount(60, 20) {
		if round%20 == 10 {
			k.leave(true)
		}
		switch round % 10 {
		case 3:
			k.change(func() {
				for range [...]int{13, 101}[round%20/10] {
					w.Mine(nil)
				}
			})
		case 7: // nothing is unconfirmed before the reorganization
			k.change(func() { w.Mine(w.Pool) })
			settle()
			k.change(func() { w.Fork(1 + w.Rand.IntN(3)) })
			k.mu.Lock()
			w.Sync()
			k.mu.Unlock()
			rest()
		default:
			k.change(k.move)
		}
		k.mu.Lock()
		if w.Rand.IntN(3) > 0 {
			w.Sync()
		}
		k.mu.Unlock()
		if round%10 == 9 {
			settle()
		}
	}
}

// change changes the node. Afterwards kept lacks the transactions that left the node.
func (k *keeper) change(do func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	do()
	has, kept := k.has(), map[model.Hash]bool{}
	for id := range k.kept {
		if has[id] {
			kept[id] = true
		}
	}
	k.kept = kept
}

// has returns the transactions of the node that spend something, confirmed or not. mu is held.
func (k *keeper) has() map[model.Hash]bool {
	has := map[model.Hash]bool{}
	for _, b := range k.w.Blocks {
		for i := range b.Txs {
			if len(b.Txs[i].Inputs) > 0 {
				has[b.Txs[i].Hash] = true
			}
		}
	}
	for _, u := range k.w.Pool {
		has[u.Hash] = true
	}
	return has
}

func (k *keeper) now() map[model.Hash]bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept
}

func (k *keeper) poll(ctx context.Context, t *testing.T) {
	for ctx.Err() == nil {
		var ids, missing []model.Hash
		for id := range k.now() {
			ids = append(ids, id)
		}
		err := k.f.View(ctx, func(v *query.View, o *Overlay) error {
			return v.From(ctx, func(q *query.Query) error {
				pks, err := q.TxPks(ids)
				for i, id := range ids {
					if err == nil && len(pks[i]) == 0 && o.Tx(id) == nil {
						missing = append(missing, id)
					}
				}
				return err
			})
		})
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		k.polls.Add(1)
		kept := k.now()
		for _, id := range missing {
			if kept[id] {
				t.Errorf("transaction %v is missing", id)
				return
			}
		}
	}
}
