package mempool_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/mempool"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/bitcoin/rpc"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

var indexes = []string{"address", "script_hash"}

// The transactions of the mempool equal those of a block with exactly these transactions.
func TestTheMempoolHasTheTransactionsOfTheNextBlock(t *testing.T) {
	n := coretest.Start(t)
	coins := n.Coins(t, 250)
	p2wpkh := append([]byte{0, 20}, bytes.Repeat([]byte{7}, 20)...)
	for i, c := range coins {
		tx := coretest.Pay([]coretest.Coin{c}, wire.NewTxOut(c.Value/2, p2wpkh), wire.NewTxOut(c.Value/2-1000, coretest.AnyoneCanSpend))
		if i%2 == 0 {
			tx.TxIn[0].Witness = wire.TxWitness{{1, 2, 3}}
		}
		n.Send(t, tx, coretest.Spend(500, coretest.Outputs(tx)[1]))
	}
	src := open(t, n.URL(), indexes...)
	ids, _, err := src.MempoolIDs(t.Context())
	if err != nil || !slices.Equal(ids, idsOf(n.Mempool())) || len(ids) != 500 {
		t.Fatalf("%d ids, %v", len(ids), err)
	}
	asked := append(slices.Clone(ids), model.Hash{1}, ids[3])
	txs := must[[]*model.Unconfirmed](t)(src.MempoolTxs(t.Context(), asked))
	if len(txs) != len(asked) || txs[len(ids)] != nil || txs[len(ids)+1] == nil {
		t.Fatalf("%d transactions, of an unknown id %v", len(txs), txs[len(ids)])
	}
	n.Mine(t)
	b := must[*model.Block](t)(src.BlockAt(t.Context(), n.Tip().Height))
	for i := range ids {
		want, tx := &b.Txs[i+1], n.Blocks()[n.Tip().Height].Transactions[i+1]
		if !reflect.DeepEqual(&txs[i].Tx, want) {
			t.Fatalf("%d:\n%+v\nin the block:\n%+v", i, &txs[i].Tx, want)
		}
		weight := 3*tx.SerializeSizeStripped() + tx.SerializeSize()
		if txs[i].Size != tx.SerializeSize() || txs[i].Weight != weight || txs[i].VSize != (weight+3)/4 {
			t.Errorf("%d: %d bytes, %d weight, %d virtual bytes", i, txs[i].Size, txs[i].Weight, txs[i].VSize)
		}
	}
	if ids, _, err = src.MempoolIDs(t.Context()); err != nil || len(ids) != 0 {
		t.Errorf("%d ids after the block, %v", len(ids), err)
	}
}

// A transaction in a form that is newer than the program is left out. All others are there.
func TestTheMempoolLeavesOutNewerTransactions(t *testing.T) {
	n := coretest.Start(t)
	n.Send(t, coretest.Spend(500, n.Coins(t, 3)...))
	n.Send(t, coretest.Spend(600, coretest.Outputs(n.Mempool()[0])[0]))
	client := must[*rpc.Client](t)(rpc.New(rpc.Options{URL: n.URL(), Network: params.Networks[4]}))
	t.Cleanup(func() { _ = client.Close() })
	for _, fault := range []error{model.Newer("unknown_version", "a transaction of version %d", 7), errors.New("damaged")} {
		pool := mempool.New(client, &block.Bitcoin, func(raw []byte) (*model.Tx, error) {
			id, err := block.Bitcoin.TxID(raw)
			if id == coretest.ID(n.Mempool()[0]) {
				err = fmt.Errorf("offset 4: %w", fault)
			}
			return &model.Tx{Hash: id}, err
		})
		txs, err := pool.MempoolTxs(t.Context(), idsOf(n.Mempool()))
		switch newer := errors.Is(fault, model.ErrNewer); {
		case newer && (err != nil || len(txs) != 2 || txs[0] != nil || txs[1] == nil):
			t.Errorf("%v, %v", txs, err)
		case !newer && err == nil:
			t.Error("a damaged transaction is left out")
		}
	}
}

// After every step of a random history, the list together with the events numbered after it equals the node's mempool.
func TestListAndEventsAreTheMempool(t *testing.T) {
	rng := rand.New(rand.NewPCG(testseed.Of(t, 3), 0))
	n := coretest.Start(t)
	coins := n.Coins(t, 60)
	src := open(t, n.URL())
	seq, failed := events(t, src)
	waitFor(t, func() bool { return n.Subscribers() == 2 })
	have := map[model.Hash]bool{}
	listed := uint64(0)
	list := func() {
		ids, number, err := src.MempoolIDs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		clear(have)
		for _, id := range ids {
			have[id] = true
		}
		listed = max(listed, number)
	}
	list()
	withBytes := 0
	for step := range 600 {
		blocks := 0
		pool := n.Mempool()
		switch k := rng.IntN(20); {
		case k < 10:
			c := coins[rng.IntN(len(coins))] // often already spent: the transaction replaces another one, or is rejected
			_ = n.TrySend(coretest.Spend(int64(200+rng.IntN(5000)), c))
		case k < 15 && len(pool) > 0:
			_ = n.TrySend(coretest.Spend(int64(200+rng.IntN(5000)), coretest.Outputs(pool[rng.IntN(len(pool))])[0]))
		case k < 17 && len(pool) > 0:
			n.Evict(coretest.ID(pool[rng.IntN(len(pool))]))
		case k == 17:
			coins = append(coins, n.Coins(t, 5)...)
			blocks = 2
		case k == 18 && len(pool) > 0:
			some := pool[:rng.IntN(len(pool))]
			n.MineOnly(t, some...)
			blocks = 1
		case k == 19:
			depth := 1 + rng.IntN(2)
			n.Fork(t, depth, depth+1)
			blocks = 2*depth + 1
		}
		// The last change of each step is a known transaction: when its event arrives, all events have arrived.
		mark := coretest.Spend(300+int64(step), coins[len(coins)-1])
		for n.TrySend(mark) != nil {
			coins = append(coins, n.Coins(t, 1)...)
			blocks += 2
			mark = coretest.Spend(300+int64(step), coins[len(coins)-1])
		}
		coins = coins[:len(coins)-1]
		for e := range seq {
			switch {
			case e.Kind == model.BlockConnected || e.Kind == model.BlockDisconnected:
				blocks--
				if e.Sequence != 0 {
					t.Errorf("a block has the number %d", e.Sequence)
				}
			case e.Sequence <= listed:
			case e.Kind == model.TxAdded:
				have[e.ID] = true
				if e.Tx != nil {
					withBytes++
					if e.Tx.Hash != e.ID || len(e.Tx.Raw) == 0 {
						t.Errorf("the event of %v has %v", e.ID, e.Tx.Hash)
					}
				}
			case e.Kind == model.TxRemoved:
				delete(have, e.ID)
			}
			if e.Kind == model.TxAdded && e.ID == coretest.ID(mark) {
				break
			}
		}
		select {
		case err := <-failed:
			t.Fatalf("step %d: %v", step, err)
		default:
		}
		if blocks != 0 {
			t.Fatalf("step %d: %d blocks have no event", step, blocks)
		}
		if len(pool) > 0 && rng.IntN(10) == 0 {
			list()
		}
		want := sorted(idsOf(n.Mempool()))
		confirmed := map[model.Hash]bool{}
		for _, b := range n.Blocks() {
			for _, tx := range b.Transactions {
				confirmed[coretest.ID(tx)] = true
			}
		}
		var got []model.Hash
		for id := range have {
			if !confirmed[id] {
				got = append(got, id)
			}
		}
		if !slices.Equal(sorted(got), want) {
			t.Fatalf("step %d: %d transactions, the node has %d", step, len(got), len(want))
		}
	}
	if withBytes == 0 {
		t.Error("no event has its transaction")
	}
}

func waitFor(t testing.TB, done func() bool) {
	t.Helper()
	for begun := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(begun) > testrun.Patience {
			t.Fatal("the history has no changes")
		}
	}
}

// The stream of events ends if notifications are missing or the connection ends, so that the caller requests the list.
func TestEventsEndIfSomeAreMissing(t *testing.T) {
	n := coretest.Start(t)
	coins := n.Coins(t, 10)
	src := open(t, n.URL())
	_, failed := events(t, src)
	waitFor(t, func() bool { return n.Subscribers() == 2 })
	n.Send(t, coretest.Spend(500, coins[0]))
	n.Set(func(f *coretest.Faults) { f.Drop = 1 })
	n.Send(t, coretest.Spend(500, coins[1]), coretest.Spend(500, coins[2]))
	wantError(t, <-failed, model.BadSource, "missed_events", "")
	waitFor(t, func() bool { return n.Subscribers() == 0 })

	_, failed = events(t, src)
	waitFor(t, func() bool { return n.Subscribers() == 2 })
	n.Disconnect()
	wantError(t, <-failed, model.BadSource, "unreachable", "")

	again, _ := events(t, src)
	waitFor(t, func() bool { return n.Subscribers() == 2 })
	tx := coretest.Spend(500, coins[3])
	n.Send(t, tx)
	if e := <-again; e.Kind != model.TxAdded || e.ID != coretest.ID(tx) || e.Tx == nil {
		t.Errorf("%+v after a new connection", e)
	}
}

// A node that is starting or lacks methods is reported. The source reads everything that does not need the methods.
func TestNodesWithoutSomething(t *testing.T) {
	n := coretest.Start(t)
	n.Send(t, coretest.Spend(500, n.Coins(t, 1)[0]))
	n.Set(func(f *coretest.Faults) { f.Starting = "Loading block index…" })
	src := open(t, n.URL())
	for range 2 {
		_, _, err := src.MempoolIDs(t.Context())
		wantError(t, err, model.BadSource, "starting", n.Host()+" is starting: Loading block index…")
	}
	n.Set(func(f *coretest.Faults) { f.Starting = "" })
	ids, number, err := src.MempoolIDs(t.Context())
	if err != nil || len(ids) != 1 || number == 0 {
		t.Errorf("%d ids, %d, %v", len(ids), number, err)
	}

	n.Set(func(f *coretest.Faults) { f.NoZMQ = true })
	if seq, err := src.MempoolEvents(t.Context()); seq != nil || err != nil {
		t.Errorf("events of a node that publishes no events: %v", err)
	}
	n.Set(func(f *coretest.Faults) { f.Lacks = []string{"getzmqnotifications", "getrawmempool"} })
	if seq, err := open(t, n.URL()).MempoolEvents(t.Context()); seq != nil || err != nil {
		t.Errorf("events of a node without notifications: %v", err)
	}
	_, _, err = open(t, n.URL()).MempoolIDs(t.Context())
	wantError(t, err, model.BadSource, "method_missing", n.Host()+" has no method getrawmempool: expected a Bitcoin full node")
}

// Many transactions are read from mempool.dat, in both versions. Missing ones, or all if the file is damaged, are read
// by RPC.
func TestManyTransactionsComeFromTheFileOfTheNode(t *testing.T) {
	n := coretest.Start(t)
	coins := n.Coins(t, 1500)
	for i, c := range coins[:1400] {
		tx := coretest.Spend(500, c)
		if i%3 == 0 {
			tx.TxIn[0].Witness = wire.TxWitness{bytes.Repeat([]byte{3}, i)}
		}
		n.Send(t, tx)
	}
	for name, change := range map[string]func(*coretest.Faults){
		"of another machine": func(f *coretest.Faults) {},
		"plain":              func(f *coretest.Faults) { f.Dir, f.PlainDump = t.TempDir(), true },
		"with a key":         func(f *coretest.Faults) { f.Dir = t.TempDir() },
		"missing method":     func(f *coretest.Faults) { f.Dir, f.Lacks = t.TempDir(), []string{"savemempool"} },
		"damaged": func(f *coretest.Faults) {
			dir := t.TempDir()
			f.Dir = dir
			f.Late = func(method string) {
				if method == "savemempool" {
					file := filepath.Join(dir, "mempool.dat")
					text, err := os.ReadFile(file)
					if err == nil {
						err = os.WriteFile(file, text[:len(text)*2/3], 0o600)
					}
					if err != nil {
						t.Error(err)
					}
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n.Set(func(f *coretest.Faults) { *f = coretest.Faults{}; change(f) })
			src := open(t, n.URL(), indexes...)
			ids, _, err := src.MempoolIDs(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			before := n.Calls("getrawtransaction")
			late := coretest.Spend(700+int64(len(name)), coins[1450])
			n.Send(t, late)
			first := must[[]*model.Unconfirmed](t)(src.MempoolTxs(t.Context(), ids[:1200]))
			n.Evict(coretest.ID(late))
			after := coretest.Spend(900, coins[1451])
			n.Send(t, after)
			defer n.Evict(coretest.ID(after))
			second := must[[]*model.Unconfirmed](t)(src.MempoolTxs(t.Context(), append(slices.Clone(ids[1200:]), coretest.ID(after))))
			requested := n.Calls("getrawtransaction") - before
			fromFile := name == "plain" || name == "with a key"
			if fromFile && requested != 1 || !fromFile && requested != len(ids)+1 {
				t.Errorf("%d of %d transactions were requested by RPC", requested, len(ids)+1)
			}
			pool := n.Mempool()
			for i, tx := range append(first, second...) {
				if tx == nil || tx.Hash != coretest.ID(pool[i]) || !bytes.Equal(tx.Raw, coretest.Raw(pool[i])) {
					t.Fatalf("transaction %d is %v", i, tx)
				}
				if fromFile && i < len(ids) && time.Since(tx.Seen).Abs() > time.Hour {
					t.Fatalf("transaction %d was received at %v", i, tx.Seen)
				}
			}
		})
	}
}

// A mempool.dat with other contents causes no error.
func TestForeignFilesAreIgnored(t *testing.T) {
	n := coretest.Start(t)
	for _, c := range n.Coins(t, 1000) {
		n.Send(t, coretest.Spend(500, c))
	}
	for _, text := range []string{"", "short", strings.Repeat("\x00", 100), "\x02\x00\x00\x00\x00\x00\x00\x00\x08", "\x02\x00\x00\x00\x00\x00\x00\x00\x07abcdefghijk",
		"\x01\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff" + strings.Repeat("\x01", 10_000)} {
		dir := t.TempDir()
		n.Set(func(f *coretest.Faults) {
			f.Dir = dir
			f.Late = func(method string) {
				if method == "savemempool" {
					if err := os.WriteFile(filepath.Join(dir, "mempool.dat"), []byte(text), 0o600); err != nil {
						t.Error(err)
					}
				}
			}
		})
		src := open(t, n.URL())
		ids, _, err := src.MempoolIDs(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if txs := must[[]*model.Unconfirmed](t)(src.MempoolTxs(t.Context(), ids)); slices.Contains(txs, nil) {
			t.Errorf("with the file %.20q transactions are missing", text)
		}
	}
}
