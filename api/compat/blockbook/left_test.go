package blockbook_test

import (
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/core/pending/pendingtest"
	"birthmark/internal/testnode/coretest"
	"birthmark/model"
)

// A transaction that has left the node, but not yet the server, whose bytes were dropped to save memory, is left out of
// lists of transactions and of unspent outputs. The others remain, and confirmed outputs that it spends, too.
func TestListsLackTransactionsThatLeftTheNode(t *testing.T) {
	var leaving *pendingtest.Leaving
	w := newFullWorldFrom(t, func(src model.Source) model.Source {
		leaving = pendingtest.NewLeaving(src)
		return leaving
	})
	account := w.accounts[2]
	script, err := account.Script(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	pay := func(coin coretest.Coin) *wire.MsgTx {
		t.Helper()
		tx := coretest.Pay([]coretest.Coin{coin}, wire.NewTxOut(coin.Value-1000, script))
		if err := w.full.TrySend(tx); err != nil {
			t.Fatal(err)
		}
		return tx
	}
	coins := w.full.Coins(t, 3)
	funds := pay(coins[0])
	w.full.Mine(t)
	w.sync(t)
	receives, stays := pay(coins[1]), pay(coins[2])
	spends := pay(coretest.Coin{At: wire.OutPoint{Hash: funds.TxHash()}, Value: funds.TxOut[0].Value})
	w.settle(t)
	leaving.Leave(coretest.ID(receives), coretest.ID(spends))

	confirmed, unconfirmed := funds.TxHash().String(), stays.TxHash().String()
	check := func(path string, list func(*testing.T, string) []string, want ...string) {
		t.Helper()
		status, answer := w.ask(t, path, "")
		if got := list(t, answer); status != 200 || !slices.Equal(got, want) {
			t.Errorf("%s: %d %.300s, expected %v", path, status, answer, want)
		}
	}
	for _, of := range []string{"address/" + address(script), "xpub/" + escaped(account.Text)} {
		for _, details := range []string{"txslight", "txs"} {
			check("/api/v2/"+of+"?details="+details, txIDs, unconfirmed, confirmed)
		}
	}
	for _, of := range []string{address(script), escaped(account.Text)} {
		check("/api/v2/utxo/"+of, firstOutputs, unconfirmed)
		check("/api/v2/utxo/"+of+"?confirmed=true", firstOutputs, confirmed)
	}
	for tx, want := range map[string]int{receives.TxHash().String(): 400, unconfirmed: 200} {
		if status, answer := w.ask(t, "/api/v2/tx/"+tx, ""); status != want {
			t.Errorf("transaction %s: %d %.300s, expected %d", tx, status, answer, want)
		}
	}
}
