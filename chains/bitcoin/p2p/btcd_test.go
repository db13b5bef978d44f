package p2p

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/blocksource"
	"birthmark/internal/testnode/btcdtest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// blocksOf returns the chain of a node by height over its RPC.
func blocksOf(t testing.TB, node *btcdtest.Node) []*wire.MsgBlock {
	t.Helper()
	var all []*wire.MsgBlock
	for _, raw := range node.Blocks(t) {
		b := &wire.MsgBlock{}
		if err := b.Deserialize(bytes.NewReader(raw)); err != nil {
			t.Fatal(err)
		}
		all = append(all, b)
	}
	return all
}

func named(peers ...string) func(*Options) {
	return func(o *Options) { o.Peers, o.Stall, o.Most = peers, time.Second, 100*time.Millisecond }
}

// settles waits until the network's tip is the node's.
func settles(t *testing.T, n *Network, node *btcdtest.Node) {
	t.Helper()
	for {
		tip, err := n.Tip(t.Context())
		if err != nil && !blocksource.IsTemporary(err) {
			t.Fatal(err)
		}
		if err == nil && tip == node.Tip(t) {
			return
		}
		if err == nil {
			err = n.Changed(t.Context(), tip)
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond)
		}
	}
}

func TestBtcdIsFollowed(t *testing.T) {
	testrun.Slow(t)
	node := btcdtest.Start(t)
	n, _ := open(t, nil, named(node.P2P))
	if tip := tipOf(t, n); tip != pointOf(0, regtest.GenesisBlock) {
		t.Errorf("the tip of a node without blocks is %v", tip)
	}
	node.Generate(t, 150)
	settles(t, n, node)
	download(t, n, blocksOf(t, node))
	for range 5 {
		node.Generate(t, 1)
		settles(t, n, node)
	}
	for _, depth := range []int{1, 7, 40} {
		lost := blocksOf(t, node)
		node.Invalidate(t, model.Hash(lost[len(lost)-depth].BlockHash()))
		node.Generate(t, depth+2)
		settles(t, n, node)
		download(t, n, blocksOf(t, node))
	}
	tip := tipOf(t, n)
	node.Kill(t)
	if err := n.Changed(t.Context(), tip); !blocksource.IsTemporary(err) {
		t.Errorf("a node that was killed: %v", err)
	}
	node.Restart(t)
	node.Generate(t, 3)
	settles(t, n, node)
	download(t, n, blocksOf(t, node))
}

func TestTwoBtcdsAreFollowed(t *testing.T) {
	testrun.Slow(t)
	a, b := btcdtest.Start(t), btcdtest.Start(t)
	a.Generate(t, 120)
	b.Submit(t, blocksOf(t, a)[1:]...) // they are no peers of each other
	n, j := open(t, nil, named(a.P2P, b.P2P))
	settles(t, n, a)
	download(t, n, blocksOf(t, a))
	a.Generate(t, 3)
	settles(t, n, a)
	b.Generate(t, 6)
	settles(t, n, b)
	download(t, n, blocksOf(t, b))
	for line := range strings.Lines(j.String()) {
		if strings.Contains(line, "level=WARN") && !strings.Contains(line, "sent no block") { // the machine can be slow
			t.Error(line)
		}
	}
	b.Kill(t) // and with it its chain: the other chain is followed when it has more work
	until(t, "the loss of the connection", func() bool { return j.line("a peer was dropped", b.P2P) != "" })
	until(t, "the error of a chain with less work", func() bool {
		_, err := n.Tip(t.Context())
		if !blocksource.IsTemporary(err) {
			t.Fatalf("with the shorter chain alone: %v", err)
		}
		return strings.Contains(err.Error(), "less work")
	})
	a.Generate(t, 5)
	until(t, "the chain of the other", func() bool {
		tip, err := n.Tip(t.Context())
		return err == nil && tip == a.Tip(t)
	})
	download(t, n, blocksOf(t, a))
}

// BenchmarkBtcd measures downloading the chain of a real node.
func BenchmarkBtcd(b *testing.B) {
	node := btcdtest.Start(b)
	node.Generate(b, 2000)
	points := pointsOf(blocksOf(b, node))
	for b.Loop() {
		n, err := New(Options{Params: regtest, Peers: []string{node.P2P}})
		if err != nil {
			b.Fatal(err)
		}
		n.Start(0)
		if _, err := n.Tip(b.Context()); err != nil {
			b.Fatal(err)
		}
		var running sync.WaitGroup
		for w := range 6 {
			running.Go(func() {
				for at := w * 200; at < len(points); at += 6 * 200 {
					for from, to := at, min(at+200, len(points)); from < to; {
						raws, err := n.Raw(b.Context(), points[from:to], 1<<20)
						if err != nil {
							b.Error(err)
							return
						}
						from += len(raws)
					}
				}
			})
		}
		running.Wait()
		if err := n.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(2000*float64(b.N)/b.Elapsed().Seconds(), "blocks/s")
}
