package electrum_test

import (
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/electrum"
	"birthmark/core/pending/pendingtest"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// An output of a transaction that has left the node, but not yet the server, whose bytes were dropped to save memory, is
// unknown.
func TestOutputsOfTransactionsThatLeftTheNode(t *testing.T) {
	var leaving *pendingtest.Leaving
	w := newNodeWorldOf(t, testseed.Rand(t), electrum.Options{Limits: electrum.Defaults()}, 2, [][]byte{coretest.AnyoneCanSpend},
		func(src model.Source) model.Source {
			leaving = pendingtest.NewLeaving(src)
			return leaving
		})
	var ids []model.Hash
	var texts []string
	for _, u := range w.truth().unspent {
		o := u.tx.TxOut[u.index]
		if coinbase(u.tx) {
			continue
		}
		tx := coretest.Spend(1000, coretest.Coin{At: wire.OutPoint{Hash: u.tx.TxHash(), Index: u.index}, Value: o.Value})
		if err := w.node.TrySend(tx); err != nil {
			t.Fatal(err)
		}
		ids, texts = append(ids, coretest.ID(tx)), append(texts, tx.TxHash().String())
	}
	for end := time.Now().Add(patience); w.follower.Standing().Count() < len(ids); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the server does not follow the mempool")
		}
	}
	leaving.Leave(ids[0])
	c := connect(t, w.addr)
	for i, id := range texts {
		var output map[string]any
		if code := c.call(&output, "blockchain.utxo.get_info", id, 0); code != 0 || (output == nil) != (i == 0) {
			t.Errorf("transaction %d: error %d, output %v", i, code, output)
		}
	}
}
