package core_test

import (
	"context"
	"encoding/binary"
	"math"
	"math/big"
	"testing"

	"birthmark/core/query"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// moved returns a chain on which one asset is minted and then moves to the next holder in every block. Every holder
// keeps one unit.
func moved(blocks, holders int) []*model.Block {
	hashOf := func(n int, kind byte) (h model.Hash) {
		binary.BigEndian.PutUint32(h[:], uint32(n))
		h[31] = kind
		return h
	}
	paid := func(holder int, amount uint64) model.Output {
		return model.Output{
			Value: 1, Assets: []model.Asset{{ID: []byte("x"), Amount: amount}},
			Keys: []model.Key{{Index: 0, Value: binary.BigEndian.AppendUint32([]byte("a"), uint32(holder))}},
		}
	}
	left := uint64(blocks) + 1
	chain := []*model.Block{{Hash: hashOf(0, 1), Txs: []model.Tx{{
		Hash: hashOf(0, 2), Outputs: []model.Output{paid(0, left)},
		Mints: []model.Mint{{Asset: []byte("x"), Amount: new(big.Int).SetUint64(left)}},
	}}}}
	for n := 1; n <= blocks; n++ {
		left--
		chain = append(chain, &model.Block{Height: model.HeightPk(n), Hash: hashOf(n, 1), Parent: hashOf(n-1, 1), Txs: []model.Tx{{
			Hash: hashOf(n, 2), Inputs: []model.Input{{Tx: hashOf(n-1, 2)}},
			Outputs: []model.Output{paid(n%holders, left), paid((n-1)%holders, 1)},
		}}})
	}
	return chain
}

// The cost of a page of holders, and of the totals of an asset, depends on the page and not on the number of outputs
// that contained the asset.
func TestHoldersReadOnePage(t *testing.T) {
	ctx := context.Background()
	id := "78"
	cost := func(blocks, holders int) int64 {
		counted := &counting{Store: memory.New()}
		db := open(t, counted, modeltest.Variant{ByHand: true}, 1<<20)
		appendAll(t, db, moved(blocks, holders), 40)
		consistent(t, db)
		before := counted.steps.Load()
		a, err := db.Asset(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if a.OutputCount != uint64(2*blocks+1) || a.UnspentCount != uint64(blocks+1) || *a.HolderCount != uint64(holders) {
			t.Errorf("%d blocks: %s", blocks, text(a))
		}
		seen, p := 0, query.Page{Limit: 5}
		h, err := db.AssetHolders(ctx, id, p)
		if err != nil {
			t.Fatal(err)
		}
		seen += len(h.Holders)
		steps := counted.steps.Load() - before
		for h.Next != nil {
			p.After = *h.Next
			if h, err = db.AssetHolders(ctx, id, p); err != nil {
				t.Fatal(err)
			}
			seen += len(h.Holders)
		}
		if seen != holders {
			t.Errorf("%d holders, expected %d", seen, holders)
		}
		return steps
	}
	if few, many := cost(50, 20), cost(3000, 900); few != many {
		t.Errorf("the asset and a page of its holders cost %d reads after 50 transactions, %d after 3,000", few, many)
	}
}

// The balance of a holder can exceed 64 bits and fall below them again.
func TestAHoldingCanExceedTheAmountOfAnOutput(t *testing.T) {
	ctx := context.Background()
	v := modeltest.Variant{ByHand: true}
	all := func(n int) (outputs []model.Output) {
		for range n {
			outputs = append(outputs, model.Output{Keys: []model.Key{key(0, "a")}, Assets: []model.Asset{{ID: []byte("x"), Amount: math.MaxUint64}}})
		}
		return outputs
	}
	most := new(big.Int).SetUint64(math.MaxUint64)
	first := after(nil, 1, model.Tx{Hash: hash(5), Outputs: all(3), Mints: []model.Mint{{Asset: []byte("x"), Amount: new(big.Int).Mul(most, big.NewInt(3))}}})
	second := after(first, 2, model.Tx{
		Hash: hash(6), Inputs: []model.Input{{Tx: hash(5)}, {Tx: hash(5), Index: 2}},
		Outputs: []model.Output{{Value: 0}}, Mints: []model.Mint{{Asset: []byte("x"), Amount: new(big.Int).Mul(most, big.NewInt(-2))}},
	})
	db := open(t, memory.New(), v, 0)
	holds := func(want string) {
		t.Helper()
		consistent(t, db)
		h, err := db.AssetHolders(ctx, "78", query.Page{})
		if err != nil || len(h.Holders) != 1 || h.Holders[0].Amount != want {
			t.Errorf("%s (%v), expected one holder of %s", text(h), err, want)
		}
	}
	appendAll(t, db, []*model.Block{first}, 1)
	holds("55340232221128654845")
	appendAll(t, db, []*model.Block{second}, 1)
	holds("18446744073709551615")
	rollback(t, db, first.Point())
	holds("55340232221128654845")
}
