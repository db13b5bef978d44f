package boxes_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/api"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergoexplorer"
	"birthmark/api/compat/ergographql"
	"birthmark/api/compat/ergonode"
	"birthmark/api/served"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// patience is the time that the server may take to follow a change of the node.
const patience = testrun.Patience

// At no poll does an answer of the APIs of Ergo's node, explorer and ergo-graphql, or of /v1, lack a transaction that the
// node has all the time, confirmed or not: over bursts of blocks, and reorganizations that confirm it and make it
// unconfirmed again.
func TestTheViewNeverLacksWhatTheNodeHas(t *testing.T) {
	rng := testseed.Rand(t)
	w := NewWorld(t, "testnet", filepath.Join("..", "..", "..", "chains", "ergo", "genesis", "testnet.json"))
	c := ergogen.New(ergogen.Options{Seed: rng.Uint64(), TxsPerBlock: 8})
	w.Sync(t, 0, ergotest.Made(c, 10)...)
	base := 10
	// next makes the next block of a chain, with a number of transactions in addition to those of its miner.
	next := func(on *ergogen.Chain, txs int) ergotest.Block {
		b := on.NextOf(txs)
		return ergotest.Block{Height: b.Height, ID: b.ID, Parent: b.Parent, JSON: b.JSON}
	}
	// branch makes blocks with rewards only after those of a chain.
	branch := func(on *ergogen.Chain, n int) (blocks []ergotest.Block) {
		on = on.Fork(rng.Uint64())
		for range n {
			blocks = append(blocks, next(on, 0))
		}
		return blocks
	}
	chain := *w.Chain.Chain
	chain.Name = "test"
	own, err := api.New(api.Options{Chains: []*served.Chain{&chain}})
	if err != nil {
		t.Fatal(err)
	}
	format := w.DB.Chain().Indexes()[0].Format
	polled := []struct {
		handler http.Handler
		request func(b *Box) (path, body, has string)
	}{
		{ergonode.New(ergonode.Options{Chain: w.Chain, Path: "/node"}), func(b *Box) (string, string, string) {
			return "/node/utxo/withPool/byId/" + b.ID, "", b.ID
		}},
		{ergonode.New(ergonode.Options{Chain: w.Chain, Path: "/node"}), func(b *Box) (string, string, string) {
			return "/node/blockchain/box/unspent/byErgoTree?limit=16384&includeUnconfirmed=true", b.Tree, b.ID
		}},
		{ergoexplorer.New(ergoexplorer.Options{Chain: w.Chain, Path: "/explorer"}), func(b *Box) (string, string, string) {
			return "/explorer/api/v1/boxes/unspent/unconfirmed/byAddress/" + Address(format, b), "", b.ID
		}},
		{ergographql.New(ergographql.Options{Chain: w.Chain, Path: "/graphql"}), func(b *Box) (string, string, string) {
			return "/graphql", fmt.Sprintf(`{"query":"{ boxes(boxId: \"%s\") { boxId } mempool { boxes(boxId: \"%[1]s\") { boxId } } }"}`, b.ID), b.ID
		}},
		{own, func(b *Box) (string, string, string) { return "/v1/test/tx/" + b.Tx.ID, "", b.Tx.ID }},
	}
	w.Follow(t)
	var kept atomic.Pointer[[]*Box] // outputs of the transactions that the node keeps; no transaction spends them
	kept.Store(new([]*Box))
	ctx, cancel := context.WithCancel(t.Context())
	var pollers sync.WaitGroup
	defer pollers.Wait()
	defer cancel()
	var polls atomic.Int64
	var doing atomic.Value
	doing.Store("the start")
	for _, p := range polled {
		pollers.Go(func() {
			for ctx.Err() == nil {
				for _, b := range *kept.Load() {
					path, body, has := p.request(b)
					method := http.MethodGet
					if body != "" {
						method = http.MethodPost
					}
					before := doing.Load()
					r := httptest.NewRequest(method, path, strings.NewReader(body)) // an aborted one panics
					a := httptest.NewRecorder()
					func() {
						defer func() {
							if ctx.Err() != nil {
								_ = recover() // an answer that was being sent is cut
							}
						}()
						p.handler.ServeHTTP(a, r)
					}()
					if ctx.Err() != nil {
						return
					}
					polls.Add(1)
					if a.Code != http.StatusOK || !strings.Contains(a.Body.String(), has) {
						t.Errorf("from %s to %s: %s lacks %s: %d %.300s", before, doing.Load(), path, has, a.Code, a.Body)
						return
					}
				}
			}
		})
	}
	// pend makes the transactions of the next block of a fork unconfirmed that are possible without its reward. The node
	// then keeps them. Others of the block may spend their outputs, but not all of them.
	pend := func() (with *ergogen.Chain, first ergotest.Block, txs []ergotest.Tx) {
		kept.Store(new([]*Box))
		for {
			with = c.Fork(rng.Uint64())
			first = next(with, 8)
			all := ergotest.Txs(first)
			spent := map[string]bool{}
			for _, tx := range all {
				for _, box := range tx.Inputs {
					spent[box] = true
				}
			}
			txs = w.Model(nil).Possible(all[1:])
			w.Node.SetPool(txs...)
			if outputs := Filter(w.Settled(t).Fresh, func(b *Box) bool { return !spent[b.ID] }); len(outputs) > 0 {
				kept.Store(&outputs)
				return with, first, txs
			}
		}
	}
	change := func(what string, pool []ergotest.Tx, keep int, blocks []ergotest.Block) {
		t.Helper()
		doing.Store(what)
		w.Node.SwitchWith(pool, model.HeightPk(keep), blocks...)
		tip, left := w.Node.Tip(), len(w.Node.Pool())
		for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
			if s := w.Mempool.Standing(); s.Tip.Hash == tip.Hash && s.Count() == left {
				return
			} else if time.Now().After(end) {
				t.Fatalf("%s: the server is at %v with %d transactions, the node at %v with %d", what, s.Tip, s.Count(), tip, left)
			}
		}
	}
	_, _, txs := pend()
	for _, n := range []int{13, 1, 100}[:testrun.Amount(3, 1)] {
		var blocks []ergotest.Block
		for range n {
			blocks = append(blocks, next(c, 0))
		}
		change(fmt.Sprintf("%d blocks at once", n), txs, base, blocks)
		w.Extend(blocks...)
		base += n
	}
	with, first, txs := pend()
	for _, depth := range []int{3, 1, 20}[:testrun.Amount(3, 1)] {
		of := fmt.Sprintf("a reorganization of depth %d", depth)
		change(of+" of blocks without them", txs, base, branch(c, depth))
		change(of+" that confirms them", txs, base, append([]ergotest.Block{first}, branch(with, depth)...))
		change(of+" with an empty mempool", nil, base+1, branch(with, depth+1))
		change(of+" that makes them unconfirmed", txs, base, branch(c, depth+3))
	}
	t.Logf("%d polls of %d transactions", polls.Load(), len(*kept.Load()))
}
