package ergographql_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergographql"
	"birthmark/bench/generate/ergogen"
	"birthmark/chains/ergo"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
)

const path = "/graphql"

type world struct {
	*World
	http.Handler
	*Naive
	format func([]byte) string
}

func newWorld(t testing.TB, network string) *world {
	t.Helper()
	return newWorldIn(t, network, memory.New())
}

func newWorldIn(t testing.TB, network string, store storage.Store) *world {
	t.Helper()
	w := &world{World: NewWorldIn(t, network, filepath.Join("..", "..", "..", "chains", "ergo", "genesis", network+".json"), store)}
	w.Handler = answertest.Recorded(t, ergographql.New(ergographql.Options{Chain: w.Chain, Path: path}))
	w.format = w.DB.Chain().Indexes()[0].Format
	return w
}

func (w *world) address(tree string) string {
	raw, err := hex.DecodeString(tree)
	if err != nil {
		panic(err)
	}
	return w.format(ergo.StoredAddress(raw))
}

// query sends a query with variables, and returns the answer's data and the text of its first error.
func (w *world) query(t *testing.T, query string, variables map[string]any) (data map[string]any, failure string) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": query, "variables": variables})
	if err != nil {
		t.Fatal(err)
	}
	a := Ask(t, w, path, string(body))
	answer := Parse([]byte(a.Body)).(map[string]any)
	if list, _ := answer["errors"].([]any); len(list) > 0 {
		failure = list[0].(map[string]any)["message"].(string)
	}
	data, _ = answer["data"].(map[string]any)
	return data, failure
}

// same compares a field of an answer with an expected value, through JSON.
func (w *world) same(t *testing.T, query string, variables map[string]any, want any) {
	t.Helper()
	data, failure := w.query(t, query, variables)
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if failure != "" || !reflect.DeepEqual(data, Parse(raw)) {
		got, _ := json.Marshal(data)
		t.Errorf("%s %v: %s\n got %.600s\nwant %.600s", query, variables, failure, got, raw)
	}
}

const fields = " boxId transactionId index value creationHeight ergoTree assets { tokenId amount } additionalRegisters beingSpent address "

// contents are the fields of a box that one of the mempool has too.
func (w *world) contents(b *Box) map[string]any {
	out := map[string]any{"address": w.address(b.Tree), "value": strconv.FormatUint(b.Value, 10), "beingSpent": b.Pending != nil}
	for _, name := range []string{"boxId", "transactionId", "index", "creationHeight", "ergoTree", "additionalRegisters"} {
		out[name] = b.JSON[name]
	}
	tokens := []any{}
	for _, x := range b.Tokens {
		tokens = append(tokens, map[string]any{"tokenId": x.ID, "amount": strconv.FormatUint(x.Amount, 10)})
	}
	out["assets"] = tokens
	return out
}

func (w *world) boxes(all []*Box, chain bool) []any {
	out := []any{}
	for _, b := range all {
		x := w.contents(b)
		if chain {
			x["globalIndex"], x["settlementHeight"], x["headerId"] = strconv.Itoa(b.Global), b.Height(), w.Blocks[0].Parent
			if !b.Genesis() {
				x["headerId"] = b.Tx.Block.ID
			}
		}
		out = append(out, x)
	}
	return out
}

// condition is a random condition on boxes, as variables and as a function.
func (w *world) condition(rng *rand.Rand, b *Box) (map[string]any, func(*Box) bool) {
	other := w.Boxes[rng.IntN(len(w.Boxes))]
	variables := map[string]any{}
	keep := []func(*Box) bool{}
	add := func(name string, value any, f func(*Box) bool) {
		variables[name] = value
		keep = append(keep, f)
	}
	trees := func(c *Box) bool { return c.Tree == b.Tree || c.Tree == other.Tree }
	switch rng.IntN(4) {
	case 0:
		add("ergoTrees", []string{b.Tree, other.Tree}, trees)
	case 1:
		add("addresses", []string{w.address(b.Tree)}, func(c *Box) bool { return c.Tree == b.Payable() })
	case 2:
		add("boxIds", []string{b.ID, other.ID, strings.Repeat("00", 32)}, func(c *Box) bool { return c == b || c == other })
	}
	if hash := b.ExplorerTemplate(); rng.IntN(3) == 0 || len(keep) == 0 {
		add("ergoTreeTemplateHash", hash, func(c *Box) bool { return c.HasTemplate(hash) })
	}
	if len(b.Tokens) > 0 && rng.IntN(2) == 0 {
		id := b.Tokens[rng.IntN(len(b.Tokens))].ID
		add("tokenId", id, func(c *Box) bool { return c.Has(id) })
	}
	return variables, func(c *Box) bool {
		for _, f := range keep {
			if !f(c) {
				return false
			}
		}
		return true
	}
}

const (
	declared = "$boxIds: [String!] $ergoTrees: [String!] $addresses: [String!] $ergoTreeTemplateHash: String $tokenId: String $skip: Int $take: Int"
	passed   = "boxIds: $boxIds ergoTrees: $ergoTrees addresses: $addresses ergoTreeTemplateHash: $ergoTreeTemplateHash tokenId: $tokenId" +
		" skip: $skip take: $take"
)

// ask compares random queries about a box with the model.
func (w *world) ask(t *testing.T, rng *rand.Rand, b *Box) {
	t.Helper()
	variables, meets := w.condition(rng, b)
	offset, limit := rng.IntN(4), 1+rng.IntN(8)
	variables["skip"], variables["take"] = offset, limit
	var fresh []*Box
	for _, c := range w.Fresh {
		if meets(c) {
			fresh = append(fresh, c)
		}
	}
	pending := w.boxes(Page(fresh, offset, limit), false)
	w.same(t, "query ("+declared+") { mempool { boxes("+passed+") {"+fields+"} } }", variables,
		map[string]any{"mempool": map[string]any{"boxes": pending}})

	chain := maps.Clone(variables)
	height := rng.IntN(w.Tip() + 1)
	var conditions []string
	of, spent := meets, rng.IntN(3)
	if spent < 2 {
		chain["spent"] = spent == 1
		of = func(c *Box) bool { return meets(c) && (c.Spender != nil) == (spent == 1) }
	}
	all := of
	switch rng.IntN(4) {
	case 0:
		conditions = append(conditions, fmt.Sprintf("minHeight: %d", height))
		all = func(c *Box) bool { return of(c) && c.Height() >= height }
	case 1:
		conditions = append(conditions, fmt.Sprintf("maxHeight: %d heightType: creation", height))
		all = func(c *Box) bool {
			stated, _ := c.JSON["creationHeight"].(json.Number).Int64()
			return of(c) && int(stated) <= height
		}
	}
	query := "query ($spent: Boolean " + declared + ") { boxes(spent: $spent " + passed + " " + strings.Join(conditions, " ") +
		") {" + fields + "globalIndex settlementHeight headerId } mempool { boxes(" + passed + ") {" + fields + "} } }"
	w.same(t, query, chain, map[string]any{
		"boxes":   w.boxes(Page(Reverse(w.Where(all)), offset, limit), true),
		"mempool": map[string]any{"boxes": pending},
	})
	w.askAddress(t, b)
	w.askHeaders(t, rng)
}

func (w *world) askAddress(t *testing.T, b *Box) {
	t.Helper()
	address := w.address(b.Tree)
	data, failure := w.query(t, `query ($a: [String!]!) { addresses(addresses: $a) { address used boxesCount transactionsCount
		balance { nanoErgs assets { tokenId amount } } } }`, map[string]any{"a": []string{address}})
	if failure != "" {
		t.Errorf("address %s: %s", address, failure)
		return
	}
	tree := func(c *Box) bool { return c.Tree == b.Payable() }
	var value uint64
	tokens := map[string]uint64{}
	for _, c := range w.Where(func(c *Box) bool { return tree(c) && c.Spender == nil }) {
		value += c.Value
		for _, x := range c.Tokens {
			tokens[x.ID] += x.Amount
		}
	}
	got := data["addresses"].([]any)[0].(map[string]any)
	balance := got["balance"].(map[string]any)
	sums := map[string]uint64{}
	for _, x := range balance["assets"].([]any) {
		amount, err := strconv.ParseUint(x.(map[string]any)["amount"].(string), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		sums[x.(map[string]any)["tokenId"].(string)] = amount
	}
	boxes, txs := len(w.Where(tree)), len(w.TxsWhere(tree))
	if got["address"] != address || got["used"] != (boxes > 0) || fmt.Sprint(got["boxesCount"]) != strconv.Itoa(boxes) ||
		fmt.Sprint(got["transactionsCount"]) != strconv.Itoa(txs) ||
		balance["nanoErgs"] != strconv.FormatUint(value, 10) || !reflect.DeepEqual(sums, tokens) {
		t.Errorf("address %s: %v, expected %d boxes, %d transactions, %d, %v", address, got, boxes, txs, value, tokens)
	}
}

func (w *world) askHeaders(t *testing.T, rng *rand.Rand) {
	t.Helper()
	const of = " { headerId parentId version height nBits difficulty timestamp stateRoot adProofsRoot transactionsRoot extensionHash powSolutions votes }"
	offset, limit := rng.IntN(3), 1+rng.IntN(4)
	headers := []any{}
	for _, b := range Page(Reverse(w.Blocks), offset, limit) {
		h := map[string]any{"headerId": b.ID, "timestamp": strconv.FormatInt(b.Timestamp, 10), "nBits": fmt.Sprint(b.Header["nBits"])}
		for _, name := range []string{"parentId", "version", "height", "stateRoot", "adProofsRoot", "transactionsRoot", "extensionHash", "difficulty"} {
			h[name] = b.Header[name]
		}
		solution := map[string]any{}
		for name, v := range b.Header["powSolutions"].(map[string]any) {
			solution[name] = fmt.Sprint(v)
		}
		votes, err := hex.DecodeString(b.Header["votes"].(string))
		if err != nil {
			t.Fatal(err)
		}
		h["powSolutions"], h["votes"] = solution, []int{int(votes[0]), int(votes[1]), int(votes[2])}
		headers = append(headers, h)
	}
	w.same(t, fmt.Sprintf("{ blockHeaders(skip: %d take: %d)%s }", offset, limit, of), nil, map[string]any{"blockHeaders": headers})
	tip := w.Blocks[w.Tip()-1]
	byID := fmt.Sprintf("{ blockHeaders(headerId: %q) { height } state { height blockId boxGlobalIndex transactionGlobalIndex } }", tip.ID)
	w.same(t, byID, nil, map[string]any{
		"blockHeaders": []any{map[string]any{"height": tip.Height}},
		"state": map[string]any{
			"height": tip.Height, "blockId": tip.ID, "boxGlobalIndex": strconv.Itoa(len(w.Boxes) - w.GenesisBoxes - 1),
			"transactionGlobalIndex": strconv.Itoa(len(w.Txs) - 1),
		},
	})
}

// poolSize returns the sum of the sizes of the unconfirmed transactions.
func (w *world) poolSize() (sum int) {
	for _, x := range w.Pool {
		n, err := strconv.Atoi(fmt.Sprint(x.JSON["size"]))
		if err != nil {
			panic(err)
		}
		sum += n
	}
	return sum
}

// askMempool compares the unconfirmed transactions with the model.
func (w *world) askMempool(t *testing.T) {
	t.Helper()
	all := []any{}
	for _, x := range w.Pool {
		all = append(all, map[string]any{"transactionId": x.ID, "size": x.JSON["size"]})
	}
	w.same(t, "{ mempool { size transactionsCount transactions(take: 200) { transactionId size } } }", nil,
		map[string]any{"mempool": map[string]any{"size": w.poolSize(), "transactionsCount": len(w.Pool), "transactions": all}})
	if len(w.Pool) == 0 {
		return
	}
	last := w.Pool[len(w.Pool)-1]
	w.same(t, "query ($ids: [String!]) { mempool { transactions(transactionIds: $ids) { transactionId } } }",
		map[string]any{"ids": []string{strings.Repeat("00", 32), last.ID}},
		map[string]any{"mempool": map[string]any{"transactions": []any{map[string]any{"transactionId": last.ID}}}})
	tree := last.Outputs[0].Payable()
	touched := []any{}
	for _, x := range w.Pool {
		has := false
		for _, c := range append(append([]*Box{}, x.Inputs...), x.Outputs...) {
			has = has || c.Tree == tree
		}
		if has {
			touched = append(touched, map[string]any{"transactionId": x.ID})
		}
	}
	w.same(t, "query ($a: [String!]) { mempool { transactions(addresses: $a take: 200) { transactionId } } }",
		map[string]any{"a": []string{w.address(tree)}}, map[string]any{"mempool": map[string]any{"transactions": touched}})
}

func (w *world) verify(t *testing.T, rng *rand.Rand, rounds int) {
	t.Helper()
	w.askMempool(t)
	for range rounds {
		b := w.Boxes[rng.IntN(len(w.Boxes))]
		if rng.IntN(5) == 0 && len(w.Fresh) > 0 {
			b = w.Fresh[rng.IntN(len(w.Fresh))]
		}
		w.ask(t, rng, b)
	}
}

// Every answer over the first real blocks of mainnet, with a mempool, equals that of the model.
func TestRealBlocks(t *testing.T) {
	rng := testseed.Rand(t)
	blocks, err := ergotest.ReadFile(testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "mainnet")
	w.Sync(t, 0, blocks[:400]...)
	var pool []ergotest.Tx
	for _, b := range blocks[400:412] {
		pool = append(pool, ergotest.Txs(b)...)
	}
	w.Node.SetPool(pool...)
	w.Naive = w.Settled(t)
	w.verify(t, rng, testrun.Rounds(t, 40))
}

// Every answer of a generated chain with forks and a mempool equals that of the model.
func TestForks(t *testing.T) {
	rng := testseed.Rand(t)
	c := ergogen.New(Odd(rng))
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(c, 30)...)
	fork, depth := c.Fork(rng.Uint64()), 1+rng.IntN(6)
	height := model.HeightPk(w.Model(nil).Tip())
	made := ergotest.Made(c, depth+1)
	w.Node.SetPool(w.Model(nil).Possible(ergotest.Txs(made[0])[1:])...)
	w.Naive = w.Settled(t)
	w.verify(t, rng, min(300, testrun.Rounds(t, 30)))
	w.Node.SetPool()
	w.Sync(t, height, made[:depth]...)
	w.Node.SetPool(w.Model(nil).Possible(ergotest.Txs(made[depth])[1:])...)
	w.Naive = w.Settled(t)
	w.verify(t, rng, min(300, testrun.Rounds(t, 30)))
	w.Node.SetPool()
	forked := ergotest.Made(fork, depth+2)
	w.Sync(t, height, forked[:depth+1]...)
	w.Node.SetPool(w.Model(nil).Possible(ergotest.Txs(forked[depth+1])[1:])...)
	w.Naive = w.Settled(t)
	w.verify(t, rng, min(300, testrun.Rounds(t, 30)))
}
