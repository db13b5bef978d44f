package p2p

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/blocksource"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// brief is regtest with difficulty periods of ten blocks, so that the base is 20 blocks below the tip of the database
// instead of 4032.
func brief() *chaincfg.Params {
	p := *regtest
	p.TargetTimePerBlock, p.TargetTimespan = 10*time.Minute, 100*time.Minute
	return &p
}

func withBrief(o *Options) { o.Params = brief() }

// database has the headers of a chain.
type database struct {
	top    int
	header Headers
}

// databaseOf returns a database with the blocks that a chain has now.
func databaseOf(c *bitcointest.Chain) *database {
	blocks := c.Blocks()
	return &database{len(blocks) - 1, func(h model.HeightPk) ([]byte, error) {
		if int(h) >= len(blocks) {
			return nil, nil
		}
		return bitcointest.Bytes(blocks[h])[:80], nil
	}}
}

func (n *Network) baseHeight() int32 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.tree.base.height
}

// continues checks that the blocks of the chain are returned, starting at a height.
func continues(t *testing.T, n *Network, c *bitcointest.Chain, from int) {
	t.Helper()
	want := c.Blocks()
	if tip := tipOf(t, n); tip != pointOf(len(want)-1, c.Tip()) {
		t.Fatalf("the tip is %d, expected %d", tip.Height, len(want)-1)
	}
	hashes, err := n.Hashes(t.Context(), model.HeightPk(from), len(want))
	if err != nil || len(hashes) != len(want)-from {
		t.Fatalf("%d hashes from %d, %v", len(hashes), from, err)
	}
	raws, err := n.Raw(t.Context(), pointsOf(want)[from:], 1<<30)
	if err != nil || len(raws) != len(hashes) {
		t.Fatalf("%d blocks from %d, %v", len(raws), from, err)
	}
	for i, raw := range raws {
		if hashes[i] != model.Hash(want[from+i].BlockHash()) || string(raw) != string(bitcointest.Bytes(want[from+i])) {
			t.Fatalf("block %d differs", from+i)
		}
	}
}

func TestHeadersOfTheDatabaseAreNotDownloadedAgain(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(5000)
	known := databaseOf(c)
	c.MineEmpty(30)
	f := newFake(t, c.Blocks())
	sent := 0
	f.on = func(s *session, m wire.Message) bool {
		if ask, ok := m.(*wire.MsgGetHeaders); ok {
			f.mu.Lock()
			defer f.mu.Unlock()
			for _, hash := range ask.BlockLocatorHashes {
				if i := slices.Index(f.chain, f.blocks[*hash]); i >= 0 {
					sent += min(len(f.chain)-1-i, 2000)
					break
				}
			}
		}
		return false
	}
	n, _ := open(t, known, withBrief, f)
	continues(t, n, c, 5001)
	if base := n.baseHeight(); base > 4980 || base < 4900 || sent > 150 {
		t.Errorf("the base is %d, %d headers were sent", base, sent)
	}
	for _, k := range pointsOf(c.Blocks()[:5000]) { // a fork point is found without other headers
		hashes, err := n.Hashes(t.Context(), k.Height, 1)
		if err != nil || len(hashes) != 1 || hashes[0] != k.Hash {
			t.Errorf("block %d is %v, %v", k.Height, hashes, err)
		}
	}
	if base := n.baseHeight(); base < 4900 {
		t.Errorf("the base has gone down to %d", base)
	}
	old := pointOf(1, c.Blocks()[1])
	raws, err := n.Raw(t.Context(), []model.Point{old}, 0)
	if err != nil || string(raws[0]) != string(bitcointest.Bytes(c.Blocks()[old.Height])) {
		t.Errorf("block %d, which the database knows: %v", old.Height, err)
	}
	continues(t, n, c, 17) // a block far below: headers are loaded from there on
	if base := n.baseHeight(); base > 17 {
		t.Errorf("the base is %d", base)
	}
}

// With real periods, and a chain of the required length.
func TestBaseIsTwoPeriodsBelow(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(9000)
	known := databaseOf(c)
	fork := c.Fork(8000)
	fork.MineEmpty(1001)
	f := newFake(t, fork.Blocks())
	n, _ := open(t, known, nil, f)
	continues(t, n, fork, 8001)
	if base := n.baseHeight(); base > 9000-2*2016 || base < 3000 {
		t.Errorf("the base is %d", base)
	}
}

func TestAForkBelowTheDatabasesTipIsFollowed(t *testing.T) {
	for _, depth := range []int{1, 5, 10, 14, 20, 30, 50, 100, 150, 299, 300} {
		c := bitcointest.NewChain()
		c.MineEmpty(300)
		known := databaseOf(c)
		fork := c.Fork(300 - depth)
		fork.MineEmpty(depth + 1)
		f := newFake(t, fork.Blocks())
		n, j := open(t, known, withBrief, f)
		continues(t, n, fork, 301-depth)
		if deep := j.line("headers are loaded again") != ""; deep && depth <= 10 || !deep && depth > 50 {
			t.Errorf("depth %d: headers were loaded again: %v", depth, deep)
		}
		if line := j.line("a peer was dropped"); line != "" {
			t.Errorf("depth %d: %s", depth, line)
		}
	}
}

// A header above the tip of the database with a wrong difficulty is rejected.
func TestHeadersAboveTheDatabaseAreValidated(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(300)
	known := databaseOf(c)
	fork := c.Fork(295)
	fork.MineEmpty(20)
	f := newFake(t, fork.Blocks())
	f.on = sendsHeaders(func(all []*wire.MsgBlock) []*wire.MsgBlock {
		last := all[len(all)-1]
		last.Header.Bits--
		bitcointest.Work(last)
		return all
	})
	n, _ := open(t, known, withBrief, f)
	_, err := n.Tip(t.Context())
	if _, code := model.KindOf(err); code != "bad_peer" || !strings.Contains(err.Error(), "difficulty") {
		t.Errorf("%v", err)
	}
}

// If the peers have fewer blocks than the database, no blocks are removed until the peers have them.
func TestPeersBehindTheDatabaseDoNotRemoveBlocks(t *testing.T) {
	for _, height := range []int{0, 5, 150, 285, 299} {
		c := bitcointest.NewChain()
		c.MineEmpty(300)
		f := newFake(t, c.Blocks()[:height+1])
		n, j := open(t, databaseOf(c), quickBrief, f)
		_, err := n.Tip(t.Context())
		if _, code := model.KindOf(err); code != "not_synced" || !blocksource.IsTemporary(err) || !strings.Contains(err.Error(), f.address) {
			t.Fatalf("a peer of height %d: %v", height, err)
		}
		c.MineEmpty(2)
		f.extend(c.Blocks())
		f.announce("headers", c.Tip())
		reaches(t, n, c.Blocks())
		continues(t, n, c, 301)
		if line := j.line("a peer was dropped"); line != "" {
			t.Errorf("height %d: %s", height, line)
		}
	}
}

// A peer with fewer blocks, or with a chain that forks far below the tip, does not delay the other peers.
func TestPeersOfOtherChainsDoNotDelayTheDatabase(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(300)
	known := databaseOf(c)
	c.MineEmpty(20)
	other := c.Fork(3)
	other.MineEmpty(250)
	n, j := open(t, known, withBrief, newFake(t, c.Blocks()), newFake(t, c.Blocks()[:100]), newFake(t, other.Blocks()))
	continues(t, n, c, 301)
	if line := j.line("level=WARN"); line != "" {
		t.Error(line)
	}
	longer := newFake(t, nil)
	other.MineEmpty(100)
	longer.extend(other.Blocks())
	n, _ = open(t, known, withBrief, newFake(t, c.Blocks()), longer)
	until(t, "the chain with more work", func() bool { return tipOf(t, n) == pointOf(other.Height(), other.Tip()) })
	continues(t, n, other, 4)
}

// The chain with the most work is found for random databases and random peers.
func TestTheMostWorkIsFoundFromAnyBase(t *testing.T) {
	r := testseed.Rand(t)
	for range testrun.Amount(25, 5) {
		c := bitcointest.NewChain()
		c.MineEmpty(50 + r.IntN(400))
		known := databaseOf(c)
		best := c
		var fakes []*fake
		for range 1 + r.IntN(4) {
			fork := c.Fork(r.IntN(c.Height() + 1))
			fork.MineEmpty(r.IntN(400))
			fakes = append(fakes, newFake(t, fork.Blocks()))
			if len(fakes) == 1 || fork.Height() > best.Height() {
				best = fork
			}
		}
		if best.Height() <= c.Height() {
			best.MineEmpty(c.Height() + 1 - best.Height())
			fakes = append(fakes, newFake(t, best.Blocks()))
		}
		n, j := open(t, known, withBrief, fakes...)
		want := pointOf(best.Height(), best.Tip())
		until(t, "the chain with the most work", func() bool {
			tip, err := n.Tip(t.Context())
			if err != nil && !blocksource.IsTemporary(err) {
				t.Fatal(err)
			}
			return tip.Height == want.Height
		})
		// A peer with less work may be the only one for longer than the wait for others.
		if line := j.line("level=WARN"); line != "" && !strings.Contains(line, "less work than the database's") {
			t.Error(line)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
}
