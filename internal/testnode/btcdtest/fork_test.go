package btcdtest_test

import (
	"slices"
	"testing"

	"birthmark/internal/testnode/btcdtest"
	"birthmark/model"
)

func TestForkReplacesTheLastBlocks(t *testing.T) {
	const had = 30
	n := btcdtest.Start(t)
	chain := n.Generate(t, had)
	for _, f := range []struct{ depth, length int }{{1, 2}, {7, 9}, {3, 1}, {5, 5}, {2, 0}} {
		mined := n.Fork(t, f.depth, f.length)
		if len(mined) != f.length {
			t.Fatalf("%+v: %d blocks were mined", f, len(mined))
		}
		kept := len(chain) - f.depth
		for i := range min(f.depth, f.length) {
			if mined[i] == chain[kept+i] {
				t.Errorf("%+v: block %d was not replaced", f, kept+i+1)
			}
		}
		chain = append(slices.Clone(chain[:kept]), mined...)
		if tip := n.Tip(t); int(tip.Height) != len(chain) || tip.Hash != chain[len(chain)-1] {
			t.Fatalf("%+v: the tip is %v, the chain has %d blocks", f, tip, len(chain))
		}
		for i, h := range chain {
			if at := n.HashAt(t, model.HeightPk(i+1)); at != h {
				t.Fatalf("%+v: block %d is %x, not %x", f, i+1, at, h)
			}
		}
	}
}
