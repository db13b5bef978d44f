package kupo_test

import (
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// branch returns n more blocks of a generated chain.
func branch(t testing.TB, c *cardanogen.Chain, n int) []ouroborostest.Block {
	t.Helper()
	raws := make([][]byte, n)
	for i := range raws {
		raws[i] = c.Next().Raw
	}
	blocks, err := ouroborostest.Blocks(raws...)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// Matches equal those of the model after each reorganization of a generated chain, which has failed transactions, many
// assets per output, and redeemers.
func TestMatchesThroughForks(t *testing.T) {
	rng := testseed.Rand(t)
	c := cardanogen.New(cardanogen.Options{Seed: rng.Uint64(), TxsPerBlock: 10, AllParts: true})
	dir := t.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dir, true)
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, branch(t, c, 40))
	verify := func() {
		tip := n.Tip()
		w.sync(t, n.TCP(), model.HeightPk(tip.Number))
		if got := w.naive.blocks[len(w.naive.blocks)-1].Hash; got != tip.Hash {
			t.Fatalf("the database is at %s, the node at %x", got, tip.Hash)
		}
		w.verify(t, rng, testrun.Amount(40, 20))
	}
	for range testrun.Amount(5, 2) {
		fork, depth, common := c.Fork(rng.Uint64()), 1+rng.IntN(20), len(w.naive.blocks)
		if common == 0 {
			common = 40
		}
		n.Extend(branch(t, c, depth)...)
		verify()
		n.Switch(common, branch(t, fork, depth+1)...)
		verify()
		c = fork
	}
}
