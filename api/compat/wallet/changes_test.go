package wallet_test

import (
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"birthmark/api/compat/wallet"
	"birthmark/internal/testseed"
)

func testRand(t testing.TB) *rand.Rand { return testseed.Rand(t) }

// Every script whose history differs between two events is touched. Without a mempool no other script is touched.
func TestChangesNameTheTouchedScripts(t *testing.T) {
	t.Run("chain", func(t *testing.T) { testChanges(t, func(*rig) {}) })
	t.Run("mempool", func(t *testing.T) { testChanges(t, func(r *rig) { r.pending = true }) })
}

func testChanges(t *testing.T, adapt func(*rig)) {
	r := newRig(t, adapt)
	r.step(t)
	next, stop := iter.Pull(r.wallet.Changes(t.Context()))
	defer stop()
	first, ok := next()
	if !ok || first.Tip != r.db.Tip() || !first.NewTip || !first.All || len(first.Header) != 80 {
		t.Fatalf("first event %+v, expected all scripts and the tip %v", first, r.db.Tip())
	}
	all, extra := 0, 0
	for range 20 {
		before := newNaive(r.miner.chain, r.miner.pool)
		fork := r.step(t)
		after := newNaive(r.miner.chain, r.miner.pool)
		var changed []wallet.Key
		for _, script := range r.miner.scripts {
			if !slices.Equal(historyOf(before, script), historyOf(after, script)) {
				changed = append(changed, wallet.KeyOf(script))
			}
		}
		touched, any, tip := map[wallet.Key]struct{}{}, false, len(before.blocks) == len(after.blocks)
		missing := func() bool {
			return !any && slices.ContainsFunc(changed, func(k wallet.Key) bool { _, is := touched[k]; return !is })
		}
		for !tip || missing() { // the sync can publish its blocks one by one; a test that hangs here lacks an event
			e, ok := next()
			if !ok {
				t.Fatal("the changes end")
			}
			if any = any || e.All; !e.NewTip && !e.All && len(e.Touched) == 0 {
				t.Errorf("an event without a change: %+v", e)
			}
			for k := range e.Touched {
				touched[k] = struct{}{}
			}
			tip = tip || e.Tip == r.db.Tip()
		}
		if any {
			all++
		}
		if fork && !any {
			t.Error("a reorganization does not touch all scripts")
		}
		for _, script := range r.miner.scripts {
			if k := wallet.KeyOf(script); !slices.Contains(changed, k) && !unspendable(script) {
				if _, is := touched[k]; is {
					extra++
				}
			}
		}
	}
	if !r.pending && extra > 0 {
		t.Errorf("%d scripts are touched and do not change", extra)
	}
	if all == 20 {
		t.Error("every event touches all scripts")
	}
	t.Logf("%d events touch all scripts, %d scripts are touched without a change", all, extra)
}

func historyOf(n *naive, script []byte) []wallet.Entry {
	confirmed, _ := n.history(script)
	unconfirmed, _ := n.mempool(script)
	return slices.Concat(confirmed, unconfirmed)
}
