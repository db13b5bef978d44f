package mempool_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/coretest"
	"birthmark/model"
)

// refused checks the kind, the code and the message of a rejection by the node.
func refused(t testing.TB, err error, code int, message string) {
	t.Helper()
	wantError(t, err, model.Usage, "rejected", message)
	if e, ok := errors.AsType[*model.NodeError](err); !ok || e.Code != code {
		t.Errorf("%v has no code %d", err, code)
	}
}

func TestSubmittedTransactionsAreInTheMempool(t *testing.T) {
	n := coretest.Start(t)
	coins := n.Coins(t, 5)
	src := open(t, n.URL())
	ctx := t.Context()
	tx := coretest.Spend(500, coins[0])
	for range 2 { // the second time the node only sends it to peers again
		if id, err := src.Submit(ctx, coretest.Raw(tx), model.SubmitOptions{}); err != nil || id != coretest.ID(tx) {
			t.Errorf("%v, %v", id, err)
		}
	}
	if pool := n.Mempool(); len(pool) != 1 || coretest.ID(pool[0]) != coretest.ID(tx) {
		t.Errorf("%d transactions", len(pool))
	}
	submit := func(tx *wire.MsgTx, o model.SubmitOptions) error {
		_, err := src.Submit(ctx, coretest.Raw(tx), o)
		return err
	}
	refused(t, submit(coretest.Spend(1, coins[1]), model.SubmitOptions{}), -26, "min relay fee not met, 1 < 61")
	refused(t, submit(coretest.Spend(500, coretest.Coin{Value: 1000}), model.SubmitOptions{}), -25, "bad-txns-inputs-missingorspent")
	refused(t, submit(coretest.Spend(100_000, coins[1]), model.SubmitOptions{MaxFeeRate: "0.001"}), -25,
		"Fee exceeds maximum configured by user (e.g. -maxtxfee, maxfeerate)")
	burn := coretest.Pay(coins[2:3], wire.NewTxOut(5000, []byte{0x6a}), wire.NewTxOut(coins[2].Value-6000, coretest.AnyoneCanSpend))
	refused(t, submit(burn, model.SubmitOptions{}), -25, "Unspendable output exceeds maximum configured by user (maxburnamount)")
	if err := submit(burn, model.SubmitOptions{MaxBurnAmount: "0.00005"}); err != nil {
		t.Error(err)
	}
	_, err := src.Submit(ctx, []byte{1, 2, 3}, model.SubmitOptions{})
	refused(t, err, -22, "TX decode failed. Make sure the tx has at least one input.")

	n.Set(func(f *coretest.Faults) { f.Lacks = []string{"getnetworkinfo"} })
	src = open(t, n.URL())
	_, err = src.Submit(ctx, coretest.Raw(burn), model.SubmitOptions{MaxFeeRate: "0.1"})
	wantError(t, err, model.NotFound, "unsupported", "")
	n.Set(func(f *coretest.Faults) { f.Starting = "Verifying blocks…" })
	_, err = src.Submit(ctx, coretest.Raw(tx), model.SubmitOptions{})
	wantError(t, err, model.BadSource, "starting", "")
	n.Set(func(f *coretest.Faults) { f.Starting, f.Lacks = "", []string{"sendrawtransaction"} })
	_, err = src.Submit(ctx, coretest.Raw(tx), model.SubmitOptions{})
	wantError(t, err, model.BadSource, "method_missing", "")
}

func TestTransactionsAreTestedByTheNode(t *testing.T) {
	n := coretest.Start(t)
	coins := n.Coins(t, 2)
	src := open(t, n.URL())
	parent := coretest.Spend(500, coins[0])
	child := coretest.Spend(500, coretest.Outputs(parent)[0])
	raws := [][]byte{coretest.Raw(parent), coretest.Raw(child), coretest.Raw(coretest.Spend(1, coins[1]))}
	text := must[[]byte](t)(src.TestAccept(t.Context(), raws, model.SubmitOptions{}))
	var results []struct {
		Txid    string
		Allowed bool
		Reason  string `json:"reject-reason"`
	}
	if err := json.Unmarshal(text, &results); err != nil || len(results) != 3 || !results[0].Allowed || !results[1].Allowed ||
		results[2].Allowed || results[2].Reason != "min relay fee not met, 1 < 61" || results[0].Txid != parent.TxHash().String() {
		t.Errorf("%s, %v", text, err)
	}
	if len(n.Mempool()) != 0 {
		t.Error("the test submitted transactions")
	}
	text = must[[]byte](t)(src.TestAccept(t.Context(), raws[:1], model.SubmitOptions{MaxFeeRate: "0.00000001"}))
	if !strings.Contains(string(text), "max-fee-exceeded") {
		t.Errorf("the limit of the fee rate is ignored: %s", text)
	}
	n.Set(func(f *coretest.Faults) { f.Lacks = []string{"testmempoolaccept"} })
	_, err := src.TestAccept(t.Context(), raws, model.SubmitOptions{})
	wantError(t, err, model.NotFound, "unsupported", n.Host()+" does not support testmempoolaccept")
	_, err = src.TestAccept(t.Context(), nil, model.SubmitOptions{MaxBurnAmount: "1"})
	wantError(t, err, model.NotFound, "unsupported", "")
}

// The child of a package pays for its parent. A node without submitpackage rejects that in the same format.
func TestPackagesAreSubmittedTogether(t *testing.T) {
	n := coretest.Start(t)
	coins := n.Coins(t, 2)
	type answer struct {
		Message string `json:"package_msg"`
		Results map[string]struct {
			Txid  string
			VSize int
			Error string
		} `json:"tx-results"`
		Replaced []string `json:"replaced-transactions"`
	}
	for i, lacks := range [][]string{nil, {"submitpackage"}} {
		n.Set(func(f *coretest.Faults) { f.Lacks = lacks })
		src := open(t, n.URL())
		parent := coretest.Spend(0, coins[i])
		child := coretest.Spend(1000, coretest.Outputs(parent)[0])
		var a answer
		text := must[[]byte](t)(src.SubmitPackage(t.Context(), [][]byte{coretest.Raw(parent), coretest.Raw(child)}, model.SubmitOptions{}))
		if err := json.Unmarshal(text, &a); err != nil || len(a.Results) != 2 || a.Replaced == nil {
			t.Fatalf("%s, %v", text, err)
		}
		one, two := a.Results[parent.WitnessHash().String()], a.Results[child.WitnessHash().String()]
		if one.Txid != parent.TxHash().String() || two.Txid != child.TxHash().String() {
			t.Errorf("%s", text)
		}
		if lacks == nil {
			if a.Message != "success" || one.Error != "" || one.VSize == 0 || len(n.Mempool()) != 2 {
				t.Errorf("%s, and %d transactions in the mempool", text, len(n.Mempool()))
			}
			continue
		}
		if a.Message != "transaction failed" || !strings.HasPrefix(one.Error, "min relay fee not met, 0 < 61 (the node has no submitpackage") ||
			two.Error != "package-not-validated" || len(n.Mempool()) != 2 {
			t.Errorf("%s, and %d transactions in the mempool", text, len(n.Mempool()))
		}
		good := coretest.Spend(500, coins[i])
		next := coretest.Spend(500, coretest.Outputs(good)[0])
		text = must[[]byte](t)(src.SubmitPackage(t.Context(), [][]byte{coretest.Raw(good), coretest.Raw(next)}, model.SubmitOptions{}))
		if !strings.Contains(string(text), `"package_msg":"success"`) || len(n.Mempool()) != 4 {
			t.Errorf("%s, and %d transactions in the mempool", text, len(n.Mempool()))
		}
		_, err := src.SubmitPackage(t.Context(), [][]byte{{1}}, model.SubmitOptions{})
		wantError(t, err, model.Usage, "rejected", "")
	}
}
