package esplora_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"birthmark/internal/testnode/oddtest"
)

// A transaction with an odd part is in the lists beside normal ones, unconfirmed and confirmed.
func TestOddTransactionsLeaveListsWhole(t *testing.T) {
	w := newNodeWorld(t)
	ids := oddtest.Coinbases(t, w.node, p2pkh)
	coins := w.node.Coins(t, oddtest.Coins)
	w.sync(t)
	for _, tx := range oddtest.Txs(t, coins, p2pkh) {
		if err := w.node.TrySend(tx.MsgTx); err != nil {
			t.Fatalf("%s: %v", tx.Name, err)
		}
		ids = append(ids, tx.TxHash().String())
	}
	slices.Sort(ids)
	for _, confirmed := range []bool{false, true} {
		if confirmed {
			w.node.Mine(t)
			w.sync(t)
		} else {
			w.settle(t)
		}
		address := w.db.Chain().(interface{ ScriptAddress([]byte) string }).ScriptAddress(p2pkh)
		for _, list := range []string{"/address/" + address + "/txs?max_txs=1000", "/address/" + address + "/utxo", "/address/" + address + "/txs/summary"} {
			var entries []struct {
				TxID string
				Vout any
			}
			if err := json.Unmarshal([]byte(w.get(t, list)), &entries); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range entries {
				if n, _ := e.Vout.(float64); n == 0 { // of the unspent outputs, the first one of each transaction
					got = append(got, e.TxID)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, ids) && (confirmed || !strings.HasSuffix(list, "summary")) {
				t.Errorf("%s, confirmed %t: %d transactions, expected %d", list, confirmed, len(got), len(ids))
			}
		}
		for _, id := range ids {
			for _, part := range []string{"", "/hex", "/status", "/outspends"} {
				w.get(t, "/tx/"+id+part)
			}
		}
	}
}
