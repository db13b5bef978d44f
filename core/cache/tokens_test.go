package cache

import (
	"math/rand/v2"
	"testing"

	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// The marks of transactions never miss an output with assets, and are exact for transactions with one such output among
// the first.
func TestMarksOfOutputsWithAssets(t *testing.T) {
	rng := rand.New(rand.NewPCG(testseed.Of(t, 5), 1))
	const heights, txs, outputs = 40, 50, 20
	a := AssetTxs{limit: heights * txs / txsPerWord / 2}
	held := map[model.UtxoPk]bool{}
	count, single := map[model.TxPk]int{}, map[model.TxPk]int{}
	utxo := func(h, tx, output int) model.UtxoPk {
		pk, err := model.NarrowPointers.Tx(model.HeightPk(h), tx)
		if err != nil {
			t.Fatal(err)
		}
		return model.UtxoPk(pk) + model.UtxoPk(output)
	}
	for h := range heights {
		a.Begin(model.HeightPk(h), txs)
		for tx := range txs {
			for range rng.IntN(3) {
				pk := utxo(h, tx, rng.IntN(outputs))
				if !held[pk] {
					a.Add(pk)
					held[pk] = true
					count[pk.Tx()]++
					single[pk.Tx()] = pk.Index()
				}
			}
		}
	}
	dropped, exact := 0, 0
	for h := range heights {
		for tx := range txs {
			for output := range outputs {
				pk := utxo(h, tx, output)
				may, known := a.May(pk)
				switch {
				case !known:
					dropped++
					if !may {
						t.Fatalf("output %v of a dropped block has no assets", pk)
					}
				case held[pk] && !may:
					t.Fatalf("output %v has assets and no mark", pk)
				case count[pk.Tx()] == 0 && may:
					t.Fatalf("output %v has a mark, and its transaction no assets", pk)
				case count[pk.Tx()] == 1 && !held[pk]:
					if !may {
						exact++
					} else if single[pk.Tx()] < severalOutputs-1 {
						t.Fatalf("output %v has a mark; the assets are in output %d", pk, single[pk.Tx()])
					}
				}
			}
		}
	}
	if dropped == 0 || exact == 0 {
		t.Errorf("%d outputs of dropped blocks, %d exact marks", dropped, exact)
	}
}

// An output that is spent is the one that was held, or it is unknown; the newest ones are known. Another index of holders
// makes all of them unknown.
func TestHeldOutputsAreReturnedOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(testseed.Of(t, 6), 1))
	holders, other := new(schema.Index), new(schema.Index)
	var tokens Tokens
	held := map[model.UtxoPk]Held{}
	var order []model.UtxoPk
	known, unknown := 0, 0
	for i := range 5000 {
		pk := model.UtxoPk(i + 1)
		h := Held{Amount: model.Uint128{Hi: rng.Uint64(), Lo: rng.Uint64()}, Holder: model.UtxoPk(rng.Uint64()), HasHolder: rng.IntN(2) == 0}
		tokens.Hold(pk, h, holders)
		held[pk] = h
		order = append(order, pk)
		if len(tokens.held)+len(tokens.older) > 2*minHeld {
			t.Fatalf("%d and %d outputs are held", len(tokens.held), len(tokens.older))
		}
		if rng.IntN(2) == 0 {
			continue
		}
		age := rng.IntN(min(len(order), 4*minHeld))
		at := len(order) - 1 - age
		got, ok := tokens.Spend(order[at], holders)
		if ok && got != held[order[at]] || !ok && age < minHeld {
			t.Fatalf("output %v, %d others after it: %v, %t", order[at], age, got, ok)
		}
		if _, again := tokens.Spend(order[at], holders); again {
			t.Fatalf("output %v is spent twice", order[at])
		}
		if ok {
			known++
		} else {
			unknown++
		}
		order = append(order[:at], order[at+1:]...)
	}
	if known == 0 || unknown == 0 {
		t.Errorf("%d known, %d unknown", known, unknown)
	}
	last := order[len(order)-1]
	if _, ok := tokens.Spend(last, other); ok {
		t.Error("an output with a holder of another index is known")
	}
	tokens.Hold(1<<40, Held{}, other)
	if _, ok := tokens.Spend(last, holders); ok {
		t.Error("an output is known after the index of holders changed")
	}
}

// DropFrom clears the marks of the blocks that may not be written, and the states of tokens, as a rollback does.
func TestDropFromClearsMarksAndTokens(t *testing.T) {
	c := New(8<<20, nil)
	var first [2]model.UtxoPk // of each block
	for h := range first {
		pk, err := model.NarrowPointers.Tx(model.HeightPk(h), 0)
		if err != nil {
			t.Fatal(err)
		}
		first[h] = model.UtxoPk(pk)
		c.AssetTxs.Begin(model.HeightPk(h), 1)
	}
	c.Tokens.SetCount(3)
	c.DropFrom(first[1])
	for h, want := range []bool{true, false} {
		if _, known := c.AssetTxs.May(first[h]); known != want {
			t.Errorf("the marks of block %d are known: %t, expected %t", h, known, want)
		}
	}
	if n, known := c.Tokens.Count(); known {
		t.Errorf("the count %d is known", n)
	}
}
