package boxes_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/api"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/explorer"
	"birthmark/api/served"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// someOfThePage returns the ids of a mempool that its page has: the page has 25 of them, the newest.
func someOfThePage(pool []*Tx) []string {
	if len(pool) > 25 {
		return nil // all were first seen at once
	}
	return TxIDs(pool)
}

// A chain with unusual items beside normal ones, confirmed and not, has all of them in the answers of the server's own API
// and on its pages. The APIs of Ergo's programs have tests of the same name.
func TestOddItemsLeaveAnswersWhole(t *testing.T) {
	rng := testseed.Rand(t)
	options := Odd(rng)
	options.Descriptions = OddDescriptions()
	c := ergogen.New(options)
	w := NewWorld(t, "testnet", filepath.Join("..", "..", "..", "chains", "ergo", "genesis", "testnet.json"))
	w.Sync(t, 0, ergotest.Made(c, 20)...)
	n := w.Pend(t, c, 10)
	chain := *w.Chain.Chain
	chain.Name = "test"
	own, err := api.New(api.Options{Chains: []*served.Chain{&chain}})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := explorer.New(explorer.Options{Chains: []*served.Chain{&chain}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", own)
	mux.Handle("/", pages)

	most := testrun.Amount(100, 15)
	r := Requests{}
	var operations []string
	add := func(operation, argument, query, body string, has ...string) {
		if !slices.Contains(operations, operation) {
			operations = append(operations, operation)
		}
		r.Add(operation, argument, query, body, has...)
	}
	list := func(ids []string) string { return `["` + strings.Join(ids, `","`) + `"]` }
	txs := append(Some(rng, n.Txs, most), n.Pool...)
	for _, tx := range txs {
		var refs []string
		for i := range tx.Outputs {
			refs = append(refs, fmt.Sprintf("%s:%d", tx.ID, i))
		}
		add("GET v1/test/tx/*", tx.ID, "", "", append([]string{tx.ID}, IDs(tx.Outputs)...)...)
		add("GET test/tx/*", tx.ID, "", "", tx.ID)
		if tx.Block == nil {
			continue
		}
		add("GET v1/test/output/*", refs[0], "", "", tx.Outputs[0].ID)
		add("POST v1/test/outputs", "", "", `{"outputs":`+list(refs[:min(len(refs), 100)])+`}`, IDs(tx.Outputs[:min(len(refs), 100)])...)
	}
	for page := range slices.Chunk(TxIDs(n.Txs), 100) {
		add("POST v1/test/txs", "", "", `{"txs":`+list(page)+`}`, page...)
	}
	for _, b := range n.Blocks {
		add("GET v1/test/block/*", b.ID, "", "", b.ID)
		add("GET test/block/*", b.ID, "", "", TxIDs(Page(b.Txs, 0, 20))...)
	}
	add("GET v1/test/blocks", "", "?limit=1000", "", n.Blocks[0].ID, n.Blocks[n.Tip()-1].ID)
	format := w.DB.Chain().Indexes()[0].Format
	address := func(b *Box) string { return Address(format, b) }
	for _, b := range append(Some(rng, Distinct(n.Boxes[n.GenesisBoxes:], address), most), n.Fresh...) {
		text := address(b)
		of := func(c *Box) bool { return address(c) == text }
		own := Filter(n.Boxes[n.GenesisBoxes:], of)
		add("GET v1/test/find/address/*", text, "?limit=10000&mempool=include", "", append(IDs(own), IDs(Filter(n.Fresh, of))...)...)
		add("GET v1/test/history/address/*", text, "?limit=10000&mempool=include", "", TxIDs(Touching(n.Txs, of))...)
		add("GET v1/test/balance/address/*", text, "", "", Tokens(Filter(own, func(c *Box) bool { return c.Spender == nil }))...)
		add("GET test/address/*", text, "", "", TxIDs(Page(Reverse(Touching(n.Txs, of)), 0, 5))...)
	}
	tokens := Tokens(n.Boxes)
	add("GET v1/test/assets", "", "?limit=10000", "", tokens...)
	add("GET test/assets", "", "", "")
	for _, id := range Some(rng, tokens, most) {
		add("GET v1/test/asset/*", id, "", "", id)
		add("GET test/asset/*", id, "", "", id)
	}
	add("GET v1/test/mempool/transactions", "", "?limit=1000", "", TxIDs(n.Pool)...)
	add("GET test/mempool", "", "", "", someOfThePage(n.Pool)...)
	add("GET v1/test/values/address", "", "?limit=1000", "")
	add("GET v1/test/richest/address", "", "?limit=1000", "")
	r.Verify(t, mux, "", operations, nil)
}
