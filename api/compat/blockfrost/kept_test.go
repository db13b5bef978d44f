package blockfrost_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// At no poll does an API lack a transaction that the node has all the time, in its mempool or in a block: while blocks come
// one by one and many at once, and while they are replaced. The server's own API has it in one answer. A client of
// Blockfrost's asks for unconfirmed ones and for confirmed ones in turn.
func TestAPIsNeverLackWhatTheNodeHas(t *testing.T) {
	// A transaction that the server loses with a block or with a change of branches is not back before a poll.
	n := generatedWith(t, time.Second)
	kept, err := n.rest[0].Txs()
	if err != nil {
		t.Fatal(err)
	}
	hashes := make([]string, len(kept))
	for i, tx := range kept {
		hash, err := ledger.HashTx(tx.Raw)
		if err != nil {
			t.Fatal(err)
		}
		hashes[i] = hash.String()
	}
	n.node.SetMempool(kept...)
	n.pending(t, len(kept))
	n.chain.Mempool = n.mempool
	apis := n.apis(t)

	var polls, changes atomic.Int64 // changes of the node, which the server has followed when the next one comes
	var pollers sync.WaitGroup
	ended := make(chan struct{})
	poll := func(api string, lacks func(hash string) bool) {
		pollers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				default:
				}
				before := changes.Load()
				if hash := hashes[i%len(hashes)]; lacks(hash) && (changes.Load() == before || api == "v1") {
					t.Errorf("poll %d after change %d: %s lacks %s", polls.Load(), before, api, hash)
					return
				}
				polls.Add(1)
			}
		})
	}
	found := func(target string) bool {
		code, answer := apis.ask(t, target)
		if code != http.StatusOK && code != http.StatusNotFound {
			t.Errorf("%s: %d %s", target, code, answer)
		}
		return code == http.StatusOK
	}
	poll("v1", func(hash string) bool { return !found("/v1/test/tx/" + hash) })
	// It moves at most once while the node does not change.
	poll("blockfrost", func(hash string) bool {
		unconfirmed, confirmed := path+"/mempool/"+hash, path+"/txs/"+hash
		return !found(unconfirmed) && !found(confirmed) && !found(unconfirmed) && !found(confirmed)
	})

	const common = 20 // blocks that stay
	follow := func() {
		t.Helper()
		tip := n.node.Tip()
		n.sync(t, n.node.Unix(), model.HeightPk(tip.Number))
		changes.Add(1)
		for _, hash := range hashes {
			if !found("/v1/test/tx/" + hash) {
				t.Errorf("after change %d: v1 lacks %s", changes.Load(), hash)
			}
			if unconfirmed, confirmed := path+"/mempool/"+hash, path+"/txs/"+hash; !found(unconfirmed) && !found(confirmed) && !found(unconfirmed) {
				t.Errorf("after change %d: blockfrost lacks %s", changes.Load(), hash)
			}
		}
	}
	for round, depth := range []int{1, 13, 3, 100}[:testrun.Amount(4, 2)] {
		n.node.Extend(n.empty(t, n.node.Tip(), depth, byte(round))...)
		follow()
		n.node.Switch(common, n.empty(t, n.first(common), depth+1, byte(100+round))...)
		follow()
		n.node.Switch(common, n.rest[0]) // it has the transactions
		follow()
		n.node.SetMempool(kept...) // a node takes those of replaced blocks back
		n.node.Switch(common, n.empty(t, n.first(common), 2, byte(200+round))...)
		follow()
	}
	n.pending(t, len(kept))
	close(ended)
	pollers.Wait()
	if polls.Load() < 10 {
		t.Errorf("only %d polls", polls.Load())
	}
	t.Logf("%d polls", polls.Load())
}

// first returns the last of the first blocks of the chain.
func (n *nodeWorld) first(blocks int) ouroborostest.Block { return n.made[blocks-1] }

// empty returns blocks without transactions after one. Those with another key are others.
func (n *nodeWorld) empty(t *testing.T, after ouroborostest.Block, count int, key byte) (all []ouroborostest.Block) {
	t.Helper()
	for range count {
		raw := cardanotest.BlockAt(t, ledger.EraConway, after.Number+1, after.Slot+20+uint64(key), after.Hash[:], cardanotest.Raw(t, list{}),
			cardanotest.Raw(t, list{}), cardanotest.Raw(t, dict{}), cardanotest.Raw(t, list{}))
		next, err := ouroborostest.Blocks(raw)
		if err != nil {
			t.Fatal(err)
		}
		all, after = append(all, next...), next[0]
	}
	return all
}
