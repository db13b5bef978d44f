package ergonode_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergonode"
	"birthmark/bench/generate/ergogen"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
)

const path = "/node"

type world struct {
	*World
	http.Handler
	e *expected
}

func newWorld(t testing.TB, network string) *world {
	t.Helper()
	return newWorldIn(t, network, memory.New())
}

func newWorldIn(t testing.TB, network string, store storage.Store) *world {
	t.Helper()
	w := &world{World: NewWorldIn(t, network, filepath.Join("..", "..", "..", "chains", "ergo", "genesis", network+".json"), store)}
	w.Handler = answertest.Recorded(t, ergonode.New(ergonode.Options{Chain: w.Chain, Path: path}))
	return w
}

// realWorld syncs the first real blocks of mainnet, with the transactions of the next ones as its mempool.
func realWorld(t testing.TB, n, pool int) *world {
	t.Helper()
	blocks, err := ergotest.ReadFile(testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "mainnet")
	w.Sync(t, 0, blocks[:n]...)
	w.Node.SetPool(txsOf(blocks[n : n+pool])...)
	w.model(w.Settled(t))
	return w
}

func (w *world) model(n *Naive) {
	index := w.DB.Chain().Indexes()[0]
	w.e = &expected{n, index.Format}
}

// pend makes the transactions of the next block unconfirmed, without its reward.
func (w *world) pend(t testing.TB, next ergotest.Block) {
	t.Helper()
	w.Node.SetPool(w.Model(nil).Possible(ergotest.Txs(next)[1:])...)
	w.model(w.Settled(t))
}

// txsOf returns the transactions of blocks.
func txsOf(blocks []ergotest.Block) (txs []ergotest.Tx) {
	for _, b := range blocks {
		txs = append(txs, ergotest.Txs(b)...)
	}
	return txs
}

// verify compares random requests with the model.
func (w *world) verify(t *testing.T, rng *rand.Rand, rounds int) {
	t.Helper()
	e := w.e
	for range rounds {
		b := e.Boxes[e.GenesisBoxes+rng.IntN(len(e.Boxes)-e.GenesisBoxes)]
		if rng.IntN(5) == 0 && len(e.Fresh) > 0 {
			b = e.Fresh[rng.IntN(len(e.Fresh))]
		}
		w.ask(t, rng, b)
	}
}

func (w *world) ask(t *testing.T, rng *rand.Rand, b *Box) {
	t.Helper()
	e, tip := w.e, w.e.Tip()
	offset, limit := rng.IntN(4), rng.IntN(8)
	if rng.IntN(8) == 0 {
		offset = rng.IntN(len(e.Boxes) + 10)
	}
	window := fmt.Sprintf("?offset=%d&limit=%d", offset, limit)
	same := func(endpoint, body string, want any) {
		t.Helper()
		Same(t, w, path+endpoint, body, want)
	}
	quoted := func(text string) string { return `"` + text + `"` }
	address, tree := e.address(b.Tree), func(c *Box) bool { return c.Tree == b.Tree }
	paid := func(c *Box) bool { return c.Tree == b.Payable() }
	tx := e.Txs[rng.IntN(len(e.Txs))]
	if b.Tx.Block != nil {
		tx = b.Tx
	}
	switch rng.IntN(16) {
	case 0:
		if b.Tx.Block != nil {
			same("/blockchain/box/byId/"+b.ID, "", e.box(b))
			same(fmt.Sprintf("/blockchain/box/byIndex/%d", b.Global), "", e.box(b))
		} else {
			same("/transactions/unconfirmed/outputs/byBoxId/"+b.ID, "", plain(b))
			same("/utxo/withPool/byId/"+b.ID, "", plain(b))
		}
	case 1:
		same("/blockchain/transaction/byId/"+tx.ID, "", e.tx(tx))
		same(fmt.Sprintf("/blockchain/transaction/byIndex/%d", tx.Global), "", e.tx(tx))
	case 2:
		want := e.historyOf(paid, offset, limit)
		same("/blockchain/transaction/byAddress/"+address+window, "", want)
		same("/blockchain/transaction/byAddress"+window, address, want)
	case 3:
		same("/blockchain/box/byAddress/"+address+window, "", e.all(paid, offset, limit, true))
		same("/blockchain/box/byErgoTree"+window, quoted(b.Tree), e.all(tree, offset, limit, true))
	case 4, 5, 6:
		ascending, pending, excluded := rng.IntN(2) == 0, rng.IntN(2) == 0, rng.IntN(2) == 0
		options := fmt.Sprintf("%s&includeUnconfirmed=%t&excludeMempoolSpent=%t", window, pending, excluded)
		if ascending {
			options += "&sortDirection=asc"
		}
		same("/blockchain/box/unspent/byAddress/"+address+options, "", e.unspent(paid, offset, limit, ascending, pending, excluded))
		same("/blockchain/box/unspent/byErgoTree"+options, b.Tree, e.unspent(tree, offset, limit, ascending, pending, excluded))
		hash := b.NodeTemplate()
		template := func(c *Box) bool { return c.NodeTemplate() == hash }
		same("/blockchain/box/unspent/byTemplateHash/"+hash+options, "", e.unspent(template, offset, limit, ascending, pending, excluded))
		if len(b.Tokens) > 0 {
			id := b.Tokens[rng.IntN(len(b.Tokens))].ID
			same("/blockchain/box/unspent/byTokenId/"+id+options, "",
				e.unspent(func(c *Box) bool { return c.Has(id) }, offset, limit, ascending, pending, excluded))
		}
	case 7:
		hash := b.NodeTemplate()
		same("/blockchain/box/byTemplateHash/"+hash+window, "", e.all(func(c *Box) bool { return c.NodeTemplate() == hash }, offset, limit, false))
	case 8:
		if len(b.Tokens) > 0 {
			id := b.Tokens[rng.IntN(len(b.Tokens))].ID
			same("/blockchain/box/byTokenId/"+id+window, "", e.all(func(c *Box) bool { return c.Has(id) }, offset, limit, false))
		}
	case 9:
		w.askBalance(t, address, paid)
	case 10:
		ids := []any{}
		for _, x := range Page(Reverse(e.Txs), offset, limit) {
			ids = append(ids, x.ID)
		}
		same("/blockchain/transaction/range"+window, "", ids)
		ids = []any{}
		for _, x := range Page(Reverse(e.Boxes[e.GenesisBoxes:]), offset, limit) {
			ids = append(ids, x.ID)
		}
		same("/blockchain/box/range"+window, "", ids)
	case 11:
		block := tx.Block
		header := block.Header
		want := map[string]any{"header": withUnparsed(header), "transactions": e.txs(block.Txs), "height": block.Height, "size": block.JSON["size"]}
		same("/blockchain/block/byHeaderId/"+block.ID, "", want)
		same("/blockchain/block/byHeaderIds", fmt.Sprintf("[%q,%q]", block.ID, strings.Repeat("00", 32)), []any{want})
		same("/blocks/"+block.ID+"/header", "", withUnparsed(header))
		same("/blocks/"+block.ID+"/transactions", "", block.JSON["blockTransactions"])
		same(fmt.Sprintf("/blocks/at/%d", block.Height), "", []any{block.ID})
	case 12:
		if len(b.Tokens) > 0 {
			w.askToken(t, b.Tokens[rng.IntN(len(b.Tokens))].ID)
		}
	case 13:
		n := 1 + rng.IntN(3)
		headers, ids := []any{}, []any{}
		for _, x := range e.Blocks[max(0, tip-n):] {
			headers, ids = append(headers, withUnparsed(x.Header)), append(ids, x.ID)
		}
		same(fmt.Sprintf("/blocks/lastHeaders/%d", n), "", headers)
		same(fmt.Sprintf("/blocks/chainSlice?fromHeight=%d&toHeight=%d", tip-n, tip), "", headers)
		same(fmt.Sprintf("/blocks?offset=%d&limit=100", tip-n+1), "", ids)
		same("/blockchain/indexedHeight", "", map[string]any{"indexedHeight": tip, "fullHeight": tip})
	case 14:
		if b.Tx.Block != nil && b.Spender != nil {
			if a := Ask(t, w, path+"/utxo/byId/"+b.ID, ""); a.Status != http.StatusNotFound {
				t.Errorf("a spent box: %d %s", a.Status, a.Body)
			}
		} else if b.Tx.Block != nil {
			same("/utxo/byId/"+b.ID, "", plain(b))
			same("/utxo/withPool/byIds", fmt.Sprintf("[%q]", b.ID), []any{plain(b)})
		}
	case 15:
		w.askMempool(t, rng)
	}
}

// withUnparsed returns a header with the field that stored blocks of version 1 lack. Their nodes counted a byte more
// than the header has.
func withUnparsed(h map[string]any) map[string]any {
	out := map[string]any{"unparsedBytes": ""}
	for name, value := range h {
		out[name] = value
	}
	if h["version"] == json.Number("1") {
		size, err := h["size"].(json.Number).Int64()
		if err != nil {
			panic(err)
		}
		out["size"] = size - 1
	}
	return out
}

func (w *world) askBalance(t *testing.T, address string, f func(*Box) bool) {
	t.Helper()
	a := Ask(t, w, path+"/blockchain/balanceForAddress/"+address, "")
	if posted := Ask(t, w, path+"/blockchain/balance", `"`+address+`"`); posted.Body != a.Body {
		t.Errorf("balance of %s: %s by POST, %s by GET", address, posted.Body, a.Body)
	}
	type balance struct {
		NanoErgs uint64
		Tokens   []struct {
			TokenID  string
			Amount   uint64
			Decimals *int
			Name     *string
		}
	}
	var got struct{ Confirmed, Unconfirmed balance }
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || a.Status != http.StatusOK {
		t.Fatalf("balance of %s: %d %s", address, a.Status, a.Body)
	}
	var fresh []*Box
	for _, b := range w.e.Fresh {
		if f(b) {
			fresh = append(fresh, b)
		}
	}
	for _, part := range []struct {
		got  balance
		want []*Box
	}{{got.Confirmed, w.e.Where(real(func(b *Box) bool { return f(b) && b.Spender == nil }))}, {got.Unconfirmed, fresh}} {
		value, tokens := held(part.want)
		sums := map[string]uint64{}
		for _, x := range part.got.Tokens {
			sums[x.TokenID] += x.Amount
			if x.Decimals == nil || x.Name == nil {
				t.Errorf("balance of %s: token %s without decimals or name", address, x.TokenID)
			}
		}
		if part.got.NanoErgs != value || !reflect.DeepEqual(sums, tokens) {
			t.Errorf("balance of %s: %d %v, expected %d %v", address, part.got.NanoErgs, sums, value, tokens)
		}
	}
}

func (w *world) askToken(t *testing.T, id string) {
	t.Helper()
	first, amount := w.e.token(id)
	a := Ask(t, w, path+"/blockchain/token/byId/"+id, "")
	if first == nil {
		if a.Status != http.StatusNotFound {
			t.Errorf("token %s, which only the mempool has: %d %s", id, a.Status, a.Body)
		}
		return
	}
	var got struct {
		ID, BoxID         string
		EmissionAmount    uint64
		Name, Description *string
		Decimals          *int
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || got.ID != id || got.BoxID != first.ID ||
		got.EmissionAmount != amount || got.Name == nil || got.Description == nil || got.Decimals == nil {
		t.Errorf("token %s: %d %s, expected box %s and %d", id, a.Status, a.Body, first.ID, amount)
	}
	Same(t, w, path+"/blockchain/tokens", fmt.Sprintf("[%q,%q]", strings.Repeat("ab", 32), id), []any{Parse([]byte(a.Body))})
}

func (w *world) askMempool(t *testing.T, rng *rand.Rand) {
	t.Helper()
	e := w.e
	ids, all := []any{}, map[string]any{}
	for _, x := range e.Pool {
		ids = append(ids, x.ID)
		all[x.ID] = pending(x)
	}
	a := Ask(t, w, path+"/transactions/unconfirmed?limit=1000", "")
	got := map[string]any{}
	for _, v := range Parse([]byte(a.Body)).([]any) {
		got[v.(map[string]any)["id"].(string)] = v
	}
	if !reflect.DeepEqual(got, all) {
		t.Errorf("unconfirmed transactions:\n got %.2000v\nwant %.2000v", got, all)
	}
	if len(e.Pool) == 0 {
		Same(t, w, path+"/transactions/unconfirmed/transactionIds", "", ids)
		return
	}
	tx := e.Pool[rng.IntN(len(e.Pool))]
	Same(t, w, path+"/transactions/unconfirmed/byTransactionIds", fmt.Sprintf("[%q,%q]", tx.ID, strings.Repeat("00", 32)), []any{tx.ID})
	want := pending(tx)
	Same(t, w, path+"/transactions/unconfirmed/byTransactionId/"+tx.ID, "", want)
	i := rng.IntN(len(tx.Inputs))
	Same(t, w, path+"/transactions/unconfirmed/inputs/byBoxId/"+tx.Inputs[i].ID, "", want["inputs"].([]any)[i])
	if a := Send(t, w, http.MethodHead, path+"/transactions/unconfirmed/"+tx.ID, ""); a.Status != http.StatusOK {
		t.Errorf("HEAD of an unconfirmed transaction: %d", a.Status)
	}
	out := tx.Outputs[rng.IntN(len(tx.Outputs))]
	a = Ask(t, w, path+"/transactions/unconfirmed/outputs/byErgoTree?limit=1000", `"`+out.Tree+`"`)
	n := 0
	for _, b := range e.Fresh {
		if b.Tree == out.Tree {
			n++
		}
	}
	if got := Parse([]byte(a.Body)).([]any); len(got) != n {
		t.Errorf("unconfirmed boxes of %s: %d, expected %d", out.Tree, len(got), n)
	}
}

// Every answer over the first real blocks of mainnet, with a mempool, equals that of the model.
func TestRealBlocks(t *testing.T) {
	rng := testseed.Rand(t)
	w := realWorld(t, 600, 12)
	w.verify(t, rng, testrun.Rounds(t, 150))
}

// Every answer of a generated chain with forks and a mempool equals that of the model.
func TestForks(t *testing.T) {
	rng := testseed.Rand(t)
	c := ergogen.New(Odd(rng))
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(c, 40)...)
	for range testrun.Amount(2, 1) {
		fork, depth := c.Fork(rng.Uint64()), 1+rng.IntN(6)
		height := model.HeightPk(w.Model(nil).Tip())
		made := ergotest.Made(c, depth+1)
		w.pend(t, made[0])
		w.verify(t, rng, min(300, testrun.Rounds(t, 30)))
		w.Sync(t, height, made[:depth]...)
		w.pend(t, made[depth])
		w.verify(t, rng, min(300, testrun.Rounds(t, 30)))
		w.Node.SetPool()
		w.Sync(t, height, ergotest.Made(fork, depth+1)...)
		w.model(w.Settled(t))
		w.verify(t, rng, min(300, testrun.Rounds(t, 30)))
		c = fork
	}
}
