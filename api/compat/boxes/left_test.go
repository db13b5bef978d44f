package boxes_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergoexplorer"
	"birthmark/api/compat/ergographql"
	"birthmark/api/compat/ergonode"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/storage/memory"
)

// A transaction that has left the node, but not yet the server, whose bytes were dropped to save memory, is left out of
// lists of unconfirmed transactions and boxes. The others remain.
func TestListsLackTransactionsThatLeftTheNode(t *testing.T) {
	genesis := filepath.Join("..", "..", "..", "chains", "ergo", "genesis", "testnet.json")
	start := func(bytes int64) (*World, *Naive) {
		w := NewWorldOf(t, "testnet", genesis, memory.New(), bytes)
		c := ergogen.New(ergogen.Options{Seed: 5, TxsPerBlock: 8})
		w.Sync(t, 0, ergotest.Made(c, 20)...)
		return w, w.Pend(t, c, 6)
	}
	w, _ := start(64 << 20)
	w, n := start(w.Mempool.Standing().Info().Memory - 1)
	left := map[string]bool{}
	for _, tx := range w.Node.Pool() {
		if w.Mempool.Standing().Tx(tx.ID).Raw() == nil {
			left[tx.ID.String()] = true
		}
	}
	if len(left) == 0 || len(left) == len(n.Pool) {
		t.Fatalf("%d of %d transactions have no bytes", len(left), len(n.Pool))
	}
	hold := make(chan struct{})
	defer close(hold)
	w.Node.Break(func(r *http.Request, a *ergotest.Answer) {
		switch id, one := strings.CutPrefix(r.URL.Path, "/transactions/unconfirmed/byTransactionId/"); {
		case one && left[id]:
			*a = ergotest.Answer{Status: http.StatusNotFound, Body: []byte(`{"error":404,"reason":"not-found","detail":null}`)}
		case !one && strings.HasPrefix(r.URL.Path, "/transactions/unconfirmed"):
			select { // the server keeps its transactions
			case <-hold:
			case <-r.Context().Done():
			}
		}
	})
	mux := http.NewServeMux()
	mux.Handle("/node/", ergonode.New(ergonode.Options{Chain: w.Chain, Path: "/node"}))
	mux.Handle("/explorer/", ergoexplorer.New(ergoexplorer.Options{Chain: w.Chain, Path: "/explorer"}))
	mux.Handle("/graphql", ergographql.New(ergographql.Options{Chain: w.Chain, Path: "/graphql"}))
	// list sends a request, whose answer has the transactions of the mempool that are still there, or some of them.
	list := func(path, body string, all bool) {
		t.Helper()
		a := Ask(t, mux, path, body)
		if a.Status != http.StatusOK || strings.Contains(a.Body, `"errors"`) {
			t.Errorf("%s %s: %d %.300s", path, body, a.Status, a.Body)
			return
		}
		for _, tx := range n.Pool {
			if all && strings.Contains(a.Body, `"`+tx.ID+`"`) == left[tx.ID] {
				t.Errorf("%s %s: %.300s: transaction %s left: %v", path, body, a.Body, tx.ID, left[tx.ID])
			}
		}
	}
	list("/node/transactions/unconfirmed", "", true)
	list("/explorer/api/v0/transactions/unconfirmed", "", true)
	list("/graphql", `{"query":"{ mempool { transactions(take: 200) { transactionId } } }"}`, true)
	list("/graphql", `{"query":"{ mempool { boxes(take: 200) { transactionId } } }"}`, true)
	list("/explorer/api/v1/mempool/boxes/unspent", "", false)
	format := w.DB.Chain().Indexes()[0].Format
	for _, b := range Distinct(append(n.Fresh, n.Where(func(b *Box) bool { return b.Spender != nil && left[b.Spender.ID] })...), (*Box).Payable) {
		address := Address(format, b)
		list("/explorer/api/v1/mempool/transactions/byAddress/"+address, "", false)
		list("/explorer/api/v0/transactions/unconfirmed/byAddress/"+address, "", false)
		list("/explorer/api/v1/boxes/unspent/all/byAddress/"+address, "", false)
		list("/node/blockchain/box/unspent/byAddress/"+address+"?includeUnconfirmed=true", "", false)
		list("/node/blockchain/balanceForAddress/"+address, "", false)
		list("/node/transactions/unconfirmed/outputs/byErgoTree", b.Tree, false)
	}
	for id := range left {
		if a := Ask(t, mux, "/node/transactions/unconfirmed/byTransactionId/"+id, ""); a.Status != http.StatusNotFound {
			t.Errorf("transaction %s, which left: %d %.300s", id, a.Status, a.Body)
		}
	}
}
