package ergoexplorer_test

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergoexplorer"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// unanswered are the operations that this server answers with 501: see docs/ergo-clients.md.
var unanswered = []string{
	"GET v1/tokens/check/*/*", "GET v1/tokens/listGenuine", "GET v1/tokens/listBlocked", "POST v1/ergotree/convert", "GET v1/docs/openapi",
}

func answered() []string {
	return slices.DeleteFunc(ergoexplorer.Operations(), func(o string) bool { return slices.Contains(unanswered, o) })
}

// requests returns requests for all operations, with the ids that their answers have: at most a number for each kind of
// argument, which are random ones.
func (w *world) requests(rng *rand.Rand, most int) Requests {
	r := Requests{}
	every := append(w.Boxes[:len(w.Boxes):len(w.Boxes)], w.Fresh...)
	const all, asc = "?limit=500", "?limit=500&sortDirection=asc"
	first := func(boxes []*Box) []string { return IDs(Page(boxes, 0, 500)) }
	newest := func(boxes []*Box) []string { return first(Reverse(boxes)) }
	unspent := func(boxes []*Box) []*Box { return Filter(boxes, func(b *Box) bool { return b.Spender == nil }) }
	list := func(ids []string) string { return `["` + strings.Join(ids, `","`) + `"]` }
	height := fmt.Sprintf("?minHeight=0&maxHeight=%d", w.Tip())

	tip := w.Blocks[w.Tip()-1]
	for _, operation := range []string{"GET v1/info", "GET v1/networkState"} {
		r.Add(operation, "", "", "", tip.ID)
	}
	r.Add("GET v1/networkStats", "", "", "", "uniqueAddressesNum")
	r.Add("GET v1/epochs/params", "", "", "", "storageFeeFactor")
	r.Add("GET v0/info", "", "", "", "supply")
	blocks := []string{}
	for _, b := range w.Blocks {
		blocks = append(blocks, b.ID)
	}
	r.Add("GET v1/blocks", "", all, "", blocks...)
	r.Add("GET v1/blocks/headers", "", all, "", blocks...)
	r.Add("GET v1/blocks/byGlobalIndex/stream", "", "?minGix=0&limit=500", "", blocks...)
	r.Add("GET v1/blocks/stream/summary", "", "?minGix=0&limit=500", "", append(TxIDs(w.Txs), blocks...)...)
	for _, b := range Some(rng, w.Blocks, most) {
		r.Add("GET v1/blocks/*", b.ID, "", "", append(TxIDs(b.Txs), b.ID)...)
	}
	r.Add("GET v1/transactions/byGlobalIndex/stream", "", "?minGix=0&limit=500", "", TxIDs(Page(w.Txs, 0, 500))...)
	for _, tx := range Some(rng, w.Txs, most) {
		r.Add("GET v1/transactions/*", tx.ID, "", "", append(append(IDs(tx.Inputs), IDs(tx.Outputs)...), tx.ID)...)
	}
	r.Add("GET v1/boxes/unspent/stream", "", height, "", IDs(unspent(w.Boxes))...)
	r.Add("GET v1/boxes/unspent/byLastEpochs/stream", "", "?lastEpochs=1", "", IDs(unspent(w.Boxes))...)
	numbered := w.Boxes[w.GenesisBoxes:]
	for from := 0; from < len(numbered); from += 500 {
		page := fmt.Sprintf("?minGix=%d&limit=500", from)
		r.Add("GET v1/boxes/byGlobalIndex/stream", "", page, "", IDs(Page(numbered, from, 500))...)
		r.Add("GET v1/boxes/unspent/byGlobalIndex/stream", "", page, "", IDs(unspent(Page(numbered, from, 500)))...)
	}
	for _, b := range Some(rng, w.Boxes, most) {
		r.Add("GET v1/boxes/*", b.ID, "", "", b.ID)
	}

	// Each operation has a request whose answer is not empty.
	kept := Filter(unspent(w.Boxes), func(b *Box) bool { return b.Pending == nil && b.Tree == b.Payable() })
	scripts := Filter(w.Boxes, func(b *Box) bool { return b.HasTemplate(b.ExplorerTemplate()) })
	holding := Filter(unspent(scripts), func(b *Box) bool { return len(b.Tokens) > 0 })
	spent := Filter(scripts, func(b *Box) bool { return b.Spender != nil })
	trees := Some(rng, Distinct(every, func(b *Box) string { return b.Tree }), most)
	for _, b := range append(append(trees, Some(rng, kept, 1)...), w.Fresh[0]) {
		tree, address := func(c *Box) bool { return c.Tree == b.Tree }, w.address(b.Tree)
		paid := func(c *Box) bool { return c.Tree == b.Payable() }
		fresh := Filter(w.Fresh, func(c *Box) bool { return paid(c) && c.Pending == nil })
		own := Filter(w.Boxes, paid)
		free := Filter(unspent(own), func(c *Box) bool { return c.Pending == nil })
		held := Tokens(unspent(own))
		r.Add("GET v1/addresses/*/transactions", address, all, "", TxIDs(Page(Reverse(Touching(w.Txs, paid)), 0, 500))...)
		r.Add("GET v1/addresses/*/balance/confirmed", address, "", "", held...)
		r.Add("GET v1/addresses/*/balance/total", address, "", "", slices.Concat(held, Tokens(fresh))...)
		r.Add("POST v1/addresses/batchInfo", "", "", list([]string{address}), slices.Concat(held, []string{address})...)
		r.Add("GET v1/mempool/transactions/byAddress/*", address, all, "", TxIDs(Touching(w.Pool, paid))...)
		r.Add("GET v0/transactions/unconfirmed/byAddress/*", address, all, "", TxIDs(Touching(w.Pool, paid))...)
		r.Add("GET v1/boxes/byAddress/*", address, all, "", newest(own)...)
		r.Add("GET v1/boxes/byErgoTree/*", b.Tree, all, "", newest(Filter(w.Boxes, tree))...)
		r.Add("GET v1/boxes/unspent/byAddress/*", address, asc, "", first(unspent(own))...)
		r.Add("GET v1/boxes/unspent/byErgoTree/*", b.Tree, asc, "", first(unspent(Filter(w.Boxes, tree)))...)
		r.Add("GET v1/boxes/unspent/unconfirmed/byAddress/*", address, "", "", append(IDs(fresh), IDs(free)...)...)
		r.Add("GET v1/boxes/unspent/all/byAddress/*", address, asc, "", first(append(free, fresh...))...)
	}
	templates := append(Some(rng, holding, 1), Some(rng, spent, 1)...)
	for _, b := range append(Some(rng, Distinct(every, (*Box).ExplorerTemplate), most), templates...) {
		hash := b.ExplorerTemplate()
		of := Filter(w.Boxes, func(c *Box) bool { return c.HasTemplate(hash) })
		spending := []*Tx{}
		for _, tx := range w.Txs {
			if slices.ContainsFunc(tx.Inputs, func(c *Box) bool { return c.HasTemplate(hash) }) {
				spending = append(spending, tx)
			}
		}
		r.Add("GET v1/boxes/byErgoTreeTemplateHash/*", hash, all, "", first(of)...)
		r.Add("GET v1/boxes/unspent/byErgoTreeTemplateHash/*", hash, all, "", first(unspent(of))...)
		r.Add("GET v1/boxes/byErgoTreeTemplateHash/*/stream", hash, height, "", IDs(of)...)
		r.Add("GET v1/boxes/unspent/byErgoTreeTemplateHash/*/stream", hash, height, "", IDs(unspent(of))...)
		r.Add("GET v1/transactions/byInputsScriptTemplateHash/*", hash, all, "", TxIDs(Page(Reverse(spending), 0, 500))...)
	}
	for _, b := range Some(rng, holding, most) {
		hash, id := b.ExplorerTemplate(), b.Tokens[0].ID
		both := Filter(w.Boxes, func(c *Box) bool { return c.HasTemplate(hash) && c.Has(id) })
		query := fmt.Sprintf(`{"ergoTreeTemplateHash":%q,"assets":[%q]}`, hash, id)
		r.Add("POST v1/boxes/search", "", all, query, first(both)...)
		r.Add("POST v1/boxes/unspent/search", "", all, query, first(unspent(both))...)
		r.Add("POST v1/boxes/unspent/search/union", "", all, query, first(unspent(both))...)
	}
	tokens := Tokens(w.Boxes)
	r.Add("GET v1/tokens", "", all, "", Page(Reverse(tokens), 0, 500)...)
	r.Add("GET v1/tokens/search", "", all+"&query=Token", "")
	r.Add("GET v1/assets", "", all, "", Page(Reverse(tokens), 0, 500)...)
	for _, id := range append(Some(rng, tokens, most), Tokens(Some(rng, holding, 1))...) {
		has := Filter(w.Boxes, func(b *Box) bool { return b.Has(id) })
		r.Add("GET v1/tokens/*", id, "", "", id)
		r.Add("GET v1/assets/search/byTokenId", "", all+"&query="+id, "", id)
		r.Add("GET v1/boxes/byTokenId/*", id, "?limit=100&sortDirection=asc", "", IDs(Page(has, 0, 100))...)
		r.Add("GET v1/boxes/unspent/byTokenId/*", id, "?limit=100&sortDirection=asc", "", IDs(Page(unspent(has), 0, 100))...)
	}

	symbols := map[string]string{} // by token, as the first box with it describes it
	for _, b := range w.Boxes {
		name, ok := strings.CutPrefix(fmt.Sprint(b.JSON["additionalRegisters"].(map[string]any)["R4"]), "0e")
		for _, token := range b.Tokens {
			if _, known := symbols[token.ID]; !known {
				symbols[token.ID] = ""
				// The length takes a byte.
				raw, err := hex.DecodeString(name[min(2, len(name)):])
				if ok && err == nil && strings.HasPrefix(string(raw), "Token") {
					symbols[token.ID] = string(raw)
				}
			}
		}
	}
	named := slices.DeleteFunc(tokens, func(id string) bool { return symbols[id] == "" })
	for _, id := range Some(rng, named, most) {
		r.Add("GET v1/tokens/bySymbol/*", url.PathEscape(symbols[id]), "", "", id)
	}

	r.Add("GET v1/mempool/boxes/unspent", "", "", "", IDs(Filter(w.Fresh, func(b *Box) bool { return b.Pending == nil }))...)
	r.Add("GET v0/transactions/unconfirmed", "", all, "", TxIDs(w.Pool)...)
	for _, tx := range Some(rng, w.Pool, most) {
		r.Add("GET v0/transactions/unconfirmed/*", tx.ID, "", "", append(IDs(tx.Outputs), tx.ID)...)
	}
	r.Add("POST v1/mempool/transactions/submit", "", "", "{}", submitted)
	r.Add("POST v0/transactions/send", "", "", "{}", submitted)
	return r
}

// submitted is the id that the test node answers to a transaction: see answerSubmissions.
const submitted = "d04fc93dc15a28a1f0e50b0fffc94f360037dcedddaf8a2e25905a892cd48378"

// answerSubmissions is a fault of the test node, which accepts anything as a transaction.
func answerSubmissions(r *http.Request, a *ergotest.Answer) {
	if r.Method == http.MethodPost && r.URL.Path == "/transactions" {
		a.Status, a.Body = http.StatusOK, []byte(`"`+submitted+`"`)
	}
}

// A chain with unusual items beside normal ones, confirmed and not, has an answer to each operation, with all items.
func TestOddItemsLeaveAnswersWhole(t *testing.T) {
	rng := testseed.Rand(t)
	options := Odd(rng)
	options.Descriptions = OddDescriptions()
	c := ergogen.New(options)
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(c, 25)...)
	w.Naive = w.Pend(t, c, 10)
	w.Node.Break(answerSubmissions)
	w.requests(rng, testrun.Amount(60, 20)).Verify(t, w, path+"/api", answered(), nil)
	for _, operation := range unanswered {
		method, target, _ := strings.Cut(operation, " ")
		if a := Send(t, w, method, path+"/api/"+target, ""); a.Status != http.StatusNotImplemented {
			t.Errorf("%s: %d %s, expected 501", operation, a.Status, a.Body)
		}
	}
}
