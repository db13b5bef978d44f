package mempool_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/btcdtest"
	"birthmark/internal/testnode/coretest"
	"birthmark/model"
)

// A real btcd: list and WebSocket, submitted transactions, tests of transactions, packages sent one by one, and fees.
func TestTheMempoolOfBtcd(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts btcd")
	}
	n := btcdtest.Start(t)
	m := n.MineEveryScript(t, 140)
	src := open(t, n.URL(), indexes...)
	ctx := t.Context()
	if ids, number, err := src.MempoolIDs(ctx); err != nil || len(ids) != 0 || number != 0 {
		t.Fatalf("%d ids, number %d, %v", len(ids), number, err)
	}
	seq, _ := events(t, src)

	txs := m.Pending(t, 4)
	for _, tx := range txs[:2] {
		if id, err := src.Submit(ctx, coretest.Raw(tx), model.SubmitOptions{}); err != nil || id != coretest.ID(tx) {
			t.Fatalf("%v, %v", id, err)
		}
		e := <-seq
		if e.Kind != model.TxAdded || e.ID != coretest.ID(tx) || e.Tx == nil || e.Sequence != 0 {
			t.Errorf("%+v", e)
		}
	}
	_, err := src.Submit(ctx, coretest.Raw(txs[0]), model.SubmitOptions{})
	wantError(t, err, model.Usage, "rejected", "")
	if err != nil && !strings.Contains(err.Error(), "already have transaction") {
		t.Error(err)
	}
	bad := coretest.Spend(500, coretest.Coin{At: wire.OutPoint{Index: 3}, Value: 5000})
	_, err = src.Submit(ctx, coretest.Raw(bad), model.SubmitOptions{})
	wantError(t, err, model.Usage, "rejected", "")
	_, err = src.Submit(ctx, coretest.Raw(txs[2]), model.SubmitOptions{MaxFeeRate: "0.1"})
	wantError(t, err, model.NotFound, "unsupported", "")

	ids, _, err := src.MempoolIDs(ctx)
	if err != nil || !slices.Equal(sorted(ids), sorted(idsOf(txs[:2]))) {
		t.Fatalf("%v, %v", ids, err)
	}
	got := must[[]*model.Unconfirmed](t)(src.MempoolTxs(ctx, append(ids, model.Hash{9})))
	for i, tx := range got[:2] {
		if tx.Hash != ids[i] || len(tx.Outputs) == 0 || len(tx.Outputs[0].Keys) == 0 {
			t.Errorf("%+v", tx)
		}
	}
	if got[2] != nil {
		t.Error("an unknown transaction is found")
	}

	text := must[[]byte](t)(src.TestAccept(ctx, [][]byte{coretest.Raw(txs[2]), coretest.Raw(bad)}, model.SubmitOptions{}))
	var results []struct{ Allowed bool }
	if err := json.Unmarshal(text, &results); err != nil || len(results) != 2 || !results[0].Allowed || results[1].Allowed {
		t.Errorf("%s, %v", text, err)
	}
	text = must[[]byte](t)(src.SubmitPackage(ctx, [][]byte{coretest.Raw(txs[2]), coretest.Raw(txs[3])}, model.SubmitOptions{}))
	if !strings.Contains(string(text), `"package_msg":"success"`) {
		t.Errorf("%s", text)
	}
	for range 2 {
		<-seq
	}
	mined := n.Generate(t, 1)[0]
	if e := <-seq; e.Kind != model.BlockConnected || e.ID != mined {
		t.Errorf("%+v", e)
	}
	n.Invalidate(t, mined)
	if e := <-seq; e.Kind != model.BlockDisconnected || e.ID != mined {
		t.Errorf("%+v", e)
	}

	if rates := must[map[int]float64](t)(src.EstimateFees(ctx, []int{1, 6, 144}, "")); len(rates) > 3 {
		t.Errorf("%v", rates)
	}
	least := must[model.MinimumFees](t)(src.MinimumFees(ctx))
	if least.Relay != 1000 || least.Mempool != 1000 {
		t.Errorf("%+v", least)
	}
}
