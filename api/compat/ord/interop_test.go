//go:build interop

package ord_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"github.com/expr-lang/expr"

	"birthmark/chains/bitcoin/runes"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
)

// ordapi, a client of ord's server, reads runes, outputs, addresses, transactions and blocks. It checks the form of each
// answer; each has the content that the expression after the call expects.
func TestInteropClient(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	name, spacers, _ := runes.ParseSpaced("AAAAAA•AAAAAAAB")
	etching := w.etch(&runes.Runestone{Etching: &runes.Etching{
		Name: runes.Some(name), Spacers: spacers, Premine: model.Uint128Of(1000), Divisibility: 2, Symbol: runes.Some('¤'),
		Terms: runes.Some(runes.Terms{Amount: runes.Some(model.Uint128Of(10)), Cap: runes.Some(model.Uint128Of(5))}),
	}})
	id := runes.ID{Block: uint64(w.chain.Height()), Tx: 1}
	mint := bitcointest.Spend(w.coin(), 0, out(5000, payKeyHash), out(0, (&runes.Runestone{Mint: runes.Some(id)}).Script()))
	moved := bitcointest.Spend(etching, 0, out(300, payTaproot), out(400, payKeyHash), out(0, (&runes.Runestone{
		Edicts: []runes.Edict{{ID: id, Amount: model.Uint128Of(300), Output: 1}},
	}).Script()))
	w.chain.Mine(mint, moved)
	w.chain.MineEmpty(3)
	w.sync()
	s := httptest.NewServer(w)
	t.Cleanup(s.Close)

	hash := func(tx *wire.MsgTx) string { return tx.TxHash().String() }
	_, address := w.ask("output/"+hash(moved)+":1", "")
	var of struct{ Address string }
	if err := json.Unmarshal([]byte(address), &of); err != nil {
		t.Fatal(err)
	}
	known := map[string]any{
		"id": id.String(), "mint": hash(mint), "moved": hash(moved), "tip": float64(w.chain.Height()), "best": w.chain.Tip().BlockHash().String(),
	}
	type list = []any
	calls := []struct {
		call     list
		expected string
	}{
		{list{"getRune", "AAAAAA•AAAAAAAB"}, `answer.id == id and answer.mintable and answer.entry.mints == 1 and answer.entry.symbol == "¤"`},
		{list{"getRune", id.String()}, `answer.entry.spaced_rune == "AAAAAA•AAAAAAAB" and answer.entry.terms.cap == 5`},
		{list{"getRune", "NOBODYHASTHISNAME"}, `answer.error startsWith "API request failed"`},
		{list{"getRunesLatest"}, `len(answer.entries) == 1 and answer.entries[0][0] == id and not answer.more`},
		{list{"getRunesByPage", 0}, `len(answer.entries) == 1`},
		{list{"getOutput", hash(moved) + ":1"}, `answer.runes["AAAAAA•AAAAAAAB"].amount == 300 and answer.indexed and not answer.spent and answer.value == 400`},
		{list{"getOutput", hash(etching) + ":0"}, `answer.spent and answer.runes == {}`},
		{list{"getOutputs", list{hash(moved) + ":0", hash(mint) + ":0"}}, `map(answer, .runes["AAAAAA•AAAAAAAB"].amount) == [700, 10]`},
		{list{"getOutputAssets", hash(moved) + ":0"}, `answer.runes["AAAAAA•AAAAAAAB"].divisibility == 2 and answer.value == 300`},
		{list{"getOutputsByAddress", of.Address}, `any(answer, .outpoint == moved + ":1")`},
		{list{"getOutputsByAddress", of.Address, "runic"}, `map(answer, .outpoint) == [mint + ":0", moved + ":1"] or map(answer, .outpoint) == [moved + ":1", mint + ":0"]`},
		{list{"getAddressInfo", of.Address}, `answer.runes_balances == [["AAAAAA•AAAAAAAB", "3.1", "¤"]] and answer.sat_balance == 5400`},
		{list{"getTransaction", hash(etching)}, `answer.etching == "AAAAAA•AAAAAAAB" and len(answer.transaction.output) == 2`},
		{list{"getTransactionHex", hash(moved)}, `len(answer) > 200`},
		{list{"getBlockHeight"}, `answer == tip`},
		{list{"getBlockHeightRecursive"}, `answer == tip`},
		{list{"getBlockCount"}, `answer == tip + 1`},
		{list{"getBlockHash"}, `answer == best`},
		{list{"getBlockHashRecursive"}, `answer == best`},
		{list{"getBlockHashByHeight", w.chain.Height()}, `answer == best`},
		{list{"getBlockHashByHeightRecursive", w.chain.Height()}, `answer == best`},
		{list{"getBlockInfo", w.chain.Height() - 3}, `answer.best_height == tip and answer.target == "7fffff" + repeat("0", 58) and ` +
			`map(answer.transactions, len(.output))[1:] == [2, 3] and answer.inscriptions == []`},
		{list{"getBlockInfo", w.chain.Tip().BlockHash().String()}, `answer.height == tip and answer.hash == best and answer.runes == []`},
		{list{"getBlockInfo", int(id.Block)}, `answer.runes == ["AAAAAA•AAAAAAAB"]`},
		{list{"getBlockInfoRecursive", w.chain.Height()}, `answer.hash == best and answer.next_block == nil and answer.transaction_count == 1`},
		{list{"getBlockInfoRecursive", w.chain.Tip().BlockHash().String()}, `answer.height == tip and answer.subsidy > 0 and len(answer.chainwork) == 64`},
		{list{"getBlocksLatest"}, `answer.last == tip and answer.blocks[0] == best and answer.featured_blocks[best] == []`},
		{list{"getBlockTime"}, `answer > 1296688602`},
		{list{"getBlockTimeRecursive"}, `answer > 1296688602`},
		{list{"getServerStatus"}, `answer.rune_index and answer.runes == 1 and answer.height == tip and answer.chain == "regtest"`},
	}
	var questions []any
	for _, c := range calls {
		questions = append(questions, c.call)
	}
	in, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "client.js", s.URL+"/ord")
	cmd.Dir = filepath.Join("..", "..", "..", "tools", "interop", "ord")
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: make test-interop installs the client", err)
	}
	var answers []any
	if err := json.Unmarshal(text, &answers); err != nil || len(answers) != len(calls) {
		t.Fatalf("%d answers to %d calls, %v: %.1000s", len(answers), len(calls), err, text)
	}
	for i, c := range calls {
		known["answer"] = answers[i]
		if ok, err := expr.Eval(c.expected, known); ok != true || err != nil {
			t.Errorf("%v: expected that %s (%v): %.1500s", c.call, c.expected, err, fmt.Sprint(answers[i]))
		}
	}
}
