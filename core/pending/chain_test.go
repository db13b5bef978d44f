package pending

import (
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// longChain returns a database and transactions of which each spends the parents ones before it. They have not entered.
func longChain(t testing.TB, txs, parents int) *full {
	t.Helper()
	v := modeltest.Variant{Name: "long", Coinbase: true, ByHand: true}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	f := &full{db: db, pool: NewPool(v.Chain("one").Traits(), 1<<40, time.Now)}
	first := f.block(nil)
	coins := &first.Txs[0]
	for range parents * parents {
		coins.Outputs = append(coins.Outputs, f.output())
	}
	if err := db.Append(t.Context(), []*model.Block{first}); err != nil {
		t.Fatal(err)
	}
	spent := uint32(0) // outputs of coins
	for i := range txs {
		u := &model.Unconfirmed{Tx: model.Tx{Hash: f.name()}, Size: 400, VSize: 200, Weight: 800}
		for k := range parents { // output k of the transaction k+1 before it
			if from := i - 1 - k; from >= 0 {
				u.Inputs = append(u.Inputs, model.Input{Tx: f.txs[from].Hash, Index: uint32(k)})
			} else {
				u.Inputs = append(u.Inputs, model.Input{Tx: coins.Hash, Index: spent})
				spent++
			}
			u.Outputs = append(u.Outputs, f.output())
		}
		f.txs = append(f.txs, u)
	}
	return f
}

// confirm appends a block with the first transactions that remain.
func (f *full) confirm(t testing.TB, n int) {
	t.Helper()
	var txs []model.Tx
	for _, u := range f.txs[:n] {
		txs = append(txs, u.Tx)
	}
	f.txs = f.txs[n:]
	if err := f.db.Append(t.Context(), []*model.Block{f.block(txs)}); err != nil {
		t.Fatal(err)
	}
	if err := f.db.From(t.Context(), func(q *query.Query) error { return f.pool.Advance(q) }); err != nil {
		t.Fatal(err)
	}
	f.pool.Overlay() // published
}

// Nodes of Bitcoin Cash, BSV, Cardano and Ergo accept long chains of unconfirmed transactions. The work for each
// transaction that enters or is confirmed does not grow with the chain: the walks of all ancestors and descendants of
// these would take half an hour.
func TestLongChainsOfUnconfirmedTransactions(t *testing.T) {
	txs := testrun.Amount(20_000, 5_000)
	for parents := 1; parents <= 3; parents++ {
		f := longChain(t, txs, parents)
		enter := func(from, to, least, most int) {
			all := f.txs
			f.txs = all[from:to]
			if err := f.enterAll(f.pool); err != nil {
				t.Fatal(err)
			}
			if f.txs = all; f.pool.Count() < least || f.pool.Count() > most {
				t.Fatalf("%d parents: %d transactions, expected %d to %d", parents, f.pool.Count(), least, most)
			}
		}
		enter(1, txs, 0, 0) // the first one has not arrived
		enter(0, 1, maxAside, txs)
		enter(0, txs, txs, txs)
		for _, mined := range []int{0, 1, txs / 2, txs/2 - 2, 1} {
			f.confirm(t, mined)
			if f.pool.Count() != len(f.txs) {
				t.Fatalf("%d parents: %d transactions, expected %d", parents, f.pool.Count(), len(f.txs))
			}
			for i, u := range f.txs {
				a, all := f.pool.Ancestors(f.pool.Tx(u.Hash)), i+1
				least := all
				if parents > 1 {
					least = min(all, mostAncestors)
				}
				if a.Count < least || a.Count > all || a.VSize != uint64(a.Count)*200 {
					t.Fatalf("%d parents: %+v of transaction %d, expected at least %d", parents, a, i, least)
				}
			}
		}
		if len(f.txs) > 0 || f.pool.ancestors.Len() > 0 || f.pool.memory != 0 {
			t.Errorf("%d parents: %d transactions, %d ancestors and %d bytes are left", parents, len(f.txs), f.pool.ancestors.Len(),
				f.pool.memory)
		}
	}
}
