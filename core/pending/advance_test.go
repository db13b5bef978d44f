package pending

import (
	"fmt"
	"testing"
	"time"

	"birthmark/core/coretest"
	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// Any number of blocks at once, after a reorganization of any depth, keeps what the node kept: before the next list of
// the node, the overlay has every transaction that it had before, that the node still has, and whose inputs are in the
// chain or in the overlay.
func TestBlocksKeepTheTransactionsOfTheNode(t *testing.T) {
	depths, counts := []int{0, 1, 20, 130}, []int{1, 13, 101}
	if testing.Short() {
		depths, counts = []int{0, 3}, []int{13, 101}
	}
	for _, v := range pendingtest.Variants() {
		t.Run(v.Name, func(t *testing.T) {
			w := newWorld(t, v, testseed.New(t))
			for range 150 {
				w.Mine(nil)
			}
			p := NewPool(w.DB.Chain().Traits(), 1<<30, time.Now)
			kept := 0
			for _, depth := range depths {
				for _, count := range counts {
					for range 10 {
						w.Step()
					}
					for len(w.Pool) < 5 {
						w.Arrive(w.Pay(w.Coins(w.Pool)))
					}
					w.Sync()
					w.Query(func(q *query.Query) error {
						if err := p.Advance(q); err != nil {
							return err
						}
						return w.list(q, p, false)
					})
					before, tip := p.Overlay(), p.tip
					p.orphaned = false
					w.Orphan(depth)
					for range max(count, depth+1) {
						w.Mine(w.Valid(w.Pool[:min(len(w.Pool), w.Rand.IntN(100)/99)]))
					}
					w.Sync()
					w.Query(p.Advance)
					what := fmt.Sprintf("%d blocks after a reorganization of depth %d", count, depth)
					now := p.Overlay()
					w.consistent(now)
					if p.tip != w.Tip() || p.orphaned != (depth > 0) {
						t.Fatalf("%s: at %v with orphaned %t, the node moved from %v to %v", what, p.tip, p.orphaned, tip, w.Tip())
					}
					valid := w.Valid(keptOf(before, w.Pool))
					for _, u := range valid {
						if now.Tx(u.Hash) == nil {
							t.Errorf("%s: transaction %v left", what, u.Hash)
						}
					}
					kept += len(valid)
					w.Query(func(q *query.Query) error { return w.list(q, p, false) })
					same(t, what, dump(p.Overlay()), dump(w.fresh()))
				}
			}
			if kept == 0 {
				t.Error("no transaction stayed unconfirmed")
			}
			// An overlay without transactions also waits for those of orphaned blocks.
			for _, depth := range depths {
				empty := NewPool(w.DB.Chain().Traits(), 1<<30, time.Now)
				w.Query(empty.Advance)
				w.Orphan(depth)
				for range depth + 1 {
					w.Mine(nil)
				}
				w.Sync()
				w.Query(empty.Advance)
				if empty.tip != w.Tip() || empty.orphaned != (depth > 0) {
					t.Errorf("an empty overlay after a reorganization of depth %d: at %v with orphaned %t, the node is at %v",
						depth, empty.tip, empty.orphaned, w.Tip())
				}
			}
			coretest.Consistent(t, w.DB)
		})
	}
}

// keptOf returns the transactions that an overlay has.
func keptOf(o *Overlay, txs []*model.Unconfirmed) (kept []*model.Unconfirmed) {
	for _, u := range txs {
		if o.Tx(u.Hash) != nil {
			kept = append(kept, u)
		}
	}
	return kept
}
