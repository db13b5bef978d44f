package pending

import (
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// before returns the parents of transactions that each spend a number of those before them.
func before(parents int) func(i int) []int {
	return func(i int) (spent []int) {
		for k := range parents {
			spent = append(spent, i-1-k)
		}
		return spent
	}
}

// longChain returns a database and transactions with the given parents: numbers of other transactions; below 0 are
// coins. Input k spends output k. They have not entered.
func longChain(t testing.TB, txs int, parents func(i int) []int) *full {
	t.Helper()
	v := modeltest.Variant{Name: "long", Coinbase: true, ByHand: true}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	f := &full{db: db, pool: NewPool(v.Chain("one").Traits(), 1<<40, time.Now)}
	first := f.block(nil)
	coins := &first.Txs[0]
	for range 10 {
		coins.Outputs = append(coins.Outputs, f.output())
	}
	if err := db.Append(t.Context(), []*model.Block{first}); err != nil {
		t.Fatal(err)
	}
	spent := uint32(0) // outputs of coins
	for i := range txs {
		u := &model.Unconfirmed{Tx: model.Tx{Hash: f.name()}, Size: 400, VSize: 200, Weight: 800}
		for k, from := range parents(i) {
			if from >= 0 {
				u.Inputs = append(u.Inputs, model.Input{Tx: f.txs[from].Hash, Index: uint32(k)})
			} else {
				u.Inputs = append(u.Inputs, model.Input{Tx: coins.Hash, Index: spent})
				spent++
			}
		}
		for range 3 {
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
		f := longChain(t, txs, before(parents))
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

// The totals of projected blocks are those of their transactions, and parents are not in later blocks, also if the
// ancestors of a transaction are too many to be counted.
func TestTemplateOfUncountedAncestors(t *testing.T) {
	defer func(most int) { mostVisits = most }(mostVisits)
	mostVisits = 1 << 40
	const chains, size, mostFee = 2 * (mostAncestors + 100), 60_000, 5 // a block has 300 of the transactions
	for name, parents := range map[string]func(i int) []int{
		"one parent": before(1), "two parents": before(2), "three parents": before(3),
		"two chains that meet": func(i int) []int {
			switch {
			case i < chains:
				return []int{i - 2}
			case i == chains:
				return []int{i - 1, i - 2}
			}
			return []int{i - 1}
		},
		"two chains that meet again and again": func(i int) []int {
			if i < chains || i%3 == 0 {
				return []int{i - 2}
			}
			return []int{i - 2, i - 1}
		},
	} {
		f := longChain(t, chains+300, parents)
		rng := testseed.Rand(t)
		for i, u := range f.txs {
			left := uint64(10_000)
			if from := parents(i)[0]; from >= 0 {
				left = f.txs[from].Outputs[0].Value
			}
			u.Outputs[0].Value = left - uint64(rng.IntN(mostFee+1))
			for k := 1; k < len(u.Outputs); k++ {
				u.Outputs[k].Value = 0
			}
		}
		if err := f.enterAll(f.pool); err != nil {
			t.Fatal(err)
		}
		o := f.pool.Overlay()
		if o.Count() != len(f.txs) {
			t.Fatalf("%s: %d of %d transactions entered", name, o.Count(), len(f.txs))
		}
		template, placed := o.template(size), 0
		for i, b := range template.Blocks {
			var sum ProjectedBlock
			for _, tx := range template.Txs(i) {
				sum.Count, sum.VSize, sum.Fees = sum.Count+1, sum.VSize+uint64(tx.VSize), sum.Fees+tx.Fee
				for j := range tx.inputs {
					parent := o.Tx(tx.inputs[j].Outpoint.Tx)
					if parent == nil {
						continue
					}
					if at, _, ok := template.Place(parent); !ok || at > i {
						t.Fatalf("%s: block %d has a transaction without its parent", name, i)
					}
				}
			}
			placed += b.Count
			if b.Count != sum.Count || b.VSize != sum.VSize || b.Fees != sum.Fees || b.VSize > size {
				t.Errorf("%s: block %d is %+v, its transactions %+v", name, i, b, sum)
			}
			if most := float64(mostFee+20_000) / 200; b.Highest > most {
				t.Errorf("%s: block %d is %+v", name, i, b)
			}
		}
		if placed != len(f.txs) {
			t.Errorf("%s: %d of %d transactions are in the blocks", name, placed, len(f.txs))
		}
	}
}
