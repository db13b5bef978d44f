package ergonode_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergonode"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// requests returns requests for all operations, with the ids that their answers have: at most a number for each kind of
// argument, which are random ones.
func (w *world) requests(rng *rand.Rand, most int) Requests {
	e, r := w.e, Requests{}
	chain := e.Boxes[e.GenesisBoxes:]
	every := append(chain[:len(chain):len(chain)], e.Fresh...)
	const all, asc = "?limit=16384", "?limit=16384&sortDirection=asc&includeUnconfirmed=true"
	quoted := func(text string) string { return `"` + text + `"` }
	list := func(ids []string) string { return `["` + strings.Join(ids, `","`) + `"]` }
	unspent := func(f func(*Box) bool) []string {
		return IDs(append(Filter(chain, func(b *Box) bool { return b.Spender == nil && f(b) }), Filter(e.Fresh, f)...))
	}

	r.Add("GET blockchain/indexedHeight", "", "", "", fmt.Sprint(e.Tip()))
	r.Add("GET blockchain/transaction/range", "", all, "", TxIDs(e.Txs)...)
	r.Add("GET blockchain/box/range", "", all, "", IDs(chain)...)
	r.Add("POST blockchain/tokens", "", "", list(Tokens(chain)), Tokens(chain)...)
	for _, b := range Some(rng, e.Blocks, most) {
		ids := append([]string{b.ID}, TxIDs(b.Txs)...)
		r.Add("GET blockchain/block/byHeaderId/*", b.ID, "", "", ids...)
		r.Add("GET blocks/*/transactions", b.ID, "", "", ids...)
		r.Add("GET blocks/*/header", b.ID, "", "", b.ID)
		r.Add("GET blocks/at/*", fmt.Sprint(b.Height), "", "", b.ID)
		for _, tx := range Some(rng, b.Txs, most) {
			r.Add("GET blocks/*/proofFor/*", b.ID+" "+tx.ID, "", "", tx.ID)
		}
	}
	var blocks []string
	for _, b := range e.Blocks {
		blocks = append(blocks, b.ID)
	}
	r.Add("POST blockchain/block/byHeaderIds", "", "", list(blocks), append(TxIDs(e.Txs), blocks...)...)
	r.Add("GET blocks", "", all, "", blocks...)
	r.Add("GET blocks/lastHeaders/*", fmt.Sprint(e.Tip()), "", "", blocks...)
	r.Add("GET blocks/chainSlice", "", "?fromHeight=0", "", blocks...)
	for _, tx := range Some(rng, e.Txs, most) {
		ids := append(IDs(Filter(tx.Inputs, func(b *Box) bool { return !b.Genesis() })), IDs(tx.Outputs)...)
		r.Add("GET blockchain/transaction/byId/*", tx.ID, "", "", append(ids, tx.ID)...)
		r.Add("GET blockchain/transaction/byIndex/*", fmt.Sprint(tx.Global), "", "", append(ids, tx.ID)...)
	}
	for _, b := range Some(rng, chain, most) {
		r.Add("GET blockchain/box/byId/*", b.ID, "", "", b.ID)
		r.Add("GET blockchain/box/byIndex/*", fmt.Sprint(b.Global), "", "", b.ID)
	}
	for _, b := range Some(rng, Filter(chain, func(b *Box) bool { return b.Spender == nil }), most) {
		r.Add("GET utxo/byId/*", b.ID, "", "", b.ID)
		r.Add("GET utxo/byIdBinary/*", b.ID, "", "", b.ID)
	}
	r.Add("GET utxo/genesis", "", "", "", IDs(e.Boxes[:e.GenesisBoxes])...)
	for _, b := range append(Some(rng, Distinct(every, func(b *Box) string { return b.Tree }), most), e.Fresh[0]) {
		tree := func(c *Box) bool { return c.Tree == b.Tree }
		paid := func(c *Box) bool { return c.Tree == b.Payable() }
		address := e.address(b.Tree)
		txs, boxes := TxIDs(Touching(e.Txs, paid)), IDs(Filter(chain, paid))
		r.Add("GET blockchain/transaction/byAddress/*", address, all, "", txs...)
		r.Add("POST blockchain/transaction/byAddress", "", all, address, txs...)
		r.Add("GET blockchain/box/byAddress/*", address, all, "", boxes...)
		r.Add("POST blockchain/box/byAddress", "", all, quoted(address), boxes...)
		r.Add("POST blockchain/box/byErgoTree", "", all, quoted(b.Tree), IDs(Filter(chain, tree))...)
		r.Add("GET blockchain/box/unspent/byAddress/*", address, asc, "", unspent(paid)...)
		r.Add("POST blockchain/box/unspent/byAddress", "", asc, address, unspent(paid)...)
		r.Add("POST blockchain/box/unspent/byErgoTree", "", asc, b.Tree, unspent(tree)...)
		r.Add("GET blockchain/balanceForAddress/*", address, "", "", Tokens(Filter(chain, func(c *Box) bool { return paid(c) && c.Spender == nil }))...)
		r.Add("POST blockchain/balance", "", "", address, Tokens(Filter(e.Fresh, paid))...)
		r.Add("POST transactions/unconfirmed/byErgoTree", "", all, quoted(b.Tree), TxIDs(Touching(e.Pool, tree))...)
		r.Add("POST transactions/unconfirmed/outputs/byErgoTree", "", all, quoted(b.Tree), IDs(Filter(e.Fresh, tree))...)
		r.Add("GET script/addressToTree/*", address, "", "", b.Payable())
		r.Add("GET script/addressToBytes/*", address, "", "", b.Payable())
		r.Add("GET utils/address/*", address, "", "", `"isValid":true`)
		r.Add("POST utils/address", "", "", quoted(address), `"isValid":true`)
		r.Add("GET utils/addressToRaw/*", address, "", "", `"raw":`)
		r.Add("GET utils/ergoTreeToAddress/*", b.Tree, "", "", address)
		r.Add("POST utils/ergoTreeToAddress", "", "", quoted(b.Tree), address)
	}
	for _, b := range append(Some(rng, Distinct(every, (*Box).NodeTemplate), most), e.Fresh[0]) {
		template := func(c *Box) bool { return c.NodeTemplate() == b.NodeTemplate() }
		r.Add("GET blockchain/box/byTemplateHash/*", b.NodeTemplate(), all, "", IDs(Filter(chain, template))...)
		r.Add("GET blockchain/box/unspent/byTemplateHash/*", b.NodeTemplate(), asc, "", unspent(template)...)
	}
	for _, id := range Some(rng, Tokens(chain), most) {
		has := func(b *Box) bool { return b.Has(id) }
		r.Add("GET blockchain/token/byId/*", id, "", "", id)
		r.Add("GET blockchain/box/byTokenId/*", id, all, "", IDs(Filter(chain, has))...)
		r.Add("GET blockchain/box/unspent/byTokenId/*", id, asc, "", unspent(has)...)
	}

	for _, id := range append(Some(rng, Tokens(chain), most), Tokens(e.Fresh)...) {
		r.Add("GET transactions/unconfirmed/outputs/byTokenId/*", id, all, "", IDs(Filter(e.Fresh, func(b *Box) bool { return b.Has(id) }))...)
	}
	pool, spent := TxIDs(e.Pool), []string(nil)
	for _, tx := range e.Pool {
		r.Add("GET transactions/unconfirmed/byTransactionId/*", tx.ID, "", "", append(IDs(tx.Inputs), IDs(tx.Outputs)...)...)
		r.Add("HEAD transactions/unconfirmed/*", tx.ID, "", "")
		for _, b := range tx.Inputs {
			spent = append(spent, b.ID)
			r.Add("GET transactions/unconfirmed/inputs/byBoxId/*", b.ID, "", "", b.ID, b.Tree)
		}
		for _, b := range tx.Outputs {
			r.Add("GET transactions/unconfirmed/outputs/byBoxId/*", b.ID, "", "", b.ID)
			r.Add("GET utxo/withPool/byId/*", b.ID, "", "", b.ID)
			r.Add("GET utxo/withPool/byIdBinary/*", b.ID, "", "", b.ID)
			if r4, ok := b.JSON["additionalRegisters"].(map[string]any)["R4"].(string); ok {
				r.Add("POST transactions/unconfirmed/outputs/byRegisters", "", all, `{"R4":"`+r4+`"}`, b.ID)
			}
		}
	}
	r.Add("POST transactions/unconfirmed/outputs/byRegisters", "", all, `{"R4":"0e00"}`)
	r.Add("GET transactions/unconfirmed", "", all, "", append(append(pool, spent...), IDs(e.Fresh)...)...)
	r.Add("GET transactions/unconfirmed/transactionIds", "", "", "", pool...)
	r.Add("POST transactions/unconfirmed/byTransactionIds", "", "", list(pool), pool...)
	r.Add("POST utxo/withPool/byIds", "", "", list(IDs(e.Fresh)), IDs(e.Fresh)...)
	r.Add("GET utils/rawToAddress/*", "0327e65711a59378c59359c3e1d0f7abe906479eccb76094e50fe79d743ccc15e6", "", "", `"address":"`)
	r.Add("POST utils/hash/blake2b", "", "", `"abc"`, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319")
	r.Add("GET info", "", "", "", e.Blocks[e.Tip()-1].ID)
	for operation, answer := range passedOn {
		argument := strings.Repeat(strings.Repeat("0", 64)+" ", strings.Count(operation, "*"))
		body := ""
		if strings.HasPrefix(operation, "POST") {
			body = "[]"
		}
		r.Add(operation, argument, "", body, answer)
	}
	return r
}

// A chain with unusual items beside normal ones, confirmed and not, has an answer to each operation, with all items.
func TestOddItemsLeaveAnswersWhole(t *testing.T) {
	rng := testseed.Rand(t)
	options := Odd(rng)
	options.Descriptions = OddDescriptions()
	c := ergogen.New(options)
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(c, 25)...)
	w.model(w.Pend(t, c, 10))
	w.Node.Break(answerAsRecorded)
	w.requests(rng, testrun.Amount(60, 20)).Verify(t, w, path, ergonode.Operations(), nil)
}
