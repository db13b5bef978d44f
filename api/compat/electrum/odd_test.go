package electrum_test

import (
	"encoding/json"
	"slices"
	"testing"

	"birthmark/internal/testnode/oddtest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// A transaction with an odd part is in the lists beside normal ones, unconfirmed and confirmed, and the status is that of
// the list at each moment.
func TestOddTransactionsLeaveListsWhole(t *testing.T) {
	w := newNodeWorld(t, testseed.Rand(t), limits())
	script := scriptHash(oddtest.P2PKH)
	c := connect(t, w.addr)
	var status json.RawMessage
	if code := c.call(&status, "blockchain.scripthash.subscribe", script); code != 0 || string(status) != "null" {
		t.Fatalf("error %d, status %s", code, status)
	}
	ids := oddtest.Coinbases(t, w.node, oddtest.P2PKH)
	confirmed := len(ids)
	w.sameLists(t, script, ids, confirmed)
	for _, tx := range oddtest.Txs(t, w.node.Coins(t, oddtest.Coins), oddtest.P2PKH) {
		if err := w.node.TrySend(tx.MsgTx); err != nil {
			t.Fatalf("%s: %v", tx.Name, err)
		}
		ids = append(ids, tx.TxHash().String())
	}
	w.sameLists(t, script, ids, confirmed)
	w.node.Mine(t)
	w.sameLists(t, script, ids, len(ids))
}

// sameLists compares the lists of a script with transactions, of which the first ones are confirmed.
func (w *nodeWorld) sameLists(t *testing.T, script string, ids []string, confirmed int) {
	t.Helper()
	c := connect(t, w.addr)
	get := func(result any, method string, params ...any) {
		t.Helper()
		if code := c.call(result, method, params...); code != 0 {
			t.Fatalf("%s %v: error %d", method, params, code)
		}
	}
	var history, mempool, unspent []entry
	eventually(t, "the server does not follow the node", func() bool {
		var tip struct{ Height model.HeightPk }
		get(&tip, "blockchain.headers.get_tip")
		get(&history, "blockchain.scripthash.get_history", script)
		get(&mempool, "blockchain.scripthash.get_mempool", script)
		return tip.Height == w.node.Tip().Height && len(history)-len(mempool) == confirmed && len(history) == len(ids)
	})
	get(&unspent, "blockchain.scripthash.listunspent", script)
	var points []struct {
		ID    string `json:"tx_hash"`
		Index int    `json:"tx_pos"`
	}
	get(&points, "blockchain.scripthash.listunspent", script)
	seen := map[any]bool{}
	for _, p := range points {
		if seen[p] {
			t.Errorf("listunspent has %+v twice", p)
		}
		seen[p] = true
	}
	for _, list := range []struct {
		name string
		got  []entry
		want []string
	}{{"get_history", history, ids}, {"get_mempool", mempool, ids[confirmed:]}, {"listunspent", unspent, ids}} {
		var got []string
		for _, e := range list.got {
			got = append(got, e.Tx)
		}
		slices.Sort(got)
		if list.name == "listunspent" { // a transaction can have several outputs
			got = slices.Compact(got)
		}
		if want := slices.Sorted(slices.Values(list.want)); !slices.Equal(got, want) {
			t.Errorf("%s: %d transactions, expected %d", list.name, len(got), len(want))
		}
	}
	var status json.RawMessage
	if get(&status, "blockchain.scripthash.get_status", script); string(status) != statusOf(history) {
		t.Errorf("the status is %s, that of the history is %s", status, statusOf(history))
	}
	for _, e := range history {
		var raw, proof json.RawMessage
		var verbose struct {
			ID string `json:"txid"`
		}
		get(&raw, "blockchain.transaction.get", e.Tx)
		if get(&verbose, "blockchain.transaction.get", e.Tx, true); verbose.ID != e.Tx {
			t.Errorf("the object of %s is that of %s", e.Tx, verbose.ID)
		}
		if e.Height > 0 {
			get(&proof, "blockchain.transaction.get_merkle", e.Tx, e.Height)
		}
	}
}
