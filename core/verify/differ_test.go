package verify_test

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	"birthmark/model"
	"birthmark/storage/memory"
)

// byHand returns a chain of four blocks whose third block uses every feature.
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

// A difference contains the position, the kind and both values.
func TestVerifyReportsDifferences(t *testing.T) {
	db := open(t, memory.New(), bitcoin, 0)
	appendAll(t, db, byHand(), 4)
	if a := compare(t, db, shelve(byHand()), everything); !a.OK || a.Txs != 7 || a.Inputs != 4 || a.Outputs != 9 {
		t.Fatalf("%s", text(a))
	}
	for what, c := range map[string]struct {
		change func(b *model.Block, t *model.Tx)
		want   []string
	}{
		"parent": {func(b *model.Block, _ *model.Tx) { b.Parent = hash(9) }, []string{
			"parent of the block: 09 | 02",
		}},
		"time": {func(b *model.Block, _ *model.Tx) { b.Time = 6 }, []string{
			"time of the block: 6 | 5",
			"block by hash: height 2, time 6 | height 2, time 5",
		}},
		"slot": {func(b *model.Block, _ *model.Tx) { b.Slot = 6 }, []string{
			"slot of the block: 6 | 3",
		}},
		"size": {func(b *model.Block, _ *model.Tx) { b.Size = 6 }, []string{
			"size of the block: 6 | 99",
		}},
		"header": {func(b *model.Block, _ *model.Tx) { b.Header = []byte("foot") }, []string{
			"header of the block: 666f6f74 | 68656164",
		}},
		"fee": {func(_ *model.Block, t *model.Tx) { t.Fee.Amount = 5 }, []string{
			"1e transaction: fee 5 | fee 4",
		}},
		"no fee": {func(_ *model.Block, t *model.Tx) { t.Fee = model.Fee{} }, []string{
			"1e transaction:  | fee 4",
		}},
		"a transaction less": {func(b *model.Block, _ *model.Tx) { b.Txs = b.Txs[:2] }, []string{
			"number of transactions: 2 | 3",
			"1f not in the block: transaction:  | 1f",
			"1f not in the block: output 0:  | value 0",
			"1f not in the block: input 0 spends:  | 14:1",
		}},
		"a transaction more": {func(b *model.Block, _ *model.Tx) {
			b.Txs = append(b.Txs, model.Tx{Hash: hash(32), Outputs: make([]model.Output, 1)})
		}, []string{
			"number of transactions: 4 | 3",
			"20 transaction: 20 | missing",
			"20 transaction by hash: found | missing",
			"20 output 0: value 0 | missing",
		}},
		"another transaction": {func(b *model.Block, _ *model.Tx) { b.Txs[2].Hash = hash(99) }, []string{
			"63 transaction: 63 | 1f",
			"63 transaction by hash: found | missing",
		}},
		"value": {func(_ *model.Block, t *model.Tx) { t.Outputs[1].Value = 2 }, []string{
			"1e output 1: value 2 | value 1",
		}},
		"an output less": {func(_ *model.Block, t *model.Tx) { t.Outputs = t.Outputs[:1] }, []string{
			"1e not in the block: output 1:  | value 1",
		}},
		"an output more": {func(_ *model.Block, t *model.Tx) { t.Outputs = append(t.Outputs, model.Output{Value: 8}) }, []string{
			"1e output 2: value 8 | missing",
		}},
		"an address that is unknown": {func(_ *model.Block, t *model.Tx) { t.Outputs[0].Keys[0] = key(0, "z") }, []string{
			"1e output 0: address a7a | address a61",
			"1e address born in output 0: a7a | missing",
			"1e found by address: output 0: a7a | missing",
		}},
		"an address more": {func(_ *model.Block, t *model.Tx) { t.Outputs[1].Keys = []model.Key{key(0, "a")} }, []string{
			"1e output 1: address a61 |",
			"1e found by address: output 1: a61 | missing",
		}},
		"no address": {func(_ *model.Block, t *model.Tx) { t.Outputs[0].Keys = t.Outputs[0].Keys[1:] }, []string{
			"1e output 0:  | address a61",
		}},
		"labels in turn": {func(_ *model.Block, t *model.Tx) { k := t.Outputs[0].Keys; k[3], k[4] = k[4], k[3] }, []string{
			"1e output 0: value 6, address a61, tag t74, box b62, label l79, label l78 | value 6, address a61, tag t74, box b62, label l78, label l79",
			"1e label born in output 0: l79 | missing",
			"1e found by label: output 0: l79 | missing",
			"1e not in the block: label born in output 0:  | l79",
		}},
		"the box of another": {func(_ *model.Block, t *model.Tx) {
			t.Outputs[0].Keys = slices.Delete(t.Outputs[0].Keys, 2, 3)
			t.Outputs[1].Keys = []model.Key{key(2, "b")}
		}, []string{
			"1e output 0:  | box b62",
			"1e output 1: box b62 |",
			"1e box born in output 1: b62 | missing",
			"1e found by box: output 1: b62 | missing",
			"1e not in the block: box born in output 0:  | b62",
		}},
		"what an input spends": {func(_ *model.Block, t *model.Tx) { t.Inputs[1].Index = 4 }, []string{
			"validity of the block: valid | block 2 03: transaction 1e: input 1 spends unknown 02:4",
		}},
		"an input more": {func(_ *model.Block, t *model.Tx) { t.Inputs = append(t.Inputs, model.Input{Tx: hash(9)}) }, []string{
			"validity of the block: valid | block 2 03: transaction 1e: input 2 spends unknown 09:0",
		}},
		"an input less": {func(_ *model.Block, t *model.Tx) { t.Inputs = t.Inputs[:1] }, []string{
			"1e not in the block: input 1 spends:  | 02:0",
		}},
		"an amount": {func(_ *model.Block, t *model.Tx) { t.Outputs[0].Assets[0].Amount = 1 }, []string{
			"validity of the block: valid | block 2 03: transaction 1e: loses 1 of the asset born at 1/1/0/0 without a burn",
		}},
		"another asset": {func(_ *model.Block, t *model.Tx) { t.Outputs[0].Assets[0].ID = []byte("lead") }, []string{
			"validity of the block: valid | block 2 03: transaction 1e: loses 2 of the asset born at 1/1/0/0 without a burn",
		}},
		"a burn": {func(_ *model.Block, t *model.Tx) { t.Mints[0].Amount = big.NewInt(-4) }, []string{
			"validity of the block: valid | block 2 03: transaction 1e: creates 1 of the asset born at 1/1/0/0 without a mint",
		}},
		"no burn": {func(_ *model.Block, t *model.Tx) { t.Mints = nil }, []string{
			"1e not in the block: mint or burn of 676f6c64:  | -3",
		}},
		"a mint": {func(_ *model.Block, t *model.Tx) { t.Mints[0].Amount = big.NewInt(3) }, []string{
			"validity of the block: valid | block 2 03: transaction 1e: loses 6 of the asset born at 1/1/0/0 without a burn",
		}},
	} {
		blocks := byHand()
		c.change(blocks[2], &blocks[2].Txs[1])
		a := compare(t, db, shelve(blocks), everything)
		var got []string
		for _, d := range a.Differences {
			line := fmt.Sprintf("%s %s: %s | %s", d.Tx, d.What, d.Source, d.Database)
			got = append(got, strings.TrimSpace(strings.ReplaceAll(line, strings.Repeat("00", 31), "")))
			if d.Height != 2 {
				t.Errorf("%s: %s", what, text(d))
			}
		}
		if a.More != 0 || !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s, expected\n%s", what, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
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
	a := compare(t, db, shelve(append(blocks[:4:4], &other)), 0)
	if a.OK || len(a.Differences) != 100 || a.More != 150 {
		t.Errorf("%d differences and %d more", len(a.Differences), a.More)
	}
	for i, d := range a.Differences {
		if d.What != fmt.Sprintf("output %d", i) {
			t.Fatalf("difference %d is %s", i, text(d))
		}
	}
}
