package electrum_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api"
	"birthmark/api/compat/esplora"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// keeper changes a node, and records the transactions that the node had for the whole time.
type keeper struct {
	*nodeWorld
	pollers sync.WaitGroup
	polls   atomic.Int64

	mu    sync.Mutex
	kept  map[string][]byte // ids of the transactions that the server has shown and the node has had since; their script
	tips  map[string]bool   // the headers of all tips that the node had
	coins []coretest.Coin   // outputs that anybody can spend, most of them unspent
	done  []string          // the changes
}

// change changes the node. Afterwards kept lacks the transactions that the node no longer has.
func (k *keeper) change(what string, do func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.done = append(k.done, what)
	do()
	has := k.has()
	kept := maps.Clone(k.kept)
	maps.DeleteFunc(kept, func(id string, _ []byte) bool { return !has[id] })
	k.kept = kept
	k.tips[headerHex(k.tip())] = true
}

// has returns the ids of the transactions that the node has.
func (k *keeper) has() map[string]bool {
	has := map[string]bool{}
	for _, b := range k.node.Blocks() {
		for _, tx := range b.Transactions {
			has[tx.TxHash().String()] = true
		}
	}
	for _, tx := range k.node.Mempool() {
		has[tx.TxHash().String()] = true
	}
	return has
}

func (k *keeper) tip() *wire.MsgBlock {
	blocks := k.node.Blocks()
	return blocks[len(blocks)-1]
}

// keep waits until the server has the transactions of the node, and records them as kept.
func (k *keeper) keep() {
	k.t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		s, pool := k.follower.Standing(), k.node.Mempool()
		missing := s.Tip != k.node.Tip() || s.Count() != len(pool)
		for _, tx := range pool {
			missing = missing || s.Tx(coretest.ID(tx)) == nil
		}
		if !missing {
			break
		}
		if time.Now().After(end) {
			k.t.Fatalf("the server is at %v with %d transactions, the node at %v with %d, after %s",
				s.Tip, s.Count(), k.node.Tip(), len(pool), strings.Join(k.done, ", "))
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	kept := maps.Clone(k.kept)
	for _, tx := range k.node.Mempool() {
		kept[tx.TxHash().String()] = tx.TxOut[0].PkScript
	}
	k.kept = kept
}

func (k *keeper) now() map[string][]byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept
}

// poll calls ask with one of the kept transactions after the other until ctx ends. ask returns the answer in which the
// transaction is missing. It is not missing if the node lost it meanwhile.
func (k *keeper) poll(ctx context.Context, api string, ask func(id string, script []byte) (missing string)) {
	k.pollers.Go(func() {
		for ctx.Err() == nil {
			kept := k.now()
			if len(kept) == 0 {
				time.Sleep(time.Millisecond)
				continue
			}
			for id, script := range kept {
				missing := ask(id, script)
				if ctx.Err() != nil {
					return
				}
				k.polls.Add(1)
				if _, still := k.now()[id]; still && missing != "" {
					k.mu.Lock()
					k.t.Errorf("%s: %s is missing in %.300s, after %s", api, id, missing, strings.Join(k.done[max(0, len(k.done)-5):], ", "))
					k.mu.Unlock()
					return
				}
				if kept = k.now(); kept[id] == nil {
					break
				}
			}
		}
	})
}

// pollHTTP polls paths of a handler, which must answer 200 with the id in the text.
func (k *keeper) pollHTTP(ctx context.Context, h http.Handler, paths ...func(id string, script []byte) string) {
	k.poll(ctx, "HTTP", func(id string, script []byte) string {
		for _, path := range paths {
			r := httptest.NewRequest(http.MethodGet, path(id, script), nil) // an aborted one panics
			r.RemoteAddr = "127.0.0.1:1"
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), id) {
				return fmt.Sprintf("%s: %d %s", path(id, script), w.Code, w.Body)
			}
		}
		return ""
	})
}

// subscribe keeps a connection with subscriptions of the headers and of all kept scripts: no header that is not that of
// a tip of the node, and no status null.
func (k *keeper) subscribe(ctx context.Context) {
	conn := connect(k.t, k.addr)
	k.pollers.Go(func() {
		conn.send(`{"id":0,"method":"blockchain.headers.subscribe","params":[]}`)
		subscribed, scripts := map[string]bool{}, map[string]string{}
		for {
			select {
			case <-ctx.Done():
				return
			default:
			}
			for id, script := range k.now() {
				if !subscribed[id] {
					subscribed[id] = true
					scripts[scriptHash(script)] = id
					conn.send(`{"id":1,"method":"blockchain.scripthash.subscribe","params":[%q]}`, scriptHash(script))
				}
			}
			conn.send(`{"id":2,"method":"server.ping","params":[]}`)
			for {
				before := k.now()
				var m struct {
					ID     int
					Method string
					Params []json.RawMessage
				}
				line := conn.line()
				if err := json.Unmarshal([]byte(line), &m); err != nil {
					k.t.Error(err)
					return
				}
				if m.Method == "" && m.ID == 2 {
					break
				}
				k.polls.Add(1)
				switch m.Method {
				case "blockchain.headers.subscribe":
					var tip struct{ Hex string }
					_ = json.Unmarshal(m.Params[0], &tip)
					k.mu.Lock()
					if !k.tips[tip.Hex] {
						k.t.Errorf("%s was never the tip of the node, after %s", line, strings.Join(k.done[max(0, len(k.done)-5):], ", "))
					}
					k.mu.Unlock()
				case "blockchain.scripthash.subscribe":
					var script string
					_ = json.Unmarshal(m.Params[0], &script)
					id := scripts[script]
					if _, kept := before[id]; kept && string(m.Params[1]) == "null" && k.now()[id] != nil {
						k.t.Errorf("status null: %s", line)
					}
				}
			}
			time.Sleep(time.Millisecond)
		}
	})
}

// spend returns a transaction that spends a coin to a script of its own, and a rest that anybody can spend.
func (k *keeper) spend(coin coretest.Coin) *wire.MsgTx {
	fee := int64(1000 + k.rng.IntN(1000))
	own := newScripts(k.rng, 1)[0]
	return coretest.Pay([]coretest.Coin{coin}, wire.NewTxOut(600, own), wire.NewTxOut(coin.Value-600-fee, coretest.AnyoneCanSpend))
}

// step changes the node at random: several times at once, as the server sees it.
func (k *keeper) step() {
	pool := k.node.Mempool()
	switch n := k.rng.IntN(12); {
	case n < 3:
		k.change("send", func() {
			for range 1 + k.rng.IntN(4) {
				coin := k.coins[k.rng.IntN(len(k.coins))]
				if len(pool) > 0 && k.rng.IntN(3) == 0 {
					if parent := coretest.Outputs(pool[k.rng.IntN(len(pool))]); len(parent) > 1 {
						coin = parent[1]
					}
				}
				_ = k.node.TrySend(k.spend(coin)) // refused if the coin is spent
			}
		})
	case n == 3 && len(pool) > 0:
		k.change("replace", func() {
			at := pool[k.rng.IntN(len(pool))].TxIn[0].PreviousOutPoint
			_ = k.node.TrySend(coretest.Pay([]coretest.Coin{{At: at}}, wire.NewTxOut(700, newScripts(k.rng, 1)[0])))
		})
	case n == 4 && len(pool) > 0:
		k.change("evict", func() { k.node.Evict(coretest.ID(pool[k.rng.IntN(len(pool))])) })
	case n == 5:
		k.change("mine all", func() { k.node.Mine(k.t) })
	case n == 6 && len(pool) > 0:
		k.change("mine one", func() { k.node.MineOnly(k.t, pool[k.rng.IntN(len(pool))]) })
	case n < 9:
		k.blocks([]int{1, 2, 13, 13, 40, 100}[k.rng.IntN(6)])
	case n < 11:
		k.fork([]int{1, 1, 2, 3, 20}[k.rng.IntN(5)])
	default:
		k.invalidate(1 + k.rng.IntN(3))
	}
}

func (k *keeper) blocks(n int) {
	k.change(fmt.Sprintf("%d blocks", n), func() { k.node.Fork(k.t, 0, n) })
}

func (k *keeper) fork(depth int) {
	k.change(fmt.Sprintf("a reorganization of depth %d", depth), func() { k.node.Fork(k.t, depth, depth+1) })
}

func (k *keeper) invalidate(depth int) {
	k.change(fmt.Sprintf("invalidate %d blocks", depth), func() { k.node.Fork(k.t, depth, 0) })
}

// changes are bursts of blocks, reorganizations, and blocks that the node invalidates without new ones.
func (k *keeper) changes(most int) (all []func()) {
	for _, n := range []int{13, 100, most} {
		all = append(all, func() { k.blocks(n) })
	}
	for _, depth := range []int{1, 3, 20} {
		all = append(all, func() { k.fork(depth) })
	}
	for _, depth := range []int{1, 3} {
		all = append(all, func() { k.invalidate(depth) })
	}
	return all
}

// fill sends transactions until the mempool has that many.
func (k *keeper) fill(count int) {
	k.t.Helper()
	k.change(fmt.Sprintf("fill to %d", count), func() {
		for tries := 0; len(k.node.Mempool()) < count; tries++ {
			if tries == 1000*count {
				k.t.Fatalf("%d transactions of %d coins were accepted", len(k.node.Mempool()), len(k.coins))
			}
			tx := k.spend(k.coins[k.rng.IntN(len(k.coins))])
			if rest := tx.TxOut[1].Value; rest > 0 && k.node.TrySend(tx) == nil {
				k.coins = append(k.coins, coretest.Outputs(tx)[1])
			}
		}
	})
}

// coinsDepth is more than the depth of all reorganizations.
const coinsDepth = 150

// At no poll during any sequence of blocks, reorganizations and changes of the mempool does an answer of Electrum,
// Esplora or /v1 lack a transaction that the node has had for the whole time, no subscription gets the status null, and
// no header is announced that was not the tip of the node.
func TestTheViewNeverLacksWhatTheNodeHas(t *testing.T) {
	for _, zmq := range []bool{true, false} {
		t.Run(fmt.Sprintf("events %t", zmq), func(t *testing.T) {
			rng := testseed.Rand(t)
			unlimited := limits()
			unlimited.SoftCost, unlimited.HardCost = 0, 0
			k := &keeper{
				nodeWorld: newNodeWorldOf(t, rng, unlimited, 40, nil), kept: map[string][]byte{}, tips: map[string]bool{},
			}
			k.node.Set(func(f *coretest.Faults) { f.NoZMQ = !zmq })
			for _, u := range k.truth().unspent {
				if !coinbase(u.tx) {
					k.coins = append(k.coins, coretest.Coin{At: wire.OutPoint{Hash: u.tx.TxHash(), Index: u.index}, Value: u.tx.TxOut[u.index].Value})
				}
			}
			k.blocks(coinsDepth)
			k.keep()
			ctx, cancel := context.WithCancel(t.Context())
			defer k.pollers.Wait()
			defer cancel()
			k.start(ctx)

			began := time.Now()
			steps := testrun.Amount(25, 6)
			for _, full := range []bool{false, true} { // nothing, or much, is unconfirmed before a change
				for _, change := range k.changes(testrun.Amount(1000, 200)) {
					k.fill(3) // the tip has transactions
					k.keep()
					k.change("mine all", func() { k.node.Mine(t) })
					k.keep()
					if full {
						k.fill(30)
						k.keep()
					}
					change()
					k.keep()
				}
			}
			for range steps {
				for range 1 + rng.IntN(3) {
					k.step()
				}
				if rng.IntN(4) > 0 {
					k.keep()
				}
			}
			k.keep()
			t.Logf("%d polls, %.0f per second; %d transactions at the end; %s", k.polls.Load(),
				float64(k.polls.Load())/time.Since(began).Seconds(), len(k.now()), strings.Join(k.done, ", "))
			if k.polls.Load() == 0 { // the pool can be empty at the end
				t.Error("nothing was polled")
			}
		})
	}
}

// start starts the pollers.
func (k *keeper) start(ctx context.Context) {
	own := connect(k.t, k.addr)
	k.poll(ctx, "Electrum", func(id string, script []byte) string {
		var history []entry
		var raw string
		code := own.call(&history, "blockchain.scripthash.get_history", scriptHash(script))
		if code != 0 || !slices.ContainsFunc(history, func(e entry) bool { return e.Tx == id }) {
			return fmt.Sprintf("get_history: error %d, %v", code, history)
		}
		if code := own.call(&raw, "blockchain.transaction.get", id); code != 0 || !strings.Contains(raw, hex.EncodeToString(script)) {
			return fmt.Sprintf("transaction.get: error %d, %s", code, raw)
		}
		return ""
	})
	k.subscribe(ctx)
	k.pollHTTP(ctx, esplora.New(esplora.Options{Chain: k.answers}),
		func(id string, _ []byte) string { return "/tx/" + id },
		func(_ string, script []byte) string { return "/scripthash/" + sha256Hex(script) + "/txs" },
		func(_ string, script []byte) string { return "/scripthash/" + sha256Hex(script) + "/utxo" },
	)
	v1, err := api.New(api.Options{Chains: k.chains, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		k.t.Fatal(err)
	}
	k.pollHTTP(ctx, v1,
		func(id string, _ []byte) string { return "/v1/bitcoin-regtest/tx/" + id },
		func(_ string, script []byte) string {
			return "/v1/bitcoin-regtest/history/script_hash/" + scriptHash(script) + "?mempool=include"
		},
		func(_ string, script []byte) string {
			return "/v1/bitcoin-regtest/find/script_hash/" + scriptHash(script) + "?mempool=include"
		},
	)
}

func sha256Hex(script []byte) string { return hex.EncodeToString(chainhash.HashB(script)) }
