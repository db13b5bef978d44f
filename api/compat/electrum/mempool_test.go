package electrum_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/electrum"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// nodeWorld is a stand-in for Bitcoin Core and an Electrum server of it that follows its blocks and its mempool.
type nodeWorld struct {
	t        testing.TB
	rng      *rand.Rand
	node     *coretest.Node
	follower *pending.Follower
	server   *electrum.Server
	addr     string
	scripts  [][]byte
	chains   []*served.Chain
	answers  *wallet.Chain
}

func newNodeWorld(t testing.TB, rng *rand.Rand, o electrum.Options) *nodeWorld {
	t.Helper()
	return newNodeWorldOf(t, rng, o, 20, append(newScripts(rng, 6), coretest.AnyoneCanSpend))
}

// newNodeWorldOf begins with confirmed coins that anyone can spend. Payments are to the scripts. Each of change, which are
// at most one, changes the source of the mempool.
func newNodeWorldOf(t testing.TB, rng *rand.Rand, o electrum.Options, coins int, scripts [][]byte, change ...func(model.Source) model.Source) *nodeWorld {
	t.Helper()
	w := &nodeWorld{t: t, rng: rng, node: coretest.Start(t), scripts: scripts}
	w.node.Coins(t, coins)
	db, chain, _ := openDatabase(t)
	open := func(indexes []string) (model.Source, error) {
		return chain.Open(t.Context(), model.SourceOptions{URI: w.node.URL(), Indexes: indexes, Raw: true, Follow: true})
	}
	src, err := open(db.Indexes())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	follower := answertest.Follow(t, db, func(_ context.Context, indexes []string) (model.Source, error) {
		src, err := open(indexes)
		for i := 0; i < len(change) && err == nil; i++ {
			src = change[i](src)
		}
		return src, err
	}, func(o *pending.Options) {
		o.Memory, o.Log, o.Interval, o.Patience = 1<<28, log, 20*time.Millisecond, patience
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = core.Sync(ctx, db, src, core.SyncOptions{}) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
		src.Close()
	})
	shown := &served.Chain{
		Name: "bitcoin-regtest", Model: chain, View: db.View, Moved: db.Moved, Mempool: follower,
		State:     func() served.State { return served.State{} },
		Submitter: src.(model.Submitter), Fees: src.(model.FeeEstimator),
	}
	answers := wallet.New(shown)
	for end := time.Now().Add(patience); db.Tip() != w.node.Tip(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the database does not follow the node")
		}
	}
	w.follower, w.chains, w.answers = follower, []*served.Chain{shown}, answers
	w.server = electrum.New(answers, o)
	w.addr = listen(t, w.server, nil)
	t.Cleanup(w.server.Close)
	return w
}

func (w *nodeWorld) truth() *truth { return newTruth(w.node.Blocks(), w.node.Mempool()) }

// pay returns a transaction that spends random coins to random scripts.
func (w *nodeWorld) pay(coins ...coretest.Coin) *wire.MsgTx {
	sum := int64(-300 - w.rng.IntN(3000))
	for _, c := range coins {
		sum += c.Value
	}
	var outputs []*wire.TxOut
	for n := 1 + w.rng.IntN(3); n > 0; n-- {
		outputs = append(outputs, wire.NewTxOut(sum/int64(n), w.scripts[w.rng.IntN(len(w.scripts))]))
		sum -= sum / int64(n)
	}
	return coretest.Pay(coins, outputs...)
}

// step changes the node at random.
func (w *nodeWorld) step() string {
	pool := w.node.Mempool()
	pick := func() *wire.MsgTx { return pool[w.rng.IntN(len(pool))] }
	switch n := w.rng.IntN(10); {
	case n < 4 || len(pool) == 0:
		var coins []coretest.Coin
		for _, u := range w.truth().unspent {
			if o := u.tx.TxOut[u.index]; o.Value > 10_000 && w.rng.IntN(4) == 0 && len(coins) < 3 && !coinbase(u.tx) {
				coins = append(coins, coretest.Coin{At: wire.OutPoint{Hash: u.tx.TxHash(), Index: u.index}, Value: o.Value})
			}
		}
		if len(coins) == 0 {
			return "nothing"
		}
		return fmt.Sprint("send: ", w.node.TrySend(w.pay(coins...)))
	case n == 4: // a replacement
		tx := pick()
		in := tx.TxIn[0].PreviousOutPoint
		for _, o := range coretest.Outputs(tx) {
			return fmt.Sprint("replace: ", w.node.TrySend(coretest.Pay(
				[]coretest.Coin{{At: in}}, wire.NewTxOut(o.Value/2, w.scripts[w.rng.IntN(len(w.scripts))]))))
		}
	case n == 5:
		w.node.Evict(coretest.ID(pick()))
		return "evict"
	case n == 6:
		w.node.MineOnly(w.t, pick())
		return "mine one"
	case n == 7:
		w.node.Mine(w.t)
		return "mine all"
	case n == 8:
		depth := 1 + w.rng.IntN(2)
		w.node.Fork(w.t, depth, depth+1)
		return fmt.Sprint("fork ", depth)
	}
	w.node.MineOnly(w.t)
	return "mine none"
}

func coinbase(tx *wire.MsgTx) bool { return tx.TxIn[0].PreviousOutPoint.Index == 0xffffffff }

// Clients that check every answer follow a chain with reorganizations and a mempool with replacements and evictions.
// After each step they have the statuses of the chain and the mempool.
func TestStrictClientsFollowTheMempool(t *testing.T) {
	rng := testseed.Rand(t)
	w := newNodeWorld(t, rng, limits())
	clients := []*strict{}
	for range 3 {
		clients = append(clients, newStrict(t, w.addr, w.scripts, rand.New(rand.NewPCG(rng.Uint64(), 0))))
	}
	steps := 60
	if testing.Short() {
		steps = 15
	}
	var done []string
	for range steps {
		end := make(chan struct{})
		var all sync.WaitGroup
		for _, s := range clients {
			all.Go(func() { s.wander(end) })
		}
		for range 1 + rng.IntN(3) {
			done = append(done, w.step())
		}
		close(end)
		all.Wait()
		for i, s := range clients {
			if err := s.settled(w.truth()); err != nil {
				s, tip := w.follower.Standing(), w.node.Tip()
				t.Fatalf("client %d: %v\nafter %s; the mempool has %d transactions of %d at %v, tip %v",
					i, err, strings.Join(done, ", "), s.Count(), len(w.node.Mempool()), s.Tip, tip)
			}
		}
	}
}

// A submitted transaction is in the following answers. A rejection has the node's message.
func TestBroadcast(t *testing.T) {
	w := newNodeWorld(t, testseed.Rand(t), limits())
	s := newStrict(t, w.addr, w.scripts, w.rng)
	if err := s.settled(w.truth()); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, w.addr)
	var coins []coretest.Coin
	for _, u := range w.truth().unspent {
		if !coinbase(u.tx) {
			coins = append(coins, coretest.Coin{At: wire.OutPoint{Hash: u.tx.TxHash(), Index: u.index}, Value: u.tx.TxOut[u.index].Value})
		}
	}
	for _, c := range coins[:3] {
		tx := coretest.Pay([]coretest.Coin{c}, wire.NewTxOut(c.Value-1000, w.scripts[0]))
		id := tx.TxHash().String()
		var got string
		if code := conn.call(&got, "blockchain.transaction.broadcast", hexOf(tx)); code != 0 || got != id {
			t.Fatalf("%q, error %d, expected %s", got, code, id)
		}
		var pool []entry
		conn.call(&pool, "blockchain.scripthash.get_mempool", scriptHash(w.scripts[0]))
		found := false
		for _, e := range pool {
			found = found || e.Tx == id && e.Height == 0 && *e.Fee == 1000
		}
		if !found {
			t.Errorf("%s is not in %+v", id, pool)
		}
		if conn.call(&got, "blockchain.transaction.get", id); got != hexOf(tx) {
			t.Errorf("the transaction is %s, expected %s", got, hexOf(tx))
		}
	}
	low := hexOf(coretest.Pay(coins[3:4], wire.NewTxOut(coins[3].Value-1, w.scripts[0])))
	conn.send(`{"id":1,"method":"blockchain.transaction.broadcast","params":[%q]}`, low)
	want := `"error":{"code":1,"message":"the transaction was rejected by network rules.\n\nmin relay fee not met, 1 \u003c `
	if got := conn.line(); !strings.Contains(got, want) || !strings.HasSuffix(got, `\n[`+low+`]"}}`) {
		t.Errorf("%s, expected %s", got, want)
	}
	parent := coretest.Pay(coins[4:5], wire.NewTxOut(coins[4].Value, w.scripts[0]))
	child := coretest.Pay(coretest.Outputs(parent), wire.NewTxOut(coins[4].Value-2000, w.scripts[1]))
	var result json.RawMessage
	for _, c := range []struct {
		txs  []*wire.MsgTx
		want string
	}{{[]*wire.MsgTx{parent, child}, `{"success":true}`}, {[]*wire.MsgTx{parent}, `{"success":true}`}} {
		var raws []string
		for _, tx := range c.txs {
			raws = append(raws, hexOf(tx))
		}
		if code := conn.call(&result, "blockchain.transaction.broadcast_package", raws); code != 0 || string(result) != c.want {
			t.Errorf("%d transactions: %s, error %d", len(raws), result, code)
		}
	}
	if err := s.settled(w.truth()); err != nil {
		t.Error(err)
	}
}

// Fee rates equal the node's, in BTC per 1,000 virtual bytes.
func TestFees(t *testing.T) {
	w := newNodeWorld(t, testseed.Rand(t), limits())
	w.node.SetEstimates(map[int]float64{2: 0.0003, 6: 0.00012345})
	conn := connect(t, w.addr)
	for _, c := range []struct{ method, params, want string }{
		{"blockchain.estimatefee", `[6]`, `0.00012345`},
		{"blockchain.estimatefee", `[6,"economical"]`, `0.00012345`},
		{"blockchain.estimatefee", `[1]`, `-1`},
		{"blockchain.relayfee", `[]`, `0.00001000`},
		{"mempool.get_info", `[]`, `{"mempoolminfee":0.00001000,"minrelaytxfee":0.00001000,"incrementalrelayfee":0.00001000}`},
	} {
		conn.send(`{"id":1,"method":%q,"params":%s}`, c.method, c.params)
		if got, want := conn.line(), `{"jsonrpc":"2.0","id":1,"result":`+c.want+`}`; got != want {
			t.Errorf("%s %s: %s, expected %s", c.method, c.params, got, want)
		}
	}
	w.node.Set(func(f *coretest.Faults) { f.Starting = "Loading block index…" })
	conn.send(`{"id":1,"method":"blockchain.transaction.broadcast","params":[%q]}`, hex.EncodeToString([]byte("x")))
	if got := conn.line(); !strings.Contains(got, `"error":{"code":2,"message":"daemon error: `) || !strings.Contains(got, "Loading block index…") {
		t.Error(got)
	}
}
