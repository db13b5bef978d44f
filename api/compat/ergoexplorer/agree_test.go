package ergoexplorer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"testing"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergonode"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// The APIs of the node and of the explorer say the same about random boxes, transactions, addresses and tokens, and the
// answers of /v1 agree with both. Numbers of boxes differ by the boxes before block 1, confirmations by one.
func TestAgreement(t *testing.T) {
	rng := testseed.Rand(t)
	w := realWorld(t)
	node := ergonode.New(ergonode.Options{Chain: w.Chain, Path: "/node"})
	for range testrun.Rounds(t, 60) {
		w.agree(t, node, w.Boxes[w.GenesisBoxes+rng.IntN(len(w.Boxes)-w.GenesisBoxes)])
	}
}

// fields parses an object of a successful answer.
func fields(t *testing.T, h http.Handler, path string) map[string]any {
	t.Helper()
	a := Ask(t, h, path, "")
	if a.Status != http.StatusOK {
		t.Fatalf("%s: %d %.300s", path, a.Status, a.Body)
	}
	return essence(Parse([]byte(a.Body))).(map[string]any)
}

func (w *world) agree(t *testing.T, node http.Handler, b *Box) {
	t.Helper()
	same := func(what string, values ...any) {
		t.Helper()
		for _, v := range values[1:] {
			if fmt.Sprint(v) != fmt.Sprint(values[0]) {
				t.Errorf("%s of box %s: %v", what, b.ID, values)
			}
		}
	}
	one, two := fields(t, node, "/node/blockchain/box/byId/"+b.ID), fields(t, w, path+"/api/v1/boxes/"+b.ID)
	for _, name := range []string{"value", "ergoTree", "creationHeight", "assets", "additionalRegisters", "transactionId", "index", "address", "spentTransactionId"} {
		same(name, one[name], two[name])
	}
	same("height", one["inclusionHeight"], two["settlementHeight"])
	first, _ := one["globalIndex"].(json.Number).Int64()
	second, _ := two["globalIndex"].(json.Number).Int64()
	same("number", int(first)+w.GenesisBoxes, second)

	tx, other := fields(t, node, "/node/blockchain/transaction/byId/"+b.Tx.ID), fields(t, w, path+"/api/v1/transactions/"+b.Tx.ID)
	for _, name := range []string{"id", "blockId", "inclusionHeight", "timestamp", "index", "globalIndex", "size"} {
		same(name, tx[name], other[name])
	}
	same("outputs", len(tx["outputs"].([]any)), len(other["outputs"].([]any)))

	address := w.address(b.Tree)
	held := fields(t, node, "/node/blockchain/balanceForAddress/"+address)["confirmed"].(map[string]any)
	total := fields(t, w, path+"/api/v1/addresses/"+address+"/balance/confirmed")
	var v1 *query.BalanceAnswer
	var output *query.OutputAnswer
	var details *query.TxAnswer
	err := w.DB.View(t.Context(), func(v *query.View) (err error) {
		ctx := context.WithoutCancel(t.Context())
		if v1, err = v.Balance(ctx, "address", address); err != nil {
			return err
		}
		if output, err = v.Output(ctx, b.ID); err != nil {
			return err
		}
		details, err = v.Tx(ctx, b.Tx.ID)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	same("balance", held["nanoErgs"], total["nanoErgs"], v1.Balance)
	same("tokens", len(held["tokens"].([]any)), len(total["tokens"].([]any)), len(v1.Assets))
	same("value", one["value"], output.Value)
	same("tree", one["ergoTree"], output.ErgoTree)
	same("id", b.ID, output.BoxID)
	same("creation height", one["creationHeight"], *output.CreationHeight)
	registers := map[string]any{}
	for name, r := range output.Registers {
		registers[name] = r.Raw
	}
	if !reflect.DeepEqual(one["additionalRegisters"], registers) {
		t.Errorf("registers of %s: %v and %v", b.ID, one["additionalRegisters"], registers)
	}
	var spender any
	if output.SpentBy.Value != nil {
		spender = output.SpentBy.Value.Tx
	}
	same("spender", one["spentTransactionId"], spender)
	same("size", tx["size"], details.Size)
	same("confirmations", tx["numConfirmations"], int(details.Confirmations)-1)
	same("confirmations of the explorer", other["numConfirmations"], details.Confirmations)
}
