package blockbook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testnode/oddtest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// A transaction with an odd part is in every list of REST and WebSocket beside normal ones, unconfirmed and confirmed, and
// in the notifications.
func TestOddTransactionsLeaveListsWhole(t *testing.T) {
	w := newFullWorld(t)
	full := w.full
	account := w.accounts[2]
	script, err := account.Script(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	holder := address(script)

	ids := oddtest.Coinbases(t, full, script)
	coins := full.Coins(t, oddtest.Coins)
	w.sync(t)
	s := w.limited(t, nil)
	c, blocks := dial(t, s), dial(t, s)
	c.expect("subscribeAddresses", object{"addresses": []string{holder}, "newBlockTxs": true}, object{"subscribed": true})
	blocks.expect("subscribeNewBlock", nil, object{"subscribed": true})
	var sent []string
	for _, tx := range oddtest.Txs(t, coins, script) {
		if err := full.TrySend(tx.MsgTx); err != nil {
			t.Fatalf("%s: %v", tx.Name, err)
		}
		sent = append(sent, tx.TxHash().String())
	}
	ids = append(ids, sent...)
	slices.Sort(ids)
	slices.Sort(sent)
	for _, confirmed := range []bool{false, true} {
		if confirmed {
			full.Mine(t)
			w.sync(t)
			blocks.notification()
		} else {
			w.settle(t)
		}
		var notified []string
		for range sent {
			var n struct{ Tx struct{ TxID string } }
			if err := json.Unmarshal(c.notification().Data, &n); err != nil {
				t.Fatal(err)
			}
			notified = append(notified, n.Tx.TxID)
		}
		if slices.Sort(notified); !slices.Equal(notified, sent) {
			t.Errorf("notifications, confirmed %t: %d of %d transactions", confirmed, len(notified), len(sent))
		}
		// Each answer has the ids once. Of unspent outputs only the first one of a transaction counts.
		check := func(what, answer string, count, want []string) {
			t.Helper()
			if slices.Sort(count); !slices.Equal(count, want) {
				t.Errorf("%s, confirmed %t: %d transactions, expected %d: %.300s", what, confirmed, len(count), len(want), answer)
			}
		}
		for _, of := range []string{holder, account.Text} {
			for _, details := range []string{"txids", "txslight", "txs"} {
				for _, version := range []string{"v1", "v2"} {
					kind := map[bool]string{true: "address", false: "xpub"}[of == holder]
					path := fmt.Sprintf("/api/%s/%s/%s?details=%s&pageSize=1000", version, kind, escaped(of), details)
					_, answer := w.ask(t, path, "")
					check(path, answer, txIDs(t, answer), ids)
				}
				_, answer := c.call("getAccountInfo", object{"descriptor": of, "details": details, "pageSize": 1000})
				check("getAccountInfo "+details, answer, txIDs(t, answer), ids)
			}
			for _, version := range []string{"v1", "v2"} {
				_, answer := w.ask(t, "/api/"+version+"/utxo/"+escaped(of), "")
				check("utxo "+version, answer, firstOutputs(t, answer), ids)
			}
			_, answer := c.call("getAccountUtxo", object{"descriptor": of})
			check("getAccountUtxo", answer, firstOutputs(t, answer), ids)
			if !confirmed {
				continue
			}
			_, rest := w.ask(t, "/api/v2/balancehistory/"+escaped(of), "")
			_, history := c.call("getBalanceHistory", object{"descriptor": of})
			for what, answer := range map[string]string{"balancehistory": rest, "getBalanceHistory": history} {
				var changes []struct{ Txs int }
				if err := json.Unmarshal([]byte(answer), &changes); err != nil {
					t.Fatalf("%s: %v in %.300s", what, err, answer)
				}
				txs := 0
				for _, change := range changes {
					txs += change.Txs
				}
				if txs != len(ids) {
					t.Errorf("%s: %d transactions, expected %d", what, txs, len(ids))
				}
			}
		}
		for _, id := range ids {
			for _, path := range []string{"/api/v1/tx/", "/api/v2/tx/", "/api/v2/tx-specific/", "/api/v2/rawtx/"} {
				if status, answer := w.ask(t, path+id, ""); status != 200 {
					t.Errorf("%s%s: %d %.300s", path, id, status, answer)
				}
			}
			for _, method := range []string{"getTransaction", "getTransactionSpecific"} {
				var a struct{ TxID string }
				if _, answer := c.call(method, object{"txid": id}); json.Unmarshal([]byte(answer), &a) != nil || a.TxID != id {
					t.Errorf("%s %s: %.300s", method, id, answer)
				}
			}
		}
	}
	for height, b := range full.Blocks() {
		var want []string
		for _, tx := range b.Transactions {
			want = append(want, tx.TxHash().String())
		}
		for _, version := range []string{"v1", "v2"} {
			_, answer := w.ask(t, fmt.Sprintf("/api/%s/block/%d", version, height), "")
			if got := txIDs(t, answer); !slices.Equal(got, want) {
				t.Errorf("block %d: %d transactions, expected %d: %.300s", height, len(got), len(want), answer)
			}
		}
		_, answer := c.call("getBlock", object{"id": b.BlockHash().String()})
		if got := txIDs(t, answer); !slices.Equal(got, want) {
			t.Errorf("getBlock %d: %d transactions, expected %d: %.300s", height, len(got), len(want), answer)
		}
		for _, path := range []string{"rawblock", "feestats"} {
			if status, answer := w.ask(t, fmt.Sprintf("/api/v2/%s/%d", path, height), ""); status != 200 {
				t.Errorf("%s %d: %d %.300s", path, height, status, answer)
			}
		}
	}
}

// txIDs returns the ids of the transactions in an answer, in either version and by any level of details.
func txIDs(t *testing.T, answer string) (ids []string) {
	t.Helper()
	var a struct {
		Txs, Transactions, TxIDs json.RawMessage
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		t.Fatalf("%v in %.300s", err, answer)
	}
	for _, raw := range []json.RawMessage{a.Txs, a.Transactions, a.TxIDs} {
		var list []json.RawMessage
		_ = json.Unmarshal(raw, &list) // it can be a number
		for _, entry := range list {
			var id string
			var tx struct{ TxID string }
			if json.Unmarshal(entry, &id) != nil && json.Unmarshal(entry, &tx) == nil {
				id = tx.TxID
			}
			ids = append(ids, id)
		}
	}
	return ids
}

// firstOutputs returns the ids of the transactions whose output 0 is in a list of unspent outputs.
func firstOutputs(t *testing.T, answer string) (ids []string) {
	t.Helper()
	var list []struct {
		TxID string
		Vout int
	}
	if err := json.Unmarshal([]byte(answer), &list); err != nil {
		t.Fatalf("%v in %.300s", err, answer)
	}
	for _, u := range list {
		if u.Vout == 0 {
			ids = append(ids, u.TxID)
		}
	}
	return ids
}

// The status describes the node that a chain's source is.
func TestStatusDescribesTheNode(t *testing.T) {
	w := newFullWorld(t)
	w.full.Mine(t)
	w.sync(t)
	status := get[struct{ Blockbook, Backend object }](t, w.world, "/api/v2/status")
	for key, want := range map[string]any{
		"version": "280000", "subversion": "/Satoshi:28.0.0/", "protocolVersion": "70016", "sizeOnDisk": 300.0,
		"headers": float64(w.full.Tip().Height), "warnings": "pre-release test build",
	} {
		if status.Backend[key] != want {
			t.Errorf("%s is %v, expected %v", key, status.Backend[key], want)
		}
	}
	for _, key := range []string{"gitCommit", "buildTime", "lastMempoolTime"} {
		if text, _ := status.Blockbook[key].(string); text == "" {
			t.Errorf("%s is %v", key, status.Blockbook[key])
		}
	}
	w.full.Set(func(f *coretest.Faults) { f.Starting = "Loading wallet…" })
	_, info := dial(t, w.limited(t, nil)).call("getInfo", nil)
	if !strings.Contains(info, `"backend":{"version":"280000","subversion":"/Satoshi:28.0.0/"}`) { // of less than a minute ago
		t.Errorf("info %s", info)
	}
}

// fullWorld is a world beside a full node.
type fullWorld struct {
	*world
	full *coretest.Node
	src  model.Source
}

func newFullWorld(t *testing.T) fullWorld {
	return newFullWorldFrom(t, func(src model.Source) model.Source { return src })
}

// newFullWorldFrom is newFullWorld with a change of the source of the mempool.
func newFullWorldFrom(t *testing.T, change func(model.Source) model.Source) fullWorld {
	t.Helper()
	w := fullWorld{world: &world{rng: testseed.Rand(t)}, full: coretest.Start(t)}
	w.makeAccounts(t)
	w.open(t)
	open := func(ctx context.Context, indexes []string) (model.Source, error) {
		return w.db.Chain().Open(ctx, model.SourceOptions{URI: w.full.URL(), Indexes: indexes, Raw: true, Follow: true})
	}
	var err error
	if w.src, err = open(t.Context(), w.db.Indexes()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.src.Close() })
	w.serveFrom(t, w.src.(source), func(ctx context.Context, indexes []string) (model.Source, error) {
		src, err := open(ctx, indexes)
		if err == nil {
			src = change(src)
		}
		return src, err
	}, nil)
	return w
}

// sync brings the database to the node's chain.
func (w fullWorld) sync(t *testing.T) {
	t.Helper()
	target := w.full.Tip().Height
	if err := core.Sync(t.Context(), w.db, w.src, core.SyncOptions{To: &target}); err != nil {
		t.Fatal(err)
	}
	w.settle(t)
}

// settle waits until the server has the node's mempool.
func (w fullWorld) settle(t *testing.T) {
	t.Helper()
	f := w.served.Mempool
	for range 200_000 {
		s, pool := f.Standing(), w.full.Mempool()
		same := s.Tip == w.db.Tip() && s.State() == pending.Live && s.Count() == len(pool)
		for _, tx := range pool {
			same = same && s.Tx(coretest.ID(tx)) != nil
		}
		if same {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("the mempool has %d transactions, expected %d", f.Standing().Count(), len(w.full.Mempool()))
}
