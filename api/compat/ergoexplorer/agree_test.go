package ergoexplorer_test

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"unicode"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergonode"
	"birthmark/bench/generate/ergogen"
	"birthmark/core/query"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// The APIs of the node and of the explorer, and /v1, agree about random boxes, transactions, addresses and tokens of the
// first real blocks and of a generated chain. Numbers of boxes differ by the boxes before block 1, confirmations by one.
func TestAgreement(t *testing.T) {
	testrun.Slow(t)
	rng := testseed.Rand(t)
	made := newWorld(t, "testnet")
	made.Sync(t, 0, ergotest.Made(ergogen.New(ergogen.Options{Seed: rng.Uint64(), TxsPerBlock: 8}), 40)...)
	made.Naive = made.Model(nil)
	for _, w := range []*world{realWorld(t), made} {
		node := ergonode.New(ergonode.Options{Chain: w.Chain, Path: "/node"})
		tokens := 0
		for range testrun.Rounds(t, 60) {
			b := w.Boxes[w.GenesisBoxes+rng.IntN(len(w.Boxes)-w.GenesisBoxes)]
			w.agree(t, node, b)
			for _, x := range b.Tokens {
				tokens++
				w.agreeOnToken(t, node, x.ID)
			}
		}
		if w == made && tokens == 0 {
			t.Error("no box has a token")
		}
	}
}

// agreeOnToken compares the answers of the APIs for a token.
func (w *world) agreeOnToken(t *testing.T, node http.Handler, id string) {
	t.Helper()
	one, two := fields(t, node, "/node/blockchain/token/byId/"+id), fields(t, w, path+"/api/v1/tokens/"+id)
	var asset *query.AssetAnswer
	err := w.DB.View(t.Context(), func(v *query.View) (err error) {
		asset, err = v.Asset(t.Context(), id)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	text := func(v any) string { // the node has empty texts and 0, the explorer null
		if v == nil {
			return ""
		}
		return fmt.Sprint(v)
	}
	decimals := text(two["decimals"])
	if decimals == "" {
		decimals = "0"
	}
	first, inFirst := w.Box(one["boxId"].(string)), uint64(0)
	for _, x := range first.Tokens {
		if x.ID == id {
			inFirst += x.Amount
		}
	}
	// The explorer describes no token without a name in its alphabet, the node replaces invalid bytes.
	described := two["name"] != nil || text(one["name"]) != "" && !strings.ContainsFunc(text(one["name"]), func(r rune) bool { return r > unicode.MaxASCII })
	sameText := text(one["name"]) == text(two["name"]) && text(one["description"]) == text(two["description"]) && text(one["decimals"]) == decimals
	// The node sums the outputs of the mint, the explorer has the amount in the first of them.
	if one["boxId"] != two["boxId"] || text(two["emissionAmount"]) != fmt.Sprint(inFirst) || described && !sameText ||
		text(one["emissionAmount"]) != asset.Minted || first.Tx.ID != asset.FirstSeen.Tx {
		t.Errorf("token %s: %v, %v and %+v", id, one, two, asset)
	}
	boxes := fields(t, node, "/node/blockchain/box/byTokenId/"+id)
	same := fields(t, w, path+"/api/v1/boxes/byTokenId/"+id)
	if text(boxes["total"]) != text(same["total"]) || text(boxes["total"]) != fmt.Sprint(asset.OutputCount) {
		t.Errorf("boxes of token %s: %v, %v and %d", id, boxes["total"], same["total"], asset.OutputCount)
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
	// Of nodeTestBoxes and explorerTestBoxes in packages/boxes/minimum-fee/tests/testData.ts of rosen-bridge/utils at
	// 4e31d347eacea2bfb8dd30aae9aadef8d41a8f21 too: the box 20eb54ca… has 31536378 at the node and at the explorer.
	same("number", one["globalIndex"], two["globalIndex"])

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
	amounts := func(list any) map[string]string {
		out := map[string]string{}
		for _, x := range list.([]any) {
			out[x.(map[string]any)["tokenId"].(string)] = fmt.Sprint(x.(map[string]any)["amount"])
		}
		return out
	}
	assets := map[string]string{}
	for _, a := range v1.Assets {
		assets[a.Asset] = a.Balance
	}
	same("tokens", amounts(held["tokens"]), amounts(total["tokens"]), assets)
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
