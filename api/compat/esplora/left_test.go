package esplora_test

import (
	"net/http"
	"strings"
	"testing"

	"birthmark/core/pending/pendingtest"
	"birthmark/internal/testnode/coretest"
	"birthmark/model"
)

// A transaction that has left the node, but not yet the server, whose bytes were dropped to save memory, is left out of
// lists. The others remain.
func TestListsLackTransactionsThatLeftTheNode(t *testing.T) {
	var leaving *pendingtest.Leaving
	w := newNodeWorldFrom(t, func(src model.Source) model.Source {
		leaving = pendingtest.NewLeaving(src)
		return leaving
	})
	coins := w.node.Coins(t, 4)
	w.sync(t)
	var ids []model.Hash
	var texts []string
	for _, c := range coins {
		tx := coretest.Spend(1000, c)
		if err := w.node.TrySend(tx); err != nil {
			t.Fatal(err)
		}
		ids, texts = append(ids, coretest.ID(tx)), append(texts, tx.TxHash().String())
	}
	w.settle(t)
	leaving.Leave(ids[1])
	key := keyOf(coretest.AnyoneCanSpend)
	for list, body := range map[string]string{
		"/scripthash/" + key + "/txs": "", "/scripthash/" + key + "/txs/mempool": "", "/scripthashes/txs": `["` + key + `"]`,
	} {
		a := w.ask(t, list, nil)
		if body != "" {
			a = w.post(t, list, body)
		}
		for i, id := range texts {
			if in := strings.Contains(a.body, `{"txid":"`+id+`"`); a.status != http.StatusOK || in != (i != 1) {
				t.Errorf("%s: %d: transaction %d listed: %v: %.300s", list, a.status, i, in, a.body)
			}
		}
	}
	for i, id := range texts {
		for _, part := range []string{"", "/hex", "/raw"} {
			path := "/tx/" + id + part
			if a := w.ask(t, path, nil); (a.status == http.StatusNotFound) != (i == 1) {
				t.Errorf("%s: %+v", path, a)
			}
		}
	}
}
