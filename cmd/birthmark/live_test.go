package main

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/btcdtest"
	"birthmark/core"
	"birthmark/model"
	"birthmark/storage/memory"
)

// fork makes the node replace its last blocks by others: at first by fewer than there were, then by more.
func fork(t *testing.T, node *btcdtest.Node, depth, length int) {
	t.Helper()
	tip := node.Tip(t)
	lost, err := node.Client.GetBlockHash(int64(tip.Height) - int64(depth) + 1)
	if err != nil {
		t.Fatal(err)
	}
	node.Invalidate(t, model.Hash(*lost))
	if depth > 1 {
		node.Generate(t, depth-1)
		length -= depth - 1
	}
	time.Sleep(50 * time.Millisecond) // whoever follows may see the shorter branch, or not
	node.Generate(t, length)
}

// follower is a database in memory that follows a source.
type follower struct {
	*core.DB
	stop func() error
}

func openRegtest(t *testing.T) *core.DB {
	t.Helper()
	chain, err := bitcoin.New("regtest")
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Indexes: []string{"address", "script_hash"}, CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func follow(t *testing.T, source string, weight int) *follower {
	t.Helper()
	db := openRegtest(t)
	src, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: source, Indexes: db.Indexes(), Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- core.Sync(ctx, db, src, core.SyncOptions{WindowWeight: weight}) }()
	stopped := false
	f := &follower{db, func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		err := <-ended
		if errors.Is(err, context.Canceled) {
			err = nil
		}
		return errors.Join(err, src.Close())
	}}
	t.Cleanup(func() {
		if err := f.stop(); err != nil {
			t.Error(err)
		}
	})
	return f
}

// reaches waits until the database's tip is the node's.
func (f *follower) reaches(t *testing.T, node *btcdtest.Node) {
	t.Helper()
	until(t, "the node's tip", func() bool { return f.Tip().Hash == node.Tip(t).Hash })
}

// isFresh fails where the database is not what a sync of the node's blocks makes of a new one.
func (f *follower) isFresh(t *testing.T, node *btcdtest.Node) {
	t.Helper()
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	fresh := openRegtest(t)
	src, err := fresh.Chain().Open(t.Context(), model.SourceOptions{URI: node.URL(), Indexes: fresh.Indexes()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), fresh, src, core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	if string(dumpOf(t, f.DB)) != string(dumpOf(t, fresh)) {
		t.Error("the database that followed differs from one that was synced anew")
	}
	a, err := f.Check(t.Context(), nil)
	if err != nil || !a.OK {
		t.Errorf("check: %+v, %v", a, err)
	}
}

// Trap 4: forks of any depth on a real node, the branch shorter than ours at first, over RPC and from a peer.
func TestForksOfANodeAreFollowed(t *testing.T) {
	for _, depth := range []int{1, 2, 10, 101, 500} {
		for _, way := range []string{"rpc", "p2p"} {
			t.Run(fmt.Sprintf("%d over %s", depth, way), func(t *testing.T) {
				t.Parallel()
				node := btcdtest.Start(t)
				node.Generate(t, depth+20)
				source := node.URL()
				if way == "p2p" {
					source = "p2p://" + node.P2P
				}
				f := follow(t, source, 0)
				f.reaches(t, node)
				old := node.Tip(t)
				fork(t, node, depth, depth+3)
				f.reaches(t, node)
				forks, err := f.Forks(t.Context(), core.Page{Limit: core.MaxLimit})
				if err != nil {
					t.Fatal(err)
				}
				// Newest fork first, each from its lowest block up to what was the tip.
				if len(forks.Forks) != depth || forks.Forks[depth-1].Hash != f.Chain().FormatHash(old.Hash) {
					t.Errorf("%d lost blocks are remembered, %d were lost, the last of them %s", len(forks.Forks), depth, f.Chain().FormatHash(old.Hash))
				}
				f.isFresh(t, node)
			})
		}
	}
}

// The node forks while its first blocks are still on their way, windows small.
func TestForksInTheMiddleOfASyncAreFollowed(t *testing.T) {
	for _, way := range []string{"rpc", "p2p"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			node := btcdtest.Start(t)
			node.Generate(t, 2000)
			source := node.URL()
			if way == "p2p" {
				source = "p2p://" + node.P2P
			}
			f := follow(t, source, 40)
			for range 4 {
				fork(t, node, 300, 310)
			}
			f.reaches(t, node)
			f.isFresh(t, node)
		})
	}
}

// A node that is killed and comes back is waited for.
func TestANodesRestartIsSurvived(t *testing.T) {
	for _, way := range []string{"rpc", "p2p"} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			node := btcdtest.Start(t)
			node.Generate(t, 1500)
			source := node.URL()
			if way == "p2p" {
				source = "p2p://" + node.P2P
			}
			f := follow(t, source, 40)
			until(t, "the first blocks", func() bool { return f.Tip().Height > 0 })
			node.Kill(t)
			node.Restart(t)
			node.Generate(t, 5)
			f.reaches(t, node)
			f.isFresh(t, node)
		})
	}
}
