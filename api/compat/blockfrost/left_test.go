package blockfrost_test

import (
	"testing"
	"time"

	"birthmark/core/pending/pendingtest"
	"birthmark/model"
)

// A transaction that has left the node, but not yet the server, whose bytes were dropped to save memory, is not found, in
// the words of the original.
func TestATransactionThatLeftTheNodeIsNotFound(t *testing.T) {
	var leaving *pendingtest.Leaving
	n := generatedWith(t, 50*time.Millisecond, func(src model.Source) model.Source {
		leaving = pendingtest.NewLeaving(src)
		return leaving
	})
	txs, err := n.rest[0].Txs()
	if err != nil {
		t.Fatal(err)
	}
	n.pending(t, 0)
	n.node.SetMempool(txs[0])
	n.pending(t, 1)
	id := n.world.hashesOf(t, n.rest[0])[0]
	for tx := range n.mempool.Standing().Newest() {
		leaving.Leave(tx.ID)
	}
	const want = `{"status_code":404,"error":"Not Found","message":"The requested component has not been found."}`
	if status, body := n.ask(t, "GET", "/mempool/"+id); status != 404 || body != want {
		t.Errorf("%d %s, expected %s", status, body, want)
	}
}
