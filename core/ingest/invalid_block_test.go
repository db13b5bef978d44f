package ingest_test

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

func hash(n byte) (h model.Hash) {
	h[0] = n
	return h
}

// bitcoin is the variant of the hand-made chains in this file. The indexes of its keys are address, tag, box, label.
var bitcoin = modeltest.Variant{Name: "by hand", Coinbase: true, ByHand: true}

func key(index int, value string) model.Key { return model.Key{Index: index, Value: []byte(value)} }

// after returns a child of b with the transactions after a coinbase.
func after(b *model.Block, n byte, txs ...model.Tx) *model.Block {
	c := &model.Block{Hash: hash(n), Txs: append([]model.Tx{{Hash: hash(n), Outputs: []model.Output{{Value: 1}}}}, txs...)}
	if b != nil {
		c.Height, c.Parent = b.Height+1, b.Hash
	}
	return c
}

func spending(n byte, in ...model.Input) model.Tx {
	return model.Tx{Hash: hash(n), Inputs: in, Outputs: []model.Output{{Value: 0}}}
}

// An invalid block is rejected with an error that names it. The database does not change, and the next valid block is
// accepted.
func TestABadBlockChangesNothing(t *testing.T) {
	ctx := context.Background()
	one := after(nil, 1)
	two := after(one, 2, spending(21, model.Input{Tx: hash(1)}))
	coin := model.Input{Tx: hash(2)}
	outputs := func(keys ...model.Key) model.Tx {
		return model.Tx{Hash: hash(99), Inputs: []model.Input{coin}, Outputs: []model.Output{{Keys: keys}}}
	}
	many := make([]model.Asset, 1<<16+1)
	for i := range many {
		many[i] = model.Asset{ID: fmt.Append(nil, i), Amount: 1}
	}
	orphan := after(two, 30)
	orphan.Parent = hash(77)
	high := after(two, 30)
	high.Height++
	late := after(two, 30)
	late.Genesis = []model.Tx{{Hash: hash(98)}}
	for what, c := range map[string]struct {
		blocks []*model.Block
		code   string
		says   []string
	}{
		"unknown transaction":         {[]*model.Block{after(two, 30, spending(31, model.Input{Tx: hash(66), Index: 3}))}, "unknown_output", []string{hash(31).String(), hash(66).String() + ":3", "block 2"}},
		"unknown output":              {[]*model.Block{after(two, 30, spending(31, model.Input{Tx: hash(2), Index: 1}))}, "unknown_output", []string{hash(31).String(), hash(2).String() + ":1"}},
		"index out of range":          {[]*model.Block{after(two, 30, spending(31, model.Input{Tx: hash(2), Index: 1<<32 - 1}))}, "unknown_output", []string{hash(31).String()}},
		"spent before":                {[]*model.Block{after(two, 30, spending(31, model.Input{Tx: hash(1)}))}, "already_spent", []string{hash(31).String(), hash(21).String(), hash(1).String() + ":0"}},
		"spent in the block":          {[]*model.Block{after(two, 30, spending(31, coin), spending(32, coin))}, "already_spent", []string{hash(31).String(), hash(32).String()}},
		"spent in the tx":             {[]*model.Block{after(two, 30, spending(31, coin, coin))}, "already_spent", []string{hash(31).String()}},
		"spent in the batch":          {[]*model.Block{after(two, 30, spending(31, coin)), after(after(two, 30), 40, spending(41, coin))}, "already_spent", []string{hash(41).String(), hash(31).String()}},
		"made and spent in the batch": {[]*model.Block{after(two, 30, spending(31, coin), spending(32, model.Input{Tx: hash(31)})), after(after(two, 30), 40, spending(41, model.Input{Tx: hash(31)}))}, "already_spent", []string{hash(41).String(), hash(32).String(), hash(31).String() + ":0"}},
		"spent before made":           {[]*model.Block{after(two, 30, spending(31, model.Input{Tx: hash(32)}), spending(32, coin))}, "unknown_output", []string{hash(31).String(), hash(32).String()}},
		"wrong parent":                {[]*model.Block{orphan}, "bad_block", []string{hash(30).String(), hash(77).String(), hash(2).String()}},
		"wrong height":                {[]*model.Block{high}, "bad_block", []string{"block 3", "expected height 2"}},
		"late genesis":                {[]*model.Block{late}, "bad_block", []string{"genesis"}},
		"same block again":            {[]*model.Block{two}, "bad_block", []string{"expected height 2"}},
		"late outputs":                {[]*model.Block{after(two, 30, model.Tx{Hash: hash(99), Inputs: []model.Input{coin}, Outputs: []model.Output{{}}, FirstOutput: 1})}, "bad_block", []string{"begin with output 1", hash(99).String()}},
		"two addresses":               {[]*model.Block{after(two, 30, outputs(key(0, "a"), key(0, "b")))}, "bad_block", []string{"two values of address", hash(99).String()}},
		"a label twice":               {[]*model.Block{after(two, 30, outputs(key(3, "a"), key(3, "b"), key(3, "a")))}, "bad_block", []string{"duplicate value"}},
		"a box twice":                 {[]*model.Block{after(two, 30, model.Tx{Hash: hash(99), Outputs: []model.Output{{Keys: []model.Key{key(2, "b")}}, {Keys: []model.Key{key(2, "b")}}}})}, "bad_block", []string{"box", "already"}},
		"no value":                    {[]*model.Block{after(two, 30, outputs(key(0, "")))}, "bad_block", []string{"0 bytes"}},
		"a value too long":            {[]*model.Block{after(two, 30, outputs(key(0, strings.Repeat("x", model.MaxValueSize+1))))}, "bad_block", []string{"32769 bytes"}},
		"too many assets":             {[]*model.Block{after(two, 30, model.Tx{Hash: hash(99), Inputs: []model.Input{coin}, Outputs: []model.Output{{Assets: many}}})}, "bad_block", []string{"65536"}},
		"too many outputs":            {[]*model.Block{after(two, 30, model.Tx{Hash: hash(99), Outputs: make([]model.Output, model.MaxIndex+2)})}, "bad_block", []string{"524288"}},
		"mint of nothing":             {[]*model.Block{after(two, 30, model.Tx{Hash: hash(99), Inputs: []model.Input{coin}, Mints: []model.Mint{{Asset: []byte("x"), Amount: big.NewInt(0)}}})}, "bad_block", []string{"mint of 0"}},
		"burn of unknown":             {[]*model.Block{after(two, 30, model.Tx{Hash: hash(99), Inputs: []model.Input{coin}, Mints: []model.Mint{{Asset: []byte("x"), Amount: big.NewInt(-1)}}})}, "unknown_asset", []string{"78"}},
		"more than all money":         {[]*model.Block{after(two, 30, model.Tx{Hash: hash(99), Outputs: []model.Output{{Value: 1<<64 - 1}}})}, "bad_block", []string{"64 bits"}},
	} {
		t.Run(what, func(t *testing.T) {
			for _, caches := range []int64{0, 1 << 20} {
				db := open(t, memory.New(), bitcoin, caches)
				appendAll(t, db, []*model.Block{one, two}, 2)
				want := dump(t, db)
				err := db.Append(ctx, c.blocks)
				if k, code := model.KindOf(err); err == nil || k != model.BadSource || code != c.code {
					t.Errorf("%v (%s), expected %s", err, code, c.code)
					continue
				}
				for _, s := range c.says {
					if !strings.Contains(err.Error(), s) {
						t.Errorf("%q does not contain %q", err, s)
					}
				}
				if strings.Contains(err.Error(), "\n") {
					t.Errorf("%q has several lines", err)
				}
				same(t, "after a bad block", dump(t, db), want)
				appendAll(t, db, []*model.Block{after(two, 50, spending(51, coin, model.Input{Tx: hash(21)}))}, 1)
				consistent(t, db)
			}
		})
	}
}

func TestABlockOutOfNothingIsRejected(t *testing.T) {
	v := modeltest.Variants()[2]
	generator := v.NewGenerator(testseed.Of(t, 60))
	blocks := generator.Blocks(10)
	box := unspentBox(blocks)
	for box == nil {
		blocks = append(blocks, generator.Blocks(1)...)
		box = unspentBox(blocks)
	}
	db := open(t, memory.New(), v, 0)
	if err := db.Append(context.Background(), blocks[5:]); kind(err) != model.BadSource || !strings.Contains(err.Error(), "height 0 or 1") {
		t.Errorf("a first block with a parent: %v", err)
	}
	appendAll(t, db, blocks, 10)
	last := blocks[len(blocks)-1]
	forged := &model.Block{Height: last.Height + 1, Parent: last.Hash, Hash: hash(1), Txs: []model.Tx{{
		Hash: hash(2), Inputs: []model.Input{{Value: box}},
		Outputs: []model.Output{{Assets: []model.Asset{{ID: []byte("forged"), Amount: 7}}}},
	}}}
	if err := db.Append(context.Background(), []*model.Block{forged}); kind(err) != model.BadSource || !strings.Contains(err.Error(), "without a mint") {
		t.Errorf("an asset that was never minted: %v", err)
	}
	forged.Txs[0].Inputs[0] = model.Input{Tx: hash(9)}
	if err := db.Append(context.Background(), []*model.Block{forged}); kind(err) != model.BadSource {
		t.Errorf("an outpoint on a chain of boxes: %v", err)
	}
	same(t, "after forgeries", dump(t, db), fresh(t, v, blocks))
	consistent(t, db)
}

// unspentBox returns a box without assets that no transaction spends; nil: there is none.
func unspentBox(blocks []*model.Block) []byte {
	const boxIndex = 2
	spent := map[string]bool{}
	var boxes [][]byte
	for _, b := range blocks {
		for _, tx := range append(b.Genesis, b.Txs...) {
			for _, in := range tx.Inputs {
				spent[string(in.Value)] = true
			}
			for _, o := range tx.Outputs {
				for _, k := range o.Keys {
					if k.Index == boxIndex && len(o.Assets) == 0 {
						boxes = append(boxes, k.Value)
					}
				}
			}
		}
	}
	for _, box := range boxes {
		if !spent[string(box)] {
			return box
		}
	}
	return nil
}

// Transactions larger than those of real chains are accepted.
func TestHugeTransactionsFit(t *testing.T) {
	outputs := amount(111_000, 11_000)
	big1 := model.Tx{Hash: hash(10), Outputs: make([]model.Output, outputs)}
	for i := range big1.Outputs {
		big1.Outputs[i] = model.Output{Value: uint64(i), Keys: []model.Key{key(0, fmt.Sprint(i%1000))}}
	}
	rich := model.Tx{Hash: hash(11), Outputs: make([]model.Output, 1)}
	for i := range 1000 {
		id := fmt.Append(nil, "asset", i)
		rich.Outputs[0].Assets = append(rich.Outputs[0].Assets, model.Asset{ID: id, Amount: uint64(i + 1)})
		rich.Mints = append(rich.Mints, model.Mint{Asset: id, Amount: big.NewInt(int64(i + 1))})
	}
	all := model.Tx{Hash: hash(12), Outputs: []model.Output{{}}}
	for i := range outputs {
		all.Inputs = append(all.Inputs, model.Input{Tx: hash(10), Index: uint32(i)})
	}
	one := after(nil, 1, big1, rich)
	two := after(one, 2, all)
	db := open(t, memory.New(), bitcoin, 1<<20)
	want := dump(t, db)
	appendAll(t, db, []*model.Block{one}, 1)
	a, err := db.Output(context.Background(), fmt.Sprintf("%s:%d", hash(10), outputs-1))
	if err != nil || a.Index != outputs-1 || a.Value != fmt.Sprint(outputs-1) || a.Keys["address"] != "a"+"393939" {
		t.Errorf("the last output is %+v, %v", a, err)
	}
	held, err := db.Output(context.Background(), hash(11).String()+":0")
	if err != nil || len(held.Assets) != 1000 || held.Assets[999].Amount != "1000" {
		t.Errorf("the output of 1,000 assets: %v", err)
	}
	appendAll(t, db, []*model.Block{two}, 1)
	balance, err := db.Balance(context.Background(), "address", "a"+"393939")
	if err != nil || balance.OutputCount != uint64(outputs/1000) || *balance.UnspentCount != 0 || balance.TxCount != 2 {
		t.Errorf("balance %+v, %v", balance, err)
	}
	consistent(t, db)
	rollback(t, db, model.Point{})
	same(t, "rolled back", dump(t, db), want)
	consistent(t, db)
}
