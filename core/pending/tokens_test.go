package pending

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/core/coretest"
	"birthmark/core/pending/pendingtest"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
)

// derivedText returns the assets of an unconfirmed transaction, its mints and its burns.
func derivedText(t *Tx) string {
	var text strings.Builder
	for i := range t.NumOutputs() {
		fmt.Fprintf(&text, "output %d:", i)
		for _, a := range t.Output(i).Assets() {
			fmt.Fprintf(&text, " %q %v", a.ID, a.Amount)
		}
		text.WriteString("\n")
	}
	return text.String() + "mints " + mintsText(t.Mints)
}

// confirmedText returns the same of a confirmed transaction, with the earlier ids of assets that the block creates.
func (w *world) confirmedText(block *model.Block, id model.Hash) string {
	w.t.Helper()
	ctx, c := context.Background(), w.DB.Chain()
	before := map[string][]byte{}
	for i := range block.Txs {
		pk, err := model.NarrowPointers.Tx(block.Height, i)
		if err != nil {
			w.t.Fatal(err)
		}
		before[fmt.Sprintf("asset of %v", pk)] = block.Txs[i].Hash[:]
	}
	parse := func(text string) []byte {
		asset, err := c.ParseAsset(text)
		if err != nil {
			w.t.Fatal(err)
		}
		if hash, created := before[string(asset)]; created {
			return hash
		}
		return asset
	}
	var a *query.TxAnswer
	err := w.DB.View(ctx, func(v *query.View) (err error) {
		a, err = v.Tx(ctx, c.FormatHash(id))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	var text strings.Builder
	for i, o := range a.Outputs {
		fmt.Fprintf(&text, "output %d:", i)
		for _, e := range o.Assets {
			fmt.Fprintf(&text, " %q %v", parse(e.Asset), e.Amount)
		}
		text.WriteString("\n")
	}
	var mints []string
	for _, m := range a.Mints {
		mints = append(mints, fmt.Sprintf("%q %v", parse(m.Asset), m.Amount))
	}
	slices.Sort(mints)
	return text.String() + "mints " + strings.Join(mints, " ")
}

// derivedEqual compares the assets of an overlay with those of a block that has some of its transactions, after their
// ancestors. It reports false if they may differ: the message of one transaction concerns an asset that the message of
// another one concerns, and neither is an ancestor of the other.
func (w *world) derivedEqual(o *Overlay, block *model.Block) bool {
	w.t.Helper()
	if meets(block) {
		return false
	}
	for i := range block.Txs {
		t := o.Tx(block.Txs[i].Hash)
		if t == nil {
			continue // the coinbase
		}
		if got, want := derivedText(t), w.confirmedText(block, t.ID); got != want {
			w.t.Fatalf("transaction %v at %d\nunconfirmed\n%s\nconfirmed\n%s", t.ID, i, got, want)
		}
	}
	return true
}

// meets reports whether the messages of two transactions of a block concern the same asset, and neither is an ancestor
// of the other.
func meets(block *model.Block) bool {
	ancestors := map[model.Hash]map[model.Hash]bool{}
	concern := map[string][]model.Hash{}
	for i := range block.Txs {
		t := &block.Txs[i]
		own := map[model.Hash]bool{}
		for _, in := range t.Inputs {
			if above, ok := ancestors[in.Tx]; ok {
				own[in.Tx] = true
				maps.Copy(own, above)
			}
		}
		ancestors[t.Hash] = own
		m, ok := t.Message.(*modeltest.TokenWish)
		if !ok {
			continue
		}
		for _, name := range []string{m.Create, m.Mint} {
			for _, other := range concern[name] {
				if name != "" && !own[other] && other != t.Hash {
					return true
				}
			}
			concern[name] = append(concern[name], t.Hash)
		}
	}
	return false
}

// closure returns a transaction of an overlay after its unconfirmed ancestors.
func (w *world) closure(o *Overlay, t *Tx) (txs []*model.Unconfirmed) {
	wanted := map[model.Hash]bool{t.ID: true}
	all := w.fetchSorted(o)
	for _, u := range slices.Backward(all) {
		if !wanted[u.Hash] {
			continue
		}
		for _, in := range u.Inputs {
			wanted[in.Tx] = true
		}
	}
	for _, u := range all {
		if wanted[u.Hash] {
			txs = append(txs, u)
		}
	}
	return txs
}

// After each round of a random history, an unconfirmed transaction has the assets that the database has after a block with
// its ancestors and it.
func TestDerivedAssetsAreThoseOfTheNextBlock(t *testing.T) {
	variants := pendingtest.Variants()
	v := variants[slices.IndexFunc(variants, func(v modeltest.Variant) bool { return v.Tokens })]
	seed := testseed.New(t)
	var compared, held, created, minted, burned, changed, alone int
	for n := range testrun.Amount(30, 6) {
		w := newWorld(t, v, seed+uint64(n))
		p := NewPool(w.DB.Chain().Traits(), 1<<30, time.Now)
		for round := range 50 {
			for range 1 + w.Rand.IntN(3) {
				w.Step()
			}
			w.Sync()
			w.Query(func(q *query.Query) error {
				if err := p.Advance(q); err != nil {
					return err
				}
				return w.list(q, p, false)
			})
			o := p.Overlay()
			for _, left := range p.takeChange().Out {
				if left.Reason == Changed {
					changed++
				}
			}
			w.consistent(o)
			same(t, fmt.Sprintf("round %d: the overlay and a new one", round), dump(o), dump(w.fresh()))
			tip := w.DB.Tip()
			for tx := range o.Arrivals(0) {
				for i := range tx.NumOutputs() {
					held += len(tx.Output(i).Assets())
				}
				if tx.tokens != nil {
					created += len(tx.tokens.births)
				}
				for _, m := range tx.Mints {
					if m.Amount.Sign() > 0 {
						minted++
					} else {
						burned++
					}
				}
				if tx.tokens == nil || w.Rand.IntN(2) > 0 {
					continue
				}
				block := w.Block(w.closure(o, tx))
				coretest.AppendAll(t, w.DB, []*model.Block{block}, 1)
				if w.derivedEqual(o, block) {
					compared++
				}
				coretest.Rollback(t, w.DB, tip)
			}
			if block := w.Block(w.Valid(w.fetchSorted(o))); o.Count() > 0 {
				coretest.AppendAll(t, w.DB, []*model.Block{block}, 1)
				if w.derivedEqual(o, block) {
					alone++
				}
				coretest.Rollback(t, w.DB, tip)
			}
		}
	}
	t.Logf("%d transactions with ancestors and %d whole blocks; %d entries, %d created, %d mints, %d burns, %d changed by a block",
		compared, alone, held, created, minted, burned, changed)
	for name, n := range map[string]int{"compared": compared, "held": held, "created": created, "minted": minted, "burned": burned,
		"changed": changed, "alone": alone} {
		if n == 0 {
			t.Errorf("no %s", name)
		}
	}
}

// A transaction whose assets need too much memory is left out, and the state is partial.
func TestAnUnconfirmedTransactionWithTooManyAssetsIsLeftOut(t *testing.T) {
	variants := pendingtest.Variants()
	v := variants[slices.IndexFunc(variants, func(v modeltest.Variant) bool { return v.Tokens })]
	w := newWorld(t, v, testseed.New(t))
	var coins []pendingtest.Coin
	for _, c := range w.Coins(nil) {
		if slices.ContainsFunc(c.Output.Keys, func(k model.Key) bool { return k.Index == 0 }) {
			coins = append(coins, c)
		}
	}
	const outputs = 60
	pay := func(inputs []model.Input, n int, m *modeltest.TokenWish) *model.Unconfirmed {
		u := pendingtest.Unconfirmed(model.Tx{Hash: w.Name(), Inputs: inputs, Outputs: make([]model.Output, n), Message: m})
		for i := range n {
			m.To = append(m.To, i)
		}
		return u
	}
	var txs []*model.Unconfirmed
	var made []model.Input
	for i, c := range coins[:3] {
		u := pay([]model.Input{{Tx: c.Tx, Index: c.Index}}, 1, &modeltest.TokenWish{Create: fmt.Sprint("asset", i), Cap: 1, Until: 99})
		txs, made = append(txs, u), append(made, model.Input{Tx: u.Hash})
	}
	w.Mine(nil) // the coins are old enough
	w.Mine(nil)
	w.Sync()
	txs = append(txs, pay(made, outputs, &modeltest.TokenWish{Each: true}))
	for limit, want := range map[int64]int{entryShare * entryMemory * (3*outputs - 1): 3, entryShare * entryMemory * 3 * outputs: 4} {
		p := NewPool(w.DB.Chain().Traits(), limit, time.Now)
		w.Query(func(q *query.Query) error { return p.Enter(q, txs) })
		p.opened, p.filled = true, true
		o := p.Overlay()
		if partial := o.State() == Partial; o.Count() != want || partial != (want == 3) {
			t.Errorf("limit %d: %d transactions, expected %d, %v", limit, o.Count(), want, o.State())
		}
	}
}
