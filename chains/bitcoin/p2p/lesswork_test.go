package p2p

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/blocksource"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// quickBrief has short timeouts and short periods.
func quickBrief(o *Options) {
	quick(o)
	withBrief(o)
}

// behindTheDatabase checks that no tip is returned, because of a peer.
func behindTheDatabase(t *testing.T, n *Network, f *fake, says string) {
	t.Helper()
	_, err := n.Tip(t.Context())
	if _, code := model.KindOf(err); code != "not_synced" || !blocksource.IsTemporary(err) ||
		!strings.Contains(err.Error(), f.address) || !strings.Contains(err.Error(), says) {
		t.Fatalf("%v, expected that the peers have %s", err, says)
	}
}

// A chain with less work than that of the database is not followed, at whatever height it forks. One with more work is.
func TestAChainWithLessWorkThanTheDatabasesIsNotFollowed(t *testing.T) {
	for _, depth := range []int{1, 2, 15, 30, 100, 297} {
		c := bitcointest.NewChain()
		c.MineEmpty(300)
		fork := c.Fork(300 - depth)
		fork.MineEmpty(depth - 1)
		f := newFake(t, fork.Blocks())
		n, j := open(t, databaseOf(c), quickBrief, f)
		says := "less work"
		if depth == 1 {
			says = "fewer blocks than the database" // its chain is ours
		}
		behindTheDatabase(t, n, f, says)
		fork.MineEmpty(1)
		f.extend(fork.Blocks())
		f.announce("headers", fork.Tip())
		until(t, "the chain of as much work", func() bool { // it arrived later than the database's
			tip, err := n.Tip(t.Context())
			return err == nil && tip == pointOf(300, c.Tip())
		})
		fork.MineEmpty(1)
		f.extend(fork.Blocks())
		f.announce("headers", fork.Tip())
		reaches(t, n, fork.Blocks())
		continues(t, n, fork, 301-depth)
		if line := j.line("a peer was dropped"); line != "" {
			t.Errorf("depth %d: %s", depth, line)
		}
	}
}

// Returned blocks are not rolled back for a chain with less work while their peer is disconnected.
func TestReturnedBlocksAreKeptWhileTheirPeerIsDisconnected(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(60)
	fork := c.Fork(60)
	fork.MineEmpty(20)
	c.MineEmpty(40)
	good, bad := newFake(t, c.Blocks()), newFake(t, fork.Blocks())
	var away atomic.Bool
	good.on = func(*session, wire.Message) bool { return away.Load() }
	n, j := open(t, nil, quick, good, bad)
	reaches(t, n, c.Blocks())
	continues(t, n, c, 1)

	away.Store(true)
	good.hangUp()
	until(t, "a word on it in the log", func() bool { return j.line("level=WARN", "less work") != "" })
	behindTheDatabase(t, n, bad, "less work")
	hashes, err := n.Hashes(t.Context(), 61, 100)
	if err != nil || len(hashes) != 40 || hashes[39] != model.Hash(c.Tip().BlockHash()) {
		t.Errorf("%d hashes from 61 on, %v: expected the returned ones", len(hashes), err)
	}
	away.Store(false)
	good.hangUp()
	reaches(t, n, c.Blocks())
	c.MineEmpty(1)
	good.extend(c.Blocks())
	good.announce("headers", c.Tip())
	reaches(t, n, c.Blocks())
}

// Hashes far below the tip of the database come from its headers, which are not downloaded again.
func TestHashesBelowTheBaseComeFromTheDatabase(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(5000)
	known := databaseOf(c)
	c.MineEmpty(3)
	f := newFake(t, c.Blocks())
	var sent atomic.Int64
	f.on = func(s *session, m wire.Message) bool {
		if ask, ok := m.(*wire.MsgGetHeaders); ok {
			sent.Add(int64(len(s.locate(ask.BlockLocatorHashes))))
		}
		return false
	}
	n, _ := open(t, known, quickBrief, f)
	continues(t, n, c, 5001)
	for _, h := range []int{4000, 2500, 1, 3333} {
		hashes, err := n.Hashes(t.Context(), model.HeightPk(h), 2)
		want := []model.Hash{model.Hash(c.Blocks()[h].BlockHash()), model.Hash(c.Blocks()[h+1].BlockHash())}
		if err != nil || !slices.Equal(hashes, want) {
			t.Errorf("block %d: %v, %v", h, hashes, err)
		}
	}
	if sent.Load() > 100 {
		t.Errorf("%d headers were sent", sent.Load())
	}
}
