package ergoexplorer_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testseed"
)

// feeTree is the contract that receives the fees of transactions.
const feeTree = "1005040004000e36100204a00b08cd0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
	"ea02d192a39a8cc7a701730073011001020402d19683030193a38cc7b2a57300000193c2b2a57301007473027303830108cdeeac93b1a57304"

// old is a UTransactionInfo of version 0 without its time.
func (w *world) old(t *Tx) map[string]any {
	inputs, data, outputs := []any{}, []any{}, []any{}
	input := func(b *Box, i int) map[string]any {
		return map[string]any{
			"id": b.ID, "transactionId": t.ID, "value": b.Value, "index": i, "outputTransactionId": b.JSON["transactionId"],
			"outputIndex": b.JSON["index"], "address": w.address(b.Tree),
		}
	}
	for i, b := range t.Inputs {
		in := input(b, i)
		proof := t.JSON["inputs"].([]any)[i].(map[string]any)["spendingProof"].(map[string]any)
		in["spendingProof"] = map[string]any{"proofBytes": proofOf(proof), "extension": proof["extension"]}
		inputs = append(inputs, in)
	}
	for i, v := range t.JSON["dataInputs"].([]any) {
		data = append(data, input(w.Box(v.(map[string]any)["boxId"].(string)), i))
	}
	for _, b := range t.Outputs {
		out := map[string]any{"id": b.ID, "txId": t.ID, "value": b.Value, "address": w.address(b.Tree)}
		for _, name := range []string{"index", "creationHeight", "ergoTree", "assets", "additionalRegisters"} {
			out[name] = b.JSON[name]
		}
		outputs = append(outputs, out)
	}
	return map[string]any{"id": t.ID, "inputs": inputs, "dataInputs": data, "outputs": outputs, "size": t.JSON["size"]}
}

// Version 0 of the API has the unconfirmed transactions: all of them, those of an address, and one with its fee.
func TestVersion0HasUnconfirmedTransactions(t *testing.T) {
	rng := testseed.Rand(t)
	c := ergogen.New(Odd(rng))
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(c, 20)...)
	pool := w.Model(nil).Possible(ergotest.Txs(ergotest.Made(c, 1)[0])[1:])
	w.Node.SetPool(pool...)
	w.Naive = w.Settled(t)
	same := func(target string, total int, txs []*Tx) {
		t.Helper()
		a := Ask(t, w, path+"/api/v0/transactions/unconfirmed"+target, "")
		var got struct {
			Items []json.RawMessage
			Total int
		}
		if err := json.Unmarshal([]byte(a.Body), &got); err != nil || got.Total != total || len(got.Items) != len(txs) {
			t.Fatalf("%s: %d %v: %d of %d, expected %d of %d: %.300s", target, a.Status, err, len(got.Items), got.Total, len(txs), total, a.Body)
		}
		for i, tx := range txs {
			sameOld(t, w, got.Items[i], w.old(tx))
		}
	}
	newest := Reverse(w.Pool)
	same("", len(newest), Page(newest, 0, 20))
	same("?limit=2&offset=1", len(newest), Page(newest, 1, 2))
	same("?sortBy=creationtimestamp&sortDirection=asc", len(newest), Page(w.Pool, 0, 20))
	of := map[string][]*Tx{}
	for _, tx := range newest {
		seen := map[string]bool{}
		for _, b := range append(append([]*Box{}, tx.Inputs...), tx.Outputs...) {
			if !seen[b.Tree] && b.Tree == b.Payable() { // else its address belongs to another tree
				seen[b.Tree] = true
				of[b.Tree] = append(of[b.Tree], tx)
			}
		}
	}
	for tree, txs := range of {
		same("/byAddress/"+w.address(tree)+"?limit=100", len(txs), txs)
	}
	for _, tx := range w.Pool {
		var coins, fee uint64
		for _, b := range tx.Inputs {
			coins += b.Value
		}
		for _, b := range tx.Outputs {
			if b.Tree == feeTree {
				fee += b.Value
			}
		}
		want := w.old(tx)
		size := want["size"].(json.Number).String()
		var bytes float64
		if _, err := fmt.Sscan(size, &bytes); err != nil {
			t.Fatal(err)
		}
		want["ioSummary"] = map[string]any{
			"totalCoinsTransferred": coins, "totalFee": fee, "feePerByte": float64(fee) / bytes,
		}
		sameOld(t, w, []byte(Ask(t, w, path+"/api/v0/transactions/unconfirmed/"+tx.ID, "").Body), want)
	}
	for _, part := range []string{`"version":"4"`, `"supply":1500000000000`, `"transactionAverage":`, `"hashRate":`} {
		if a := Ask(t, w, path+"/api/v0/info", ""); !strings.Contains(a.Body, part) {
			t.Errorf("/info: %d %s, expected %s", a.Status, a.Body, part)
		}
	}
	for target, status := range map[string]int{
		"/" + w.Txs[3].ID: http.StatusNotFound, "/xyz": http.StatusBadRequest, "?sortBy=fee": http.StatusBadRequest,
		"/byAddress/xyz": http.StatusBadRequest, "?limit=0": http.StatusBadRequest, "/a/b/c": http.StatusNotFound,
	} {
		if a := Ask(t, w, path+"/api/v0/transactions/unconfirmed"+target, ""); a.Status != status {
			t.Errorf("%s: %d %s, expected %d", target, a.Status, a.Body, status)
		}
	}
}

func sameOld(t *testing.T, w *world, got []byte, want map[string]any) {
	t.Helper()
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	have := Parse(got).(map[string]any)
	if seen, ok := have["creationTimestamp"].(json.Number); !ok || seen == "0" {
		t.Errorf("the time of arrival is %v", have["creationTimestamp"])
	}
	if a, b := fmt.Sprint(essence(have)), fmt.Sprint(essence(Parse(raw))); a != b {
		t.Errorf("got  %.1500s\nwant %.1500s", a, b)
	}
}
