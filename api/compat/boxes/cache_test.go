package boxes

import (
	"testing"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// A cached block and a cached birth of a token are used only if the chain of the view has the block: after a
// reorganization, the same height has another block, or no block.
func TestCachedBlocksAreThoseOfTheChain(t *testing.T) {
	const height, orphaned, current = 2, 7, 8
	at, err := model.NarrowPointers.Tx(height, 3)
	if err != nil {
		t.Fatal(err)
	}
	out, err := at.Utxo(1)
	if err != nil {
		t.Fatal(err)
	}
	c := &Chain{}
	c.blocks.Max, c.mintings.Max = 1<<20, 1<<20
	c.blocks.Size = (*Block).memory
	old := minting{model.AssetBirthPk{Utxo: out}, orphaned}
	c.blocks.Put(blockKey{height, orphaned}, &Block{Height: height})
	c.mintings.Put(sigma.ID{1}, old)
	for _, test := range []struct {
		name    string
		numbers []number
		has     bool
	}{
		{"the block", []number{{id: 1}, {id: orphaned}, {id: 3}}, true},
		{"another block", []number{{id: 1}, {id: current}}, false},
		{"a shorter chain", []number{{id: 1}}, false},
		{"not counted", nil, false},
	} {
		v := &View{chain: c, numbers: test.numbers, blocks: map[model.HeightPk]*Block{}}
		if got := v.has(old); got != test.has {
			t.Errorf("%s: the birth is taken from memory: %t, expected %t", test.name, got, test.has)
		}
		if !test.has {
			continue
		}
		if b, err := v.Block(height); err != nil || b.Height != height { // it would fail without a database
			t.Errorf("%s: %v, %v", test.name, b, err)
		}
	}
}
