package cardanogen

import (
	"bytes"
	"math"
	"testing"

	"birthmark/bench/generate/distribution"
	"birthmark/internal/testseed"
)

func TestSeedDeterminesTheBlocks(t *testing.T) {
	s := testseed.New(t)
	a, b, other := New(Options{Seed: s}), New(Options{Seed: s}), New(Options{Seed: s + 1})
	if !bytes.Equal(a.Genesis().Shelley, b.Genesis().Shelley) || bytes.Equal(a.Genesis().Shelley, other.Genesis().Shelley) {
		t.Error("the genesis depends on more than the seed")
	}
	for range 50 {
		x, y, z := a.Next(), b.Next(), other.Next()
		if !bytes.Equal(x.Raw, y.Raw) {
			t.Fatalf("block %d differs", x.Height)
		}
		if bytes.Equal(x.Raw, z.Raw) {
			t.Fatalf("block %d is the same with another seed", x.Height)
		}
	}
}

// A fork does not change its original, and forks of the same block with the same seed are equal.
func TestForksShareTheirPast(t *testing.T) {
	s := testseed.New(t)
	c, plain := New(Options{Seed: s}), New(Options{Seed: s})
	for range 40 {
		c.Next()
		plain.Next()
	}
	forks, common := []*Chain{c.Fork(1), c.Fork(2), c.Fork(1)}, c.Tip()
	for i := range 40 {
		expected := plain.Next()
		var blocks []Block
		for _, f := range forks {
			blocks = append(blocks, f.Next())
		}
		if b := c.Next(); !bytes.Equal(b.Raw, expected.Raw) {
			t.Fatalf("block %d changes when the chain is forked", b.Height)
		}
		if !bytes.Equal(blocks[0].Raw, blocks[2].Raw) || bytes.Equal(blocks[0].Raw, blocks[1].Raw) || bytes.Equal(blocks[0].Raw, expected.Raw) {
			t.Fatalf("block %d of equal forks differs", blocks[0].Height)
		}
		if i == 0 && (blocks[0].Height != expected.Height || !bytes.Contains(blocks[0].Raw, common.Hash[:])) {
			t.Errorf("the fork continues with block %d, which is not a child of %s", blocks[0].Height, common.Hash)
		}
	}
}

func TestTxsPerBlock(t *testing.T) {
	c := New(Options{Seed: testseed.New(t)})
	for _, n := range []int{0, 1, 7, 100, 0} {
		if b := c.NextOf(n); b.Txs != n || b.Blocks != 1 || b.Bytes != len(b.Raw) {
			t.Errorf("%+v, expected %d transactions", b.Counts, n)
		}
	}
	if m := c.Made(); m.Txs != 108 || m.Blocks != 5 || c.Tip().Height != 4 {
		t.Errorf("%+v", m)
	}
}

// The means of the draws approach mainnet's. The deviation depends on the seed.
func TestShapeMatchesMainnet(t *testing.T) {
	c := New(Options{Seed: testseed.New(t)})
	holding, outputs := 0, 0
	picks := distribution.NewRandom(1, 1)
	newest := func(distribution.Random) int { return 1 } // age relative to the next block
	for c.Made().Txs < 60_000 {
		c.Next()
		if c.Made().Txs < 10_000 { // skip the time before assets are minted
			continue
		}
		for range 10 {
			if p, ok := c.unspent.Find(picks, newest); ok {
				outputs++
				if len(c.unspent.At(p).assets) > 0 {
					holding++
				}
			}
		}
	}
	m := c.Made()
	txs := float64(m.Txs)
	for what, figures := range map[string][3]float64{
		"transactions a block":    {txs / float64(m.Blocks), 6.5, 0.5},
		"inputs":                  {float64(m.Inputs) / txs, 3.05, 0.3},
		"outputs":                 {float64(m.Outputs) / txs, 3.14, 0.3},
		"assets of outputs":       {float64(m.Assets) / txs, 9.6, 1.5},
		"bytes":                   {float64(m.Bytes) / txs, 1439, 140},
		"share of outputs":        {float64(holding) / float64(outputs), 0.45, 0.1},
		"failed transactions (%)": {100 * float64(m.Failed) / txs, 100 * failedShare, 0.2},
	} {
		if math.Abs(figures[0]-figures[1]) > figures[2] {
			t.Errorf("%s: %.3f, expected %.3f ± %.3f", what, figures[0], figures[1], figures[2])
		}
	}
	if m.Mints == 0 || m.Mints > m.Txs {
		t.Errorf("%d mints and burns in %d transactions", m.Mints, m.Txs)
	}
}
