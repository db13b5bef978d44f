package cli

import (
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

// forkDepths are depths of rollbacks of a Cardano node; its limit k is 2,160.
var forkDepths = []int{1, 10, 100, 2160}

// branches returns a chain, and for each depth a branch that forks that many blocks before its end.
func branches(t *testing.T) (main *branch, others map[int]*branch) {
	t.Helper()
	const blocks = 2200
	main, others = newBranch(), map[int]*branch{}
	for i := len(forkDepths) - 1; i >= 0; i-- {
		depth := forkDepths[i]
		main.mine(t, blocks-depth-len(main.blocks))
		others[depth] = main.fork(uint64(depth))
		others[depth].mine(t, depth+3)
	}
	main.mine(t, blocks-len(main.blocks))
	return main, others
}

// switchTo makes a node switch to a branch that has the given number of blocks in common with its chain.
func switchTo(n *ouroborostest.Node, b *branch, common int) { n.Switch(common, b.blocks[common:]...) }

// Databases at the tip of a node follow forks of any depth, there and back, and list the orphaned blocks.
func TestForksOfACardanoNodeAreFollowed(t *testing.T) {
	slow(t)
	t.Parallel()
	main, others := branches(t)
	network := main.network(t)
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, main.blocks)
	followers := map[string]*liveSync{}
	for side, source := range sides(n) {
		followers[side] = followInto(t, openGenerated(t, network), source, 0)
	}
	for _, depth := range forkDepths {
		for _, to := range []*branch{others[depth], main} {
			for _, f := range followers {
				cardanoTip(t, f, n)
			}
			old := n.Tip()
			lost := int(old.Number) + 1 - (len(main.blocks) - depth)
			switchTo(n, to, len(main.blocks)-depth)
			for side, f := range followers {
				cardanoTip(t, f, n)
				// The list begins with the newest fork, from its lowest block up to the former tip.
				forks, err := f.Forks(t.Context(), query.Page{Limit: query.MaxLimit})
				if err != nil {
					t.Fatal(err)
				}
				// The database lists the last 1,000 orphaned blocks.
				if all := forks.Forks; len(all) < min(lost, 1000) || all[0].Depth != lost || lost < len(all) && all[lost-1].Hash != model.Hash(old.Hash).String() {
					t.Errorf("%s, %d blocks deep: %d orphaned blocks are listed, not the last %d to %x", side, depth, len(all), lost, old.Hash)
				}
			}
		}
	}
	// The node rolls back to the origin and switches to another chain with the same genesis.
	n.Rollback(0)
	for side, f := range followers {
		until(t, side+" at the origin", func() bool { return f.Tip().IsOrigin() })
	}
	other := &branch{chain: cardanogen.New(cardanogen.Options{Seed: cardanoSeed, TxsPerBlock: 1}).Fork(7)}
	other.mine(t, 100)
	n.Extend(other.blocks...)
	for _, f := range followers {
		cardanoTip(t, f, n)
		if err := f.stop(); err != nil {
			t.Fatal(err)
		}
		fresh := openGenerated(t, network)
		syncInMemory(t, fresh, n.Unix())
		equal(t, f.DB, fresh)
	}
}

// The node switched to another branch between two syncs: its first message after the intersection is a rollback.
func TestACardanoNodeThatSwitchesBetweenTwoSyncs(t *testing.T) {
	slow(t)
	t.Parallel()
	main, others := branches(t)
	network := main.network(t)
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, main.blocks)
	dbs := map[string]*core.DB{}
	for side, source := range sides(n) {
		dbs[side] = openGenerated(t, network)
		syncInMemory(t, dbs[side], source)
	}
	for _, to := range []*branch{others[1], others[10], others[100], others[2160]} {
		n.Switch(0, to.blocks...)
		fresh := openGenerated(t, network)
		syncInMemory(t, fresh, n.TCP())
		for side, source := range sides(n) {
			syncInMemory(t, dbs[side], source)
			if got, want := dbs[side].Tip(), to.chain.Tip(); got != want {
				t.Errorf("%s: the tip is %v, expected %v", side, got, want)
			}
			equal(t, dbs[side], fresh)
		}
	}
	apart := &branch{chain: cardanogen.New(cardanogen.Options{Seed: cardanoSeed, TxsPerBlock: 1}).Fork(8)}
	apart.mine(t, 50)
	for side, db := range dbs {
		forks, err := db.Forks(t.Context(), query.Page{Limit: 1})
		if err != nil || len(forks.Forks) != 1 || forks.Forks[0].Depth != 2100+3-40+100 || forks.Forks[0].Height != 40 {
			t.Errorf("%s: %+v, %v", side, forks, err)
		}
		// A node without blocks, or with another first block, causes no rollback.
		before := dumpOf(t, db)
		n.Rollback(0)
		syncInMemory(t, db, sides(n)[side])
		n.Extend(apart.blocks...)
		src, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: sides(n)[side], Indexes: db.Indexes()})
		if err != nil {
			t.Fatal(err)
		}
		defer src.Close()
		if _, code := model.KindOf(core.Sync(t.Context(), db, src, core.SyncOptions{})); code != "wrong_chain" {
			t.Errorf("%s: %s, expected wrong_chain", side, code)
		}
		if string(dumpOf(t, db)) != string(before) {
			t.Errorf("%s: the database has changed", side)
		}
	}
}

// The node forks during the first sync, closes connections in the middle of a batch, stops and restarts: the final
// database does not depend on it.
func TestACardanoNodeThatRestartsIsFollowed(t *testing.T) {
	slow(t)
	main, others := branches(t)
	network := main.network(t)
	for _, side := range []string{"node to node", "node to client"} {
		t.Run(side, func(t *testing.T) {
			t.Parallel()
			n := ouroborostest.Start(t, cardanogen.DefaultMagic, main.blocks)
			source := sides(n)[side]
			n.CutAfter(150)
			f := followInto(t, openGenerated(t, network), source, 20)
			until(t, "blocks before the first cut", func() bool { return f.Tip().Height > 20 })
			n.CutAfter(200)
			switchTo(n, others[100], len(main.blocks)-100)
			until(t, "blocks after it", func() bool { return f.Tip().Height > 200 })
			n.Disconnect()
			switchTo(n, main, len(main.blocks)-100)
			cardanoTip(t, f, n)
			n.Stop()
			n.Switch(0, others[10].blocks...)
			if err := n.Restart(); err != nil {
				t.Fatal(err)
			}
			cardanoTip(t, f, n)
			switchTo(n, main, len(main.blocks)-10)
			cardanoTip(t, f, n)
			if err := f.stop(); err != nil {
				t.Fatal(err)
			}
			fresh := openGenerated(t, network)
			syncInMemory(t, fresh, source)
			equal(t, f.DB, fresh)
		})
	}
}
