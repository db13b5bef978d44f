//go:build interop

package onesat_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/expr-lang/expr"
)

// @1sat/client reads everything: each call has the answer that the expression after it expects. {name} is a value of the
// test.
func TestInteropClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)
	all := map[string]any{"sats": true, "spend": true, "events": true, "block": true, "tags": []string{"bsv21", "insc"}}
	type list = []any
	calls := []struct {
		call     list
		expected string
	}{
		{list{"", "getCapabilities"}, `"bsv21" in answer and "ordfs" in answer`},
		{list{"bsv21", "getTokenDetails", "{token}"}, `answer.tokenId == token and answer.token.sym == "CATS" and answer.token.amt == "1000" and answer.status.is_active`},
		{list{"bsv21", "lookupTokens", list{"{token}", "{minted}"}}, `map(answer, .tokenId) == [token, minted]`},
		{list{"bsv21", "getTokenByTxid", "{token}", "{burn}"}, `answer.txid == burn and answer.outputs[1].data.bsv21.id == token and answer.block_height == moved + 1`},
		{list{"bsv21", "getBalance", "{token}", "p2pkh", "{b}"}, `answer.balance == 150 and answer.utxoCount == 1`},
		{list{"bsv21", "getUnspent", "{token}", "p2pkh", "{b}"}, `map(answer, .outpoint) == [burn + "_1"]`},
		{list{"bsv21", "getHistory", "{token}", "p2pkh", "{b}"}, `map(answer, .outpoint) == [move + "_0", burn + "_1"]`},
		{list{"bsv21", "getBalanceMulti", "{token}", "p2pkh", list{"{a}", "{b}"}}, `answer.balance == 150`},
		{list{"bsv21", "getUnspentMulti", "{token}", "p2pkh", list{"{a}", "{b}"}}, `len(answer) == 1`},
		{list{"bsv21", "getHistoryMulti", "{token}", "p2pkh", list{"{a}", "{b}"}}, `len(answer) == 4`},
		{list{"bsv21", "validateOutputs", "{token}", list{"{move}_0", "{invalid}_0"}, all}, `len(answer) == 1 and answer[0].spend == burn and answer[0].satoshis == 1`},
		{list{"bsv21", "validateOutput", "{token}", "{burn}_1"}, `answer.outpoint == burn + "_1"`},
		{list{"bsv21", "validateOutput", "{token}", "{invalid}_0"}, `answer.status == 404`},
		{list{"txo", "get", "{move}_0", all}, `answer.outpoint == move + "_0" and answer.spend == burn and answer.satoshis == 1 and answer.blockHeight == moved`},
		{list{"txo", "getBatch", list{"{move}_0", "{burn}_1"}, all}, `map(answer, .data.bsv21.amt) == ["300", "150"]`},
		{list{"txo", "getSpend", "{move}_0"}, `answer == burn`},
		{list{"txo", "getSpends", list{"{move}_0", "{swap}_0"}}, `answer == [burn, nil]`},
		{list{"txo", "getByTxid", "{move}", all}, `map(answer, .outpoint) == [move + "_0", move + "_1"]`},
		{list{"txo", "search", "sym:CATS", all}, `map(answer, .outpoint) == [token] and ("own:" + a) in answer[0].events`},
		{list{"txo", "search", list{"sym:CATS", "sym:DOGS"}}, `map(answer, .outpoint) == [token, minted]`},
		{list{"owner", "getTxos", "{b}", map[string]any{"refresh": true, "sats": true}}, `answer[0].type == "sync" and answer[len(answer)-1].type == "done" and count(answer, .type == "txo") == 6`},
		{list{"owner", "getBalance", "{b}"}, `answer.balance == 6 and answer.count == 6`},
		{list{"owner", "sync", list{"{a}", "{b}"}}, `any(answer, .outpoint == burn + ".1") and any(answer, .spendTxid == carry)`},
		{list{"ordfs", "getMetadata", "{carry}_1", -1}, `answer.origin == ordinal and answer.sequence == 1 and answer.map.name == "a cat"`},
		{list{"ordfs", "bulkMetadata", list{"{ordinal}:-2", "{burn}_7"}}, `answer[ordinal + ":-2"].origin == ordinal and answer[burn + "_7"] == nil`},
		{list{"ordfs", "getContent", "{carry}_1", map[string]any{"seq": 1, "map": true}}, `answer.data == "68656c6c6f" and answer.headers.origin == ordinal and answer.headers.map.name == "a cat"`},
		{list{"ordfs", "previewHtml", "PGI+eDwvYj4="}, `answer == "<b>x</b>"`},
		{list{"ordfs", "previewContent", "hi", "text/plain"}, `answer == "6869"`},
		{list{"beef", "getRawTx", "{burn}"}, `len(answer) > 200`},
		{list{"", "getBeefForTxid", "{burn}"}, `len(answer) > 200`},
		{list{"", "getRawTx", "{burn}"}, `answer.txid == burn and len(answer.rawTx) > 100`},
		{list{"", "getMerklePath", "{burn}"}, `answer.header.height == moved + 1`},
		{list{"", "getMerklePath", "{move}"}, `answer.header.height == moved`},
		{list{"", "getStatusForTxids", list{"{burn}", "{unknown}"}}, `map(answer.results, .status) == ["mined", "unknown"]`},
		{list{"", "isUtxo", map[string]any{"txid": "{burn}", "vout": 1}}, `answer == true`},
		{list{"", "getUtxoStatus", "", "", "{burn}_1"}, `answer.isUtxo and answer.details[0].satoshis == 1 and answer.details[0].height == moved + 1`},
		{list{"", "getHeight"}, `answer == tip`},
		{list{"", "getHeaderForHeight", 1}, `len(answer) == 80`},
		{list{"", "hashToHeader", "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"}, `answer.height == 0`},
		{list{"chaintracks", "getInfo"}, `answer.chain == "test" and answer.heightLive == tip`},
		{list{"chaintracks", "getHeaders", 0, 2}, `len(answer) == 320`},
		{list{"chaintracks", "findChainTipHash"}, `len(answer) == 64`},
		{list{"chaintracks", "findHeaderForHeight", 1}, `answer.height == 1`},
		{list{"chaintracks", "subscribe"}, `answer.height == tip`},
		{list{"arcade", "getStatus", "{burn}"}, `answer.txStatus == "MINED"`},
		{list{"arcade", "getPolicy"}, `answer.miningFee.bytes == 1000 and answer.miningFee.satoshis == 50`},
		{list{"overlay", "listTopicManagers"}, `len(answer) == 0`},
		{list{"overlay", "listLookupServiceProviders"}, `len(answer) == 0`},
	}
	w.known["unknown"] = "ab" + w.Burn.TxHash().String()[2:]
	var questions []any
	for _, c := range calls {
		text, err := json.Marshal(c.call)
		if err != nil {
			t.Fatal(err)
		}
		questions = append(questions, json.RawMessage(w.fill(string(text))))
	}
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "--import", "./resolve.js", "client.js", s.URL+"/bsv")
	cmd.Dir = filepath.Join("..", "..", "..", "tools", "interop", "onesat")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: make test-interop installs the client", err)
	}
	var answers []any
	if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(calls) {
		t.Fatalf("%d answers to %d calls, %v: %.1000s", len(answers), len(calls), err, out)
	}
	for i, c := range calls {
		w.known["answer"] = answers[i]
		if ok, err := expr.Eval(c.expected, w.known); ok != true || err != nil {
			text, _ := json.Marshal(answers[i])
			t.Errorf("%v: expected that %s (%v): %.1500s", c.call, c.expected, err, text)
		}
	}
}
