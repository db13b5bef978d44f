package btcdtest

import (
	"testing"

	"birthmark/model"
)

// HashAt returns the hash of the best chain's block at a height.
func (n *Node) HashAt(t testing.TB, h model.HeightPk) model.Hash {
	t.Helper()
	var text string
	n.must(t, "getblockhash", &text, h)
	return parseHash(t, text)
}

// Fork replaces the last depth blocks (at least one) of the node's best chain by length others. The node first rolls
// back and then mines, so followers see a branch that is shorter than theirs at first.
func (n *Node) Fork(t testing.TB, depth, length int) []model.Hash {
	t.Helper()
	tip := n.Tip(t)
	if depth < 1 || depth > int(tip.Height) {
		t.Fatalf("a fork of depth %d of %d blocks", depth, tip.Height)
	}
	n.Invalidate(t, n.HashAt(t, tip.Height-model.HeightPk(depth)+1))
	shorter := min(depth-1, length)
	var mined []model.Hash
	for _, k := range []int{shorter, length - shorter} {
		if k > 0 { // btcd refuses to generate 0 blocks
			mined = append(mined, n.Generate(t, k)...)
		}
	}
	return mined
}
