package electrum_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// soak has the sizes and the results of a test with a large mempool.
type soak struct {
	size    int // transactions in the mempool
	scripts int
	rounds  int  // per node
	long    bool // until end
	end     time.Time
	base    int // height of the node's first blocks, which have the coins

	nodes, done, blocks, confirmed, forks, sent, replaced, evicted int
	notifications, questions                                       int
}

// Clients that check every answer follow chains with reorganizations and a large mempool: while it fills, and while
// transactions arrive, are replaced, leave, are confirmed and return. With BIRTHMARK_SOAK=1h it has 50,000 transactions
// and repeats with new nodes for an hour.
func TestStrictClientsFollowALargeMempool(t *testing.T) {
	s := &soak{size: testrun.Amount(2000, 500), scripts: 200, rounds: testrun.Amount(5, 2)}
	began := time.Now()
	if d := testrun.Soak(t); d > 0 {
		s.size, s.scripts, s.rounds, s.long, s.end = 50_000, 2000, 60, true, began.Add(d)
	}
	seed := testseed.New(t)
	for s.nodes == 0 || s.long && time.Now().Before(s.end) && !t.Failed() {
		rng := rand.New(rand.NewPCG(seed, uint64(s.nodes)))
		s.nodes++
		t.Run(fmt.Sprint("node ", s.nodes), func(t *testing.T) { s.follow(t, rng) })
		t.Logf("BIRTHMARK_SEED=%d, %v: %d nodes, %d rounds; %d blocks with %d transactions, %d forks; %d sent, %d replaced, %d evicted; "+
			"%d notifications, %d questions", seed, time.Since(began).Round(time.Second), s.nodes, s.done, s.blocks, s.confirmed, s.forks,
			s.sent, s.replaced, s.evicted, s.notifications, s.questions)
	}
}

// follow runs the rounds of one node.
func (s *soak) follow(t *testing.T, rng *rand.Rand) {
	w := newNodeWorldOf(t, rng, limits(), 2*s.size, newScripts(rng, s.scripts))
	s.base = int(w.node.Tip().Height)
	clients := make([]*strict, 4)
	for i := range clients {
		mine := make([][]byte, min(50, s.scripts))
		for j, k := range rng.Perm(s.scripts)[:len(mine)] {
			mine[j] = w.scripts[k]
		}
		clients[i] = newStrict(t, w.addr, mine, rand.New(rand.NewPCG(rng.Uint64(), 0)))
	}
	defer func() {
		for _, c := range clients {
			c.mu.Lock()
			s.notifications, s.questions = s.notifications+c.told, s.questions+c.next
			c.mu.Unlock()
		}
	}()
	now := w.truth()
	for round := range s.rounds {
		if s.done > 0 && s.long && time.Now().After(s.end) {
			break
		}
		end := make(chan struct{})
		var all sync.WaitGroup
		for _, c := range clients {
			all.Go(func() { c.wander(end) })
		}
		for range 4 {
			s.change(w, now)
		}
		close(end)
		all.Wait()
		now = w.truth()
		for i, c := range clients {
			if err := c.settled(now); err != nil {
				t.Fatalf("client %d in round %d: %v", i, round, err)
			}
		}
		s.done++
	}
}

// change changes the node at random. It spends coins of an earlier moment: some no longer exist.
func (s *soak) change(w *nodeWorld, before *truth) {
	rng, pool := w.rng, w.node.Mempool()
	var coins [2][]coretest.Coin // confirmed, unconfirmed
	for _, u := range before.unspent {
		if o := u.tx.TxOut[u.index]; o.Value > 10_000 && !coinbase(u.tx) {
			of := &coins[0]
			if u.height == 0 {
				of = &coins[1]
			}
			*of = append(*of, coretest.Coin{At: wire.OutPoint{Hash: u.tx.TxHash(), Index: u.index}, Value: o.Value})
		}
	}
	for range (s.size-len(pool))/3 + rng.IntN(s.size/100) {
		var spent []coretest.Coin
		for _, of := range coins[:1+rng.IntN(6)/5] { // more unconfirmed ones would connect all of the mempool
			if len(of) > 0 {
				spent = append(spent, of[rng.IntN(len(of))])
			}
		}
		if w.node.TrySend(w.pay(spent...)) == nil {
			s.sent++
		}
	}
	for range min(10, len(pool)) {
		tx := pool[rng.IntN(len(pool))]
		out := wire.NewTxOut(tx.TxOut[0].Value/2, w.scripts[rng.IntN(len(w.scripts))])
		if w.node.TrySend(coretest.Pay([]coretest.Coin{{At: tx.TxIn[0].PreviousOutPoint}}, out)) == nil {
			s.replaced++
		}
		w.node.Evict(coretest.ID(pool[rng.IntN(len(pool))]))
		s.evicted++
	}
	switch rng.IntN(10) {
	case 0, 1, 2:
		pool = w.node.Mempool()
		rng.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
		mined := w.node.MineOnly(w.t, pool[:min(len(pool), rng.IntN(s.size/20))]...)
		s.blocks++
		s.confirmed += len(mined.Transactions)
	case 3:
		if depth := min(1+rng.IntN(3), int(w.node.Tip().Height)-s.base); depth > 0 {
			w.node.Fork(w.t, depth, depth+1)
			s.forks++
		}
	}
}
