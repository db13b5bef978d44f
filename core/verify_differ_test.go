package core_test

import (
	"fmt"
	"math/big"
	"slices"
	"testing"

	"birthmark/core"
	"birthmark/model"
	"birthmark/storage/memory"
)

// byHand is a chain of four blocks whose third has something of everything.
func byHand() []*model.Block {
	one := after(nil, 1)
	two := after(one, 2, model.Tx{
		Hash: hash(20), Inputs: []model.Input{{Tx: hash(1)}},
		Outputs: []model.Output{
			{Value: 7, Keys: []model.Key{key(0, "a"), key(3, "x")}, Assets: []model.Asset{{ID: []byte("gold"), Amount: 5}}},
			{Value: 3},
		},
		Mints: []model.Mint{{Asset: []byte("gold"), Amount: big.NewInt(5)}},
	})
	three := after(two, 3, model.Tx{
		Hash: hash(30), Inputs: []model.Input{{Tx: hash(20)}, {Tx: hash(2)}},
		Outputs: []model.Output{
			{Value: 6, Keys: []model.Key{key(0, "a"), key(1, "t"), key(2, "b"), key(3, "x"), key(3, "y")}, Assets: []model.Asset{{ID: []byte("gold"), Amount: 2}}},
			{Value: 1},
		},
		Mints: []model.Mint{{Asset: []byte("gold"), Amount: big.NewInt(-3)}},
		Fee:   model.Fee{Stated: true, Amount: 4},
	}, spending(31, model.Input{Tx: hash(20), Index: 1}))
	three.Time, three.Size, three.Slot, three.Header = 5, 99, 3, []byte("head")
	return []*model.Block{one, two, three, after(three, 4)}
}

// Whatever the source has otherwise is named: where it is, what it is, and both sides.
func TestVerifyNamesWhatDiffers(t *testing.T) {
	db := open(t, memory.New(), bitcoin, 0)
	appendAll(t, db, byHand(), 4)
	if a := verify(t, db, shelve(byHand()), everything); !a.OK || a.Txs != 7 || a.Inputs != 4 || a.Outputs != 9 {
		t.Fatalf("%s", text(a))
	}
	h30, h31 := hash(30).String(), hash(31).String()
	of := func(tx, what, index, source, database string) core.DifferenceAnswer {
		return core.DifferenceAnswer{Height: 2, Tx: tx, What: what, Index: index, Source: source, Database: database}
	}
	for what, c := range map[string]struct {
		change func(b *model.Block, t *model.Tx)
		want   []core.DifferenceAnswer
	}{
		"parent": {func(b *model.Block, _ *model.Tx) { b.Parent = hash(9) }, []core.DifferenceAnswer{of("", "parent of the block", "", hash(9).String(), hash(2).String())}},
		"time":   {func(b *model.Block, _ *model.Tx) { b.Time = 6 }, []core.DifferenceAnswer{of("", "time of the block", "", "6", "5"), of("", "block by hash", "", "height 2, time 6", "height 2, time 5")}},
		"slot":   {func(b *model.Block, _ *model.Tx) { b.Slot = 6 }, []core.DifferenceAnswer{of("", "slot of the block", "", "6", "3")}},
		"size":   {func(b *model.Block, _ *model.Tx) { b.Size = 6 }, []core.DifferenceAnswer{of("", "size of the block", "", "6", "99")}},
		"header": {func(b *model.Block, _ *model.Tx) { b.Header = []byte("foot") }, []core.DifferenceAnswer{of("", "header of the block", "", "666f6f74", "68656164")}},
		"fee":    {func(_ *model.Block, t *model.Tx) { t.Fee.Amount = 5 }, []core.DifferenceAnswer{of(h30, "fee", "", "5", "4")}},
		"no fee": {func(_ *model.Block, t *model.Tx) { t.Fee = model.Fee{} }, []core.DifferenceAnswer{of(h30, "fee", "", "", "4")}},
		"a transaction less": {func(b *model.Block, _ *model.Tx) { b.Txs = b.Txs[:2] }, []core.DifferenceAnswer{
			of("", "number of transactions", "", "2", "3"), of("", "a further transaction", "", "", "transaction 2"),
			of("", "a further output", "", "", "output 0 of transaction 2"), of("", "a further input", "", "", "input 0 of transaction 2")}},
		"a transaction more": {func(b *model.Block, _ *model.Tx) {
			b.Txs = append(b.Txs, model.Tx{Hash: hash(32), Outputs: make([]model.Output, 1)})
		}, []core.DifferenceAnswer{
			of("", "number of transactions", "", "4", "3"), of(hash(32).String(), "transaction 3 of the block", "", hash(32).String(), "missing"),
			of(hash(32).String(), "transaction by hash", "", "2/3", "missing"), of(hash(32).String(), "output 0", "", "0", "missing")}},
		"another transaction": {func(b *model.Block, _ *model.Tx) { b.Txs[2].Hash = hash(99) }, []core.DifferenceAnswer{
			of(hash(99).String(), "transaction 2 of the block", "", hash(99).String(), h31), of(hash(99).String(), "transaction by hash", "", "2/2", "missing"),
			of(hash(99).String(), "spender of what input 0 spends", "", "input 0 of "+hash(99).String()+" in block 2", "input 0 of "+h31+" in block 2")}},
		"value":          {func(_ *model.Block, t *model.Tx) { t.Outputs[1].Value = 2 }, []core.DifferenceAnswer{of(h30, "value of output 1", "", "2", "1")}},
		"an output less": {func(_ *model.Block, t *model.Tx) { t.Outputs = t.Outputs[:1] }, []core.DifferenceAnswer{of("", "a further output", "", "", "output 1 of transaction 1")}},
		"an output more": {func(_ *model.Block, t *model.Tx) { t.Outputs = append(t.Outputs, model.Output{Value: 8}) }, []core.DifferenceAnswer{of(h30, "output 2", "", "8", "missing")}},
		"an address that is unknown": {func(_ *model.Block, t *model.Tx) { t.Outputs[0].Keys[0] = key(0, "z") }, []core.DifferenceAnswer{
			of(h30, "address of output 0", "address", "a7a", "a61"), of(h30, "found by address: output 0", "address", "a7a", "it occurs in no output")}},
		"an address more": {func(_ *model.Block, t *model.Tx) { t.Outputs[1].Keys = []model.Key{key(0, "a")} }, []core.DifferenceAnswer{
			of(h30, "address of output 1", "address", "a61", ""), of(h30, "found by address: output 1", "address", "a61", "the output is not among those it occurs in")}},
		"no address":     {func(_ *model.Block, t *model.Tx) { t.Outputs[0].Keys = t.Outputs[0].Keys[1:] }, []core.DifferenceAnswer{of(h30, "address of output 0", "address", "", "a61")}},
		"labels in turn": {func(_ *model.Block, t *model.Tx) { k := t.Outputs[0].Keys; k[3], k[4] = k[4], k[3] }, []core.DifferenceAnswer{of(h30, "label of output 0", "label", "l79, l78", "l78, l79")}},
		"the box of another": {func(_ *model.Block, t *model.Tx) {
			t.Outputs[0].Keys = slices.Delete(t.Outputs[0].Keys, 2, 3)
			t.Outputs[1].Keys = []model.Key{key(2, "b")}
		}, []core.DifferenceAnswer{
			of(h30, "box of output 0", "box", "", "b62"), of(h30, "box of output 1", "box", "b62", ""),
			of(h30, "found by box: output 1", "box", "b62", "its birth is 0000008000080000")}},
		"what an input spends": {func(_ *model.Block, t *model.Tx) { t.Inputs[1].Index = 4 }, []core.DifferenceAnswer{of(h30, "input 1 spends", "", hash(2).String()+":4", hash(2).String()+":0")}},
		"an input more":        {func(_ *model.Block, t *model.Tx) { t.Inputs = append(t.Inputs, model.Input{Tx: hash(9)}) }, []core.DifferenceAnswer{of(h30, "input 2 spends", "", hash(9).String()+":0", "missing")}},
		"an input less":        {func(_ *model.Block, t *model.Tx) { t.Inputs = t.Inputs[:1] }, []core.DifferenceAnswer{of("", "a further input", "", "", "input 1 of transaction 1")}},
		"an amount":            {func(_ *model.Block, t *model.Tx) { t.Outputs[0].Assets[0].Amount = 1 }, []core.DifferenceAnswer{of(h30, "assets of output 0", "", "transfer 1 676f6c64", "transfer 2 676f6c64")}},
		"another asset": {func(_ *model.Block, t *model.Tx) { t.Outputs[0].Assets[0].ID = []byte("lead") }, []core.DifferenceAnswer{
			of(h30, "assets of output 0", "", "transfer 2 6c656164", "transfer 2 676f6c64"), of(h30, "found by asset: output 0", "", "6c656164", "it occurs in no output")}},
		"a burn":  {func(_ *model.Block, t *model.Tx) { t.Mints[0].Amount = big.NewInt(-4) }, []core.DifferenceAnswer{of(h30, "mints and burns", "", "-4 676f6c64", "-3 676f6c64")}},
		"no burn": {func(_ *model.Block, t *model.Tx) { t.Mints = nil }, []core.DifferenceAnswer{of(h30, "mints and burns", "", "", "-3 676f6c64")}},
		"a mint": {func(_ *model.Block, t *model.Tx) { t.Mints[0].Amount = big.NewInt(3) }, []core.DifferenceAnswer{
			of(h30, "assets of output 0", "", "mint 2 676f6c64", "transfer 2 676f6c64"), of(h30, "mints and burns", "", "3 676f6c64", "-3 676f6c64")}},
	} {
		blocks := byHand()
		c.change(blocks[2], &blocks[2].Txs[1])
		a := verify(t, db, shelve(blocks), everything)
		if a.More != 0 || text(a.Differences) != text(c.want) {
			t.Errorf("%s:\n%s, expected\n%s", what, text(a.Differences), text(c.want))
		}
	}
}

func TestVerifyListsAHundredDifferences(t *testing.T) {
	blocks := byHand()
	big := model.Tx{Hash: hash(50), Inputs: []model.Input{{Tx: hash(4)}}, Outputs: make([]model.Output, 250)}
	blocks = append(blocks, after(blocks[3], 5, big))
	db := open(t, memory.New(), bitcoin, 0)
	appendAll(t, db, blocks, 5)
	other := *blocks[4]
	other.Txs = slices.Clone(other.Txs)
	other.Txs[1].Outputs = slices.Clone(big.Outputs)
	for i := range other.Txs[1].Outputs {
		other.Txs[1].Outputs[i].Value = 9
	}
	a := verify(t, db, shelve(append(blocks[:4:4], &other)), 0)
	if a.OK || len(a.Differences) != 100 || a.More != 150 {
		t.Errorf("%d differences and %d more", len(a.Differences), a.More)
	}
	for i, d := range a.Differences {
		if d.What != fmt.Sprintf("value of output %d", i) {
			t.Fatalf("difference %d is %s", i, text(d))
		}
	}
}
