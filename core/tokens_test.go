package core_test

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// tokenWorld generates blocks with derived assets of every kind: assets that no output has, mints of 0, mints that are
// burned at once, amounts of up to 128 bits. It keeps what the answers must be.
type tokenWorld struct {
	rng    *rand.Rand
	hashes byte
	tip    *model.Block
	coins  []tokenCoin
	assets map[string]*tokenSums
	order  []string
}

type tokenCoin struct {
	in   model.Input
	held map[string]model.Uint128
}

type tokenSums struct {
	minted, burned *big.Int
	mints, burns   uint64
}

// clone returns a copy that can change.
func (w *tokenWorld) clone() *tokenWorld {
	c := *w
	c.coins, c.order, c.assets = slices.Clone(w.coins), slices.Clone(w.order), map[string]*tokenSums{}
	for id, s := range w.assets {
		c.assets[id] = &tokenSums{new(big.Int).Set(s.minted), new(big.Int).Set(s.burned), s.mints, s.burns}
	}
	return &c
}

func (w *tokenWorld) amount() model.Uint128 {
	a := model.Uint128{Hi: w.rng.Uint64() >> 4, Lo: w.rng.Uint64()}
	if w.rng.IntN(2) == 0 {
		a.Hi = 0
	}
	return a
}

// tx returns a transaction, which changes the world.
func (w *tokenWorld) tx() model.Tx {
	w.hashes++
	t := model.Tx{Hash: hash(w.hashes)}
	left := map[string]model.Uint128{}
	for range w.rng.IntN(3) {
		if len(w.coins) == 0 {
			break
		}
		i := w.rng.IntN(len(w.coins))
		c := w.coins[i]
		w.coins = slices.Delete(w.coins, i, i+1)
		t.Inputs = append(t.Inputs, c.in)
		for id, a := range c.held {
			left[id], _ = left[id].Add(a)
		}
	}
	for n := range 1 + w.rng.IntN(3) {
		t.Outputs = append(t.Outputs, model.Output{Keys: []model.Key{{Index: 0, Value: []byte{1 + byte(w.rng.IntN(4))}}}})
		w.coins = append(w.coins, tokenCoin{model.Input{Tx: t.Hash, Index: uint32(n)}, map[string]model.Uint128{}})
	}
	made := w.coins[len(w.coins)-len(t.Outputs):]

	var moves []modeltest.TokenMove
	mints, existing := map[string]uint64{}, uint64(len(w.order))
	if w.rng.IntN(2) == 0 {
		moves = append(moves, w.move(left, mints))
	}
	for id, a := range left {
		if w.rng.IntN(4) == 0 && (len(moves) == 0 || string(moves[0].ID) != id) {
			moves = append(moves, modeltest.TokenMove{ID: []byte(id), Burned: a})
			w.burn(id, a)
			delete(left, id)
		}
	}
	var held []modeltest.TokenHeld
	for n := range t.Outputs {
		for _, id := range slices.Sorted(maps.Keys(left)) {
			a := left[id]
			if n < len(t.Outputs)-1 && w.rng.IntN(2) == 0 {
				a, _ = a.DivMod(2)
			}
			if a.IsZero() {
				continue
			}
			held = append(held, modeltest.TokenHeld{Output: n, ID: []byte(id), Amount: a})
			made[n].held[id] = a
			if left[id], _ = left[id].Sub(a); left[id].IsZero() {
				delete(left, id)
			}
		}
	}
	t.Message = modeltest.TokenMessage(moves, held, mints, existing)
	return t
}

// move changes the supply of a new or an existing asset, and adds what is not burned to left.
func (w *tokenWorld) move(left map[string]model.Uint128, mints map[string]uint64) modeltest.TokenMove {
	m := modeltest.TokenMove{Mints: w.rng.IntN(4) > 0}
	if len(w.order) == 0 || w.rng.IntN(2) == 0 {
		id := fmt.Sprint("asset", len(w.order), "-", w.hashes)
		m.ID, m.Info = []byte(id), []byte("info of "+id)
		w.order, w.assets[id] = append(w.order, id), &tokenSums{minted: new(big.Int), burned: new(big.Int)}
	} else {
		m.ID = []byte(w.order[w.rng.IntN(len(w.order))])
	}
	id, sums := string(m.ID), w.assets[string(m.ID)]
	mints[id] = sums.mints
	if m.Mints {
		if m.Minted = w.amount(); w.rng.IntN(3) == 0 || sums.minted.BitLen() > 125 {
			m.Minted = model.Uint128{}
		}
		sums.mints++
		sums.minted.Add(sums.minted, m.Minted.Big())
		left[id], _ = left[id].Add(m.Minted)
	}
	if w.rng.IntN(2) == 0 {
		m.Burned = left[id] // all at once
		w.burn(id, m.Burned)
		delete(left, id)
	}
	if left[id].IsZero() {
		delete(left, id)
	}
	return m
}

func (w *tokenWorld) burn(id string, a model.Uint128) {
	if !a.IsZero() {
		w.assets[id].burns++
		w.assets[id].burned.Add(w.assets[id].burned, a.Big())
	}
}

func (w *tokenWorld) block() *model.Block {
	var txs []model.Tx
	for range 1 + w.rng.IntN(3) {
		txs = append(txs, w.tx())
	}
	w.hashes++
	w.tip = after(w.tip, w.hashes, txs...)
	return w.tip
}

// Totals, holders, events and balances of derived assets are those of the messages, after every block and fork; and a
// rollback leaves the database as it was.
func TestDerivedAssetsOfEveryKind(t *testing.T) {
	v := modeltest.Variant{Name: "tokens", Coinbase: true, ByHand: true, Tokens: true, Fingerprints: true, Described: true, Kept: true}
	ctx := context.Background()
	zero, both, unheld, wide := 0, 0, 0, 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(testseed.Of(t, 77), seed))
		w := &tokenWorld{rng: rng, assets: map[string]*tokenSums{}}
		db := open(t, memory.New(), v, 1<<16)
		for range 16 {
			before, fork := dump(t, db), w.clone()
			blocks := []*model.Block{fork.block()}
			for range rng.IntN(3) {
				blocks = append(blocks, fork.block())
			}
			if err := db.Append(ctx, blocks); err != nil {
				t.Fatal(err)
			}
			consistent(t, db)
			var point model.Point
			if w.tip != nil {
				point = w.tip.Point()
			}
			if rng.IntN(2) == 0 {
				if err := db.Rollback(ctx, point); err != nil {
					t.Fatal(err)
				}
				same(t, "after the rollback", dump(t, db), before)
				continue
			}
			*w = *fork
			for _, id := range w.order {
				want, text := w.assets[id], v.Chain("one").FormatAsset([]byte(id))
				a, err := db.Asset(ctx, text)
				if err != nil {
					t.Fatal(err)
				}
				supply := new(big.Int).Sub(want.minted, want.burned)
				if a.Minted != want.minted.String() || a.Burned != want.burned.String() || a.Supply != supply.String() ||
					a.MintCount != want.mints || a.BurnCount != want.burns || a.Name != "info of "+id {
					t.Fatalf("%s: %+v, expected %+v", id, a, want)
				}
				events, err := db.AssetEvents(ctx, text, query.Range{}, query.Page{Limit: 1000})
				if err != nil {
					t.Fatal(err)
				}
				minted, burned := new(big.Int), new(big.Int)
				perTx := map[string]int{}
				for _, e := range events.Events {
					n, _ := new(big.Int).SetString(e.Amount, 10)
					if e.Action == "mint" {
						minted.Add(minted, n)
					} else {
						burned.Sub(burned, n)
					}
					if n.Sign() == 0 {
						zero++
					}
					if perTx[e.Tx]++; perTx[e.Tx] == 2 {
						both++
						tx, err := db.Tx(ctx, e.Tx)
						if err != nil || len(tx.Mints) < 2 {
							t.Fatalf("%+v, %v: the mints of a transaction that mints and burns %s", tx, err, id)
						}
					}
				}
				if minted.Cmp(want.minted) != 0 || burned.Cmp(want.burned) != 0 {
					t.Fatalf("%s: the events mint %v and burn %v, expected %v and %v", id, minted, burned, want.minted, want.burned)
				}
				holders, err := db.AssetHolders(ctx, text, query.Page{Limit: 1000})
				if err != nil {
					t.Fatal(err)
				}
				held := new(big.Int)
				for _, h := range holders.Holders {
					n, _ := new(big.Int).SetString(h.Amount, 10)
					held.Add(held, n)
				}
				if held.Cmp(supply) != 0 {
					t.Fatalf("%s: the holders have %v, expected %v", id, held, supply)
				}
				if a.OutputCount == 0 {
					unheld++
				}
				if want.minted.BitLen() > 64 {
					wide++
				}
			}
		}
	}
	for what, n := range map[string]int{"mints of 0": zero, "mints that are burned": both, "assets that no output had": unheld, "amounts above 64 bits": wide} {
		if n == 0 {
			t.Errorf("no %s", what)
		}
	}
}

// An output with more assets than an entry's number can count is no error, which would end the sync for ever: balances
// and holders have all of them, and a rollback removes all.
func TestOutputWithMoreAssetsThanNumbers(t *testing.T) {
	const each, txs = 33_000, 2
	v := modeltest.Variant{Name: "tokens", Coinbase: true, ByHand: true, Tokens: true, Fingerprints: true, Described: true, Kept: true}
	one := model.Uint128Of(1)
	outputs := []model.Output{{Keys: []model.Key{{Index: 0, Value: []byte("a")}}}}
	var born []model.Tx
	var all []modeltest.TokenHeld
	for n := range txs {
		var moves []modeltest.TokenMove
		var held []modeltest.TokenHeld
		for i := range each {
			id := fmt.Appendf(nil, "%d-%d", n, i)
			moves = append(moves, modeltest.TokenMove{ID: id, Mints: true, Minted: one, Info: []byte("i")})
			held = append(held, modeltest.TokenHeld{ID: id, Amount: one})
		}
		all = append(all, held...)
		born = append(born, model.Tx{Hash: hash(byte(10 + n)), Outputs: outputs,
			Message: modeltest.TokenMessage(moves, held, nil, uint64(n*each))})
	}
	db := open(t, memory.New(), v, 1<<20)
	first := after(nil, 1, born...)
	appendAll(t, db, []*model.Block{first}, 1)
	before := dump(t, db)
	merged := model.Tx{Hash: hash(20), Inputs: []model.Input{{Tx: hash(10)}, {Tx: hash(11)}}, Outputs: outputs,
		Message: modeltest.TokenMessage(nil, all, nil, txs*each)}
	appendAll(t, db, []*model.Block{after(first, 2, merged)}, 1)
	consistent(t, db)
	o, err := db.Output(t.Context(), hash(20).String()+":0")
	if err != nil || len(o.Assets) != txs*each {
		t.Fatalf("%d assets, %v", len(o.Assets), err)
	}
	last := v.Chain("one").FormatAsset(all[len(all)-1].ID)
	a, err := db.AssetHolders(t.Context(), last, query.Page{Limit: 10})
	if err != nil || len(a.Holders) != 1 || a.Holders[0].Amount != "1" {
		t.Errorf("%+v, %v", a, err)
	}
	if err := db.Rollback(t.Context(), first.Point()); err != nil {
		t.Fatal(err)
	}
	same(t, "after the rollback", dump(t, db), before)
}
