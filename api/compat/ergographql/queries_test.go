package ergographql_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
)

// A submitted transaction is in mempool before the answer is sent, and its boxes can be requested. A rejection has the
// node's message. Amounts may be strings, and numbers beyond 2^53 remain exact.
func TestSubmit(t *testing.T) {
	c := ergogen.New(ergogen.Options{Seed: 2, TxsPerBlock: 8})
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(c, 20)...)
	w.Settled(t)
	next := w.Model(nil).Possible(ergotest.Txs(ergotest.Made(c, 1)[0])[1:])
	w.Node.Expect(next...)
	for _, name := range []string{"checkTransaction", "submitTransaction"} {
		query := "mutation ($tx: SignedTransaction!) { id: " + name + "(signedTransaction: $tx) }"
		for _, tx := range next {
			w.same(t, query, map[string]any{"tx": json.RawMessage(tx.JSON)}, map[string]any{"id": tx.ID.String()})
			listed := []any{}
			if name == "submitTransaction" {
				listed = append(listed, map[string]any{"transactionId": tx.ID.String()})
			}
			w.same(t, "query ($id: String) { mempool { transactions(transactionId: $id) { transactionId } } }",
				map[string]any{"id": tx.ID.String()}, map[string]any{"mempool": map[string]any{"transactions": listed}})
		}
		stranger := strings.Replace(string(next[0].JSON), next[0].ID.String(), strings.Repeat("cd", 32), 1)
		data, failure := w.query(t, query, map[string]any{"tx": json.RawMessage(stranger)})
		if data != nil || !strings.Contains(failure, "every input of the transaction should be in UTXO") {
			t.Errorf("%s of a transaction that the node refuses: %v %q", name, data, failure)
		}
	}
	if len(next) < 3 {
		t.Fatalf("%d transactions, expected more", len(next))
	}
}

// Errors name the argument or field, and have no data.
func TestErrors(t *testing.T) {
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(ergogen.New(ergogen.Options{Seed: 1}), 3)...)
	zero := strings.Repeat("00", 32)
	ids := strings.Repeat(`"`+zero+`" `, 21)
	for _, c := range []struct{ query, says string }{
		{"{ boxes(spent: false) { boxId } }", "a condition on boxId"},
		{`{ boxes(boxId: "12") { boxId } }`, "is not an id"},
		{`{ boxes(boxIds: [` + ids + `]) { boxId } }`, "expected at most 20"},
		{`{ boxes(address: "nonsense") { boxId } }`, "invalid address"},
		{`{ boxes(ergoTree: "xy") { boxId } }`, "not hex"},
		{`{ boxes(boxId: "` + zero + `" take: 201) { boxId } }`, "take: expected 1 to 200"},
		{`{ boxes(boxId: "` + zero + `" skip: -1) { boxId } }`, "skip: expected a number from 0"},
		{`{ boxes(boxId: "` + zero + `" registers: {}) { boxId } }`, "Unknown argument"},
		{`{ boxes(boxId: "` + zero + `") { spentBy { boxId } } }`, "Cannot query field"},
		{`{ boxes(boxId: "` + zero + `") { boxId `, "syntax error"},
		{`{ mempool { boxes(tokenId: "1") { boxId } } }`, "is not an id"},
		{`{ tokens { tokenId } }`, "tokenId or tokenIds is required"},
		{`{ addresses(addresses: ["x"]) { used } }`, "invalid address"},
		{`mutation { submitTransaction(signedTransaction: 3) }`, "not a JSON object"},
		{`{ ` + strings.Repeat("a", 17<<10) + ` }`, "query length"},
	} {
		if data, failure := w.query(t, c.query, nil); len(data) > 0 || !strings.Contains(failure, c.says) {
			t.Errorf("%.200s: %v %q, expected %q", c.query, data, failure, c.says)
		}
	}
	var aliases strings.Builder
	for i := range 21 {
		fmt.Fprintf(&aliases, "a%d: blockHeaders(take: 1) { height } ", i)
	}
	if data, failure := w.query(t, "{ "+aliases.String()+" }", nil); data != nil || !strings.Contains(failure, "at most 20 lists") {
		t.Errorf("21 lists: %v %q", data, failure)
	}
	w.same(t, "query ($spent: Boolean! $id: String) { mempool { boxes(boxId: $id) { boxId } } }", map[string]any{"spent": false, "id": zero},
		map[string]any{"mempool": map[string]any{"boxes": []any{}}}) // as Fleet requests unconfirmed boxes
	w.same(t, `{ boxes(boxId: "`+zero+`") { boxId } info { version } }`, nil,
		map[string]any{"boxes": []any{}, "info": map[string]any{"version": "0.5.5"}})
	for _, c := range []struct {
		method, body string
		status       int
	}{
		{http.MethodGet, "", 405}, {http.MethodPost, "{", 400}, {http.MethodPost, "{}", 400}, {http.MethodOptions, "", 200},
		{http.MethodPost, strings.Repeat(" ", 2<<20), 413},
	} {
		a := Send(t, w, c.method, path, c.body)
		if a.Status != c.status || c.status != 200 && !strings.Contains(a.Body, `{"errors":[{"message":"`) {
			t.Errorf("%s %.10s: %d %s, expected %d", c.method, c.body, a.Status, a.Body, c.status)
		}
	}
}

// Tokens have the description of their minting box.
func TestTokens(t *testing.T) {
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(ergogen.New(ergogen.Options{Seed: 4, TxsPerBlock: 8}), 40)...)
	w.Naive = w.Model(nil)
	var ids []string
	first, minted := map[string]*Box{}, map[string]uint64{}
	for _, b := range w.Boxes {
		for _, x := range b.Tokens {
			if x.Amount > 0 && first[x.ID] == nil {
				first[x.ID] = b
				ids = append(ids, x.ID)
			}
			if first[x.ID] == b { // the explorer counts the first box only
				minted[x.ID] += x.Amount
			}
		}
	}
	ids = ids[:min(20, len(ids))]
	want := []any{}
	named := 0
	for _, id := range ids {
		want = append(want, map[string]any{
			"tokenId": id, "boxId": first[id].ID, "emissionAmount": strconv.FormatUint(minted[id], 10),
			"box": map[string]any{"transactionId": first[id].Tx.ID, "additionalRegisters": first[id].JSON["additionalRegisters"]},
		})
	}
	w.same(t, "query ($ids: [String!]) { tokens(tokenIds: $ids) { tokenId boxId emissionAmount box { transactionId additionalRegisters } } }",
		map[string]any{"ids": ids}, map[string]any{"tokens": want})
	data, failure := w.query(t, "query ($ids: [String!]) { tokens(tokenIds: $ids) { tokenId name type } }", map[string]any{"ids": ids})
	if failure != "" {
		t.Fatal(failure)
	}
	for _, v := range data["tokens"].([]any) {
		x := v.(map[string]any)
		name, _ := first[x["tokenId"].(string)].JSON["additionalRegisters"].(map[string]any)["R4"].(string)
		raw, _ := hex.DecodeString(name[min(4, len(name)):])
		if !strings.HasPrefix(name, "0e") || len(name) <= 4 {
			continue
		}
		named++
		if !utf8.Valid(raw) {
			if x["name"] != nil || x["type"] != nil {
				t.Errorf("token %v: its register is %s", x, name)
			}
			continue
		}
		if x["name"] != string(raw) || x["type"] != "EIP-004" {
			t.Errorf("token %v: its register is %s", x, name)
		}
	}
	if len(ids) < 3 || named == 0 {
		t.Errorf("%d tokens, %d with a name: expected more", len(ids), named)
	}
}
