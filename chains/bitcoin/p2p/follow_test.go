package p2p

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/blocksource"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// moves waits until the tip changes.
func moves(t *testing.T, n *Network, from model.Point) {
	t.Helper()
	if err := n.Changed(t.Context(), from); err != nil {
		t.Fatal(err)
	}
}

func TestNewBlocksAreAnnounced(t *testing.T) {
	for _, by := range []string{"headers", "inv"} {
		t.Run(by, func(t *testing.T) {
			c := spending(30)
			f := newFake(t, c.Blocks())
			n, _ := open(t, nil, nil, f)
			download(t, n, c.Blocks())
			asked := f.count(wire.CmdGetHeaders)
			for range 10 {
				tip := tipOf(t, n)
				b := c.Mine()
				f.extend(c.Blocks())
				f.announce(by, b)
				moves(t, n, tip)
				download(t, n, c.Blocks())
			}
			if by == "headers" && f.count(wire.CmdGetHeaders) != asked {
				t.Errorf("%d further requests for headers", f.count(wire.CmdGetHeaders)-asked)
			}
			if f.count(wire.CmdSendHeaders) != 1 {
				t.Error("sendheaders was not sent once")
			}
		})
	}
}

// If the parents of an announced block are unknown, they are requested.
func TestMissingParentsOfAnAnnouncedBlockAreRequested(t *testing.T) {
	c := spending(30)
	f := newFake(t, c.Blocks())
	n, j := open(t, nil, nil, f)
	tip := tipOf(t, n)
	c.MineEmpty(50)
	f.extend(c.Blocks())
	f.announce("headers", c.Tip())
	moves(t, n, tip)
	download(t, n, c.Blocks())
	if line := j.line("a peer was dropped"); line != "" {
		t.Error(line)
	}
}

func TestTheTipFollowsTheMostWork(t *testing.T) {
	for _, depth := range []int{1, 2, 10, 101, 500} {
		c := bitcointest.NewChain()
		c.MineEmpty(600)
		a, b := newFake(t, c.Blocks()), newFake(t, c.Blocks())
		n, _ := open(t, nil, nil, a, b)
		tip := tipOf(t, n)
		fork := c.Fork(600 - depth)
		fork.MineEmpty(depth)
		b.extend(fork.Blocks())
		b.announce("inv", fork.Tip()) // equal work: the first one stays
		b.announce("headers", fork.Blocks()[601-depth])
		until(t, "the branch to be loaded", func() bool {
			n.mu.Lock()
			defer n.mu.Unlock()
			hash := fork.Tip().BlockHash()
			return n.tree.find(&hash) != nil
		})
		if now := tipOf(t, n); now != tip {
			t.Errorf("depth %d: the tip went from %v to %v", depth, tip, now)
		}
		download(t, n, c.Blocks())
		fork.MineEmpty(1)
		b.extend(fork.Blocks())
		b.announce("headers", fork.Tip())
		moves(t, n, tip)
		download(t, n, fork.Blocks())
		if _, err := n.Raw(t.Context(), []model.Point{tip}, 1); !errors.Is(err, blocksource.ErrMoved) {
			t.Errorf("depth %d: a block of the lost branch: %v", depth, err)
		}
		tip = tipOf(t, n)
		c.MineEmpty(3)
		a.extend(c.Blocks())
		a.announce("headers", c.Tip())
		moves(t, n, tip)
		download(t, n, c.Blocks())
	}
}

// If only one peer has the newest blocks, they cannot be downloaded after it has disconnected.
func TestTheTipIsRevertedWhenItsPeerDisconnects(t *testing.T) {
	c := spending(40)
	longer := c.Fork(30)
	longer.MineEmpty(20)
	a, b := newFake(t, c.Blocks()), newFake(t, longer.Blocks())
	b.on = sendsBlocks(func(b *wire.MsgBlock) { b.Transactions[0].TxOut[0].Value++ })
	n, _ := open(t, nil, nil, a, b)
	tip := tipOf(t, n)
	if tip != pointOf(50, longer.Tip()) {
		t.Fatalf("the tip is %v", tip)
	}
	if _, err := n.Raw(t.Context(), pointsOf(longer.Blocks())[31:], 1<<20); !errors.Is(err, blocksource.ErrMoved) {
		t.Errorf("%v", err)
	}
	moves(t, n, tip)
	download(t, n, c.Blocks())
}

// A reorganization is announced while blocks of the old branch are requested.
func TestForkWhileBlocksAreRequested(t *testing.T) {
	c := spending(200)
	fork := c.Fork(100)
	fork.MineEmpty(150)
	f := newFake(t, c.Blocks())
	var once sync.Once
	f.on = func(s *session, m wire.Message) bool {
		if data, ok := m.(*wire.MsgGetData); ok && slices.ContainsFunc(data.InvList, func(v *wire.InvVect) bool { return v.Hash == c.Blocks()[150].BlockHash() }) {
			once.Do(func() {
				f.extend(fork.Blocks())
				f.announce("headers", fork.Blocks()[101:]...)
			})
		}
		return false
	}
	n, _ := open(t, nil, nil, f)
	tip := tipOf(t, n)
	points := pointsOf(c.Blocks())
	var running sync.WaitGroup
	for from := 1; from < len(points); from += 25 {
		running.Go(func() {
			at := points[from:min(from+25, len(points))]
			raws, err := n.Raw(t.Context(), at, 1<<20)
			if err != nil && !errors.Is(err, blocksource.ErrMoved) {
				t.Errorf("blocks from %d: %v", from, err)
			}
			for i, raw := range raws {
				if !bytes.Equal(raw, bitcointest.Bytes(c.Blocks()[from+i])) {
					t.Errorf("block %d differs", from+i)
				}
			}
		})
	}
	running.Wait()
	moves(t, n, tip)
	download(t, n, fork.Blocks())
}

func TestReconnectedPeerIsFollowed(t *testing.T) {
	c := spending(30)
	f := newFake(t, c.Blocks())
	n, _ := open(t, nil, nil, f)
	for range 5 {
		tip := tipOf(t, n)
		c.MineEmpty(3)
		f.extend(c.Blocks())
		f.hangUp()
		moves(t, n, tip)
		until(t, "the peer to be back", func() bool { _, err := n.Tip(t.Context()); return err == nil })
		download(t, n, c.Blocks())
	}
}

// A call stops at its limit, returns at least one block, and stores only requested ones.
func TestACallStopsAtItsLimit(t *testing.T) {
	r := testseed.Rand(t)
	c := spending(300)
	f := newFake(t, c.Blocks())
	n, _ := open(t, nil, nil, f)
	tipOf(t, n)
	points := pointsOf(c.Blocks())
	for range 60 {
		from := r.IntN(300)
		to := from + 1 + r.IntN(300-from)
		limit := r.Int64N(20_000)
		raws, err := n.Raw(t.Context(), points[from:to], limit)
		if err != nil || len(raws) == 0 {
			t.Fatalf("%d to %d, %d bytes: %d blocks, %v", from, to, limit, len(raws), err)
		}
		size := int64(0)
		for i, raw := range raws {
			if i > 0 && size >= limit+1000 {
				t.Fatalf("%d to %d: %d blocks with more than %d bytes", from, to, len(raws), limit)
			}
			if !bytes.Equal(raw, bitcointest.Bytes(c.Blocks()[from+i])) {
				t.Fatalf("block %d differs", from+i)
			}
			size += int64(len(raw))
		}
		if size < limit && len(raws) < to-from {
			t.Fatalf("%d to %d: %d blocks with %d bytes of %d", from, to, len(raws), size, limit)
		}
	}
}

// If blocks arrive in another order than requested, their size is at most twice the limit and one block.
func TestBlocksInReverseOrderAreLimited(t *testing.T) {
	c := spending(100)
	f := newFake(t, c.Blocks())
	f.on = func(s *session, m wire.Message) bool {
		data, ok := m.(*wire.MsgGetData)
		if ok {
			slices.Reverse(data.InvList)
		}
		return false
	}
	n, _ := open(t, nil, nil, f)
	tipOf(t, n)
	const limit = 3000
	f1 := newFetch(pointsOf(c.Blocks())[1:], limit)
	raws, err := n.fetch(t.Context(), f1)
	if err != nil || len(raws) == 0 {
		t.Fatal(err)
	}
	if f1.size > 2*limit+1000 {
		t.Errorf("%d bytes were held for a limit of %d", f1.size, limit)
	}
	for i, raw := range raws {
		if !bytes.Equal(raw, bitcointest.Bytes(c.Blocks()[1+i])) {
			t.Fatalf("block %d differs", 1+i)
		}
	}
}

// Several calls for the same block send one request.
func TestCallsForTheSameBlocksAreAnsweredTogether(t *testing.T) {
	c := spending(50)
	f := newFake(t, c.Blocks())
	var mu sync.Mutex
	asked := map[chainhash.Hash]int{}
	gate := make(chan bool)
	f.on = func(_ *session, m wire.Message) bool {
		if data, ok := m.(*wire.MsgGetData); ok {
			mu.Lock()
			for _, v := range data.InvList {
				asked[v.Hash]++
			}
			mu.Unlock()
			<-gate
		}
		return false
	}
	n, _ := open(t, nil, nil, f)
	tipOf(t, n)
	var running sync.WaitGroup
	for range 5 {
		running.Go(func() {
			raws, err := n.Raw(t.Context(), pointsOf(c.Blocks())[10:20], 1<<20)
			if err != nil || len(raws) != 10 {
				t.Errorf("%d blocks, %v", len(raws), err)
			}
		})
	}
	until(t, "all of them to wait", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		for r := range n.remotes {
			return len(r.wanted[c.Blocks()[19].BlockHash()]) == 5
		}
		return false
	})
	close(gate)
	running.Wait()
	if hash := c.Blocks()[15].BlockHash(); asked[hash] != 1 {
		t.Errorf("a block was requested %d times", asked[hash])
	}
}

// After a call was cancelled, its blocks may still arrive. Peers that send them do not misbehave.
func TestCancelledCallLeavesNoState(t *testing.T) {
	c := spending(100)
	f := newFake(t, c.Blocks())
	gate := make(chan bool)
	f.on = func(_ *session, m wire.Message) bool {
		if m.Command() == wire.CmdGetData {
			<-gate
		}
		return false
	}
	n, j := open(t, nil, nil, f)
	tipOf(t, n)
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error)
	go func() { _, err := n.Raw(ctx, pointsOf(c.Blocks())[1:60], 1<<20); end <- err }()
	until(t, "a request for blocks", func() bool { return f.count(wire.CmdGetData) > 0 })
	cancel()
	if err := <-end; !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	close(gate)
	download(t, n, c.Blocks())
	if line := j.line("a peer was dropped"); line != "" {
		t.Error(line)
	}
}
