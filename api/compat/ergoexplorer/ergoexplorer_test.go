package ergoexplorer_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	. "birthmark/api/compat/boxes/boxestest"
	"birthmark/api/compat/ergoexplorer"
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

const path = "/explorer"

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
	w.Handler = listedStreams(t, answertest.Recorded(t, ergoexplorer.New(ergoexplorer.Options{Chain: w.Chain, Path: path})))
	w.format = w.DB.Chain().Indexes()[0].Format
	return w
}

// isStream matches the paths whose answers are values without separators: bytesStream in streaming.scala of
// ergoplatform/explorer-backend. Its clients depend on that: parseJsonStream in ErgoExplorer.scala of
// spectrum-finance/ergo-dex-backend.
var isStream = regexp.MustCompile(`/stream(/summary)?$|/v1/mempool/boxes/unspent$`)

// listedStreams makes lists of the answers that are streams.
func listedStreams(t testing.TB, h http.Handler) http.Handler {
	t.Helper()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isStream.MatchString(r.URL.Path) {
			h.ServeHTTP(w, r)
			return
		}
		got := httptest.NewRecorder()
		h.ServeHTTP(got, r)
		maps.Copy(w.Header(), got.Header())
		w.Header().Del("Content-Length")
		body := got.Body.Bytes()
		if got.Code == http.StatusOK {
			body = listOfValues(t, r.URL.String(), body)
		}
		w.WriteHeader(got.Code)
		if _, err := w.Write(body); err != nil {
			t.Error(err)
		}
	})
}

// listOfValues returns the list of values that follow each other without anything between them.
func listOfValues(t testing.TB, from string, body []byte) []byte {
	t.Helper()
	var values [][]byte
	d := json.NewDecoder(bytes.NewReader(body))
	for d.More() {
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			t.Errorf("%s: %v in %.300s", from, err, body)
			break
		}
		if value[0] != '{' {
			t.Errorf("%s: a stream has objects, not %.100s", from, value)
		}
		values = append(values, value)
	}
	if whole := bytes.Join(values, nil); !bytes.Equal(whole, body) {
		t.Errorf("%s: the values of %.300s are not all of it", from, body)
	}
	return slices.Concat([]byte("["), bytes.Join(values, []byte(",")), []byte("]"))
}

func (w *world) address(tree string) string {
	raw, err := hex.DecodeString(tree)
	if err != nil {
		panic(err)
	}
	return w.format(ergo.StoredAddress(raw))
}

// verify compares random requests with the model.
func (w *world) verify(t *testing.T, rng *rand.Rand, rounds int) {
	t.Helper()
	for range rounds {
		b := w.Boxes[rng.IntN(len(w.Boxes))]
		if rng.IntN(5) == 0 && len(w.Fresh) > 0 {
			b = w.Fresh[rng.IntN(len(w.Fresh))]
		}
		w.ask(t, rng, b)
	}
}

func (w *world) ask(t *testing.T, rng *rand.Rand, b *Box) {
	t.Helper()
	offset, limit := rng.IntN(4), 1+rng.IntN(8)
	if rng.IntN(8) == 0 {
		offset = rng.IntN(len(w.Boxes) + 10)
	}
	window := fmt.Sprintf("?offset=%d&limit=%d", offset, limit)
	address, tree := w.address(b.Tree), func(c *Box) bool { return c.Tree == b.Tree }
	paid := func(c *Box) bool { return c.Tree == b.Payable() }
	hash := b.ExplorerTemplate()
	template := func(c *Box) bool { return c.HasTemplate(hash) }
	list := func(f func(*Box) bool, newestFirst bool) map[string]any {
		found := w.Where(f)
		if newestFirst {
			found = Reverse(found)
		}
		return paged(w.boxes(Page(found, offset, limit)), len(found))
	}
	unspent := func(f func(*Box) bool) func(*Box) bool {
		return func(c *Box) bool { return f(c) && c.Spender == nil }
	}
	ascending := rng.IntN(2) == 0
	direction := "&sortDirection=desc"
	if ascending {
		direction = "&sortDirection=asc"
	}
	tx := w.Txs[rng.IntN(len(w.Txs))]
	switch rng.IntN(12) {
	case 0:
		if b.Genesis() || b.Tx.Block != nil {
			w.same(t, "/boxes/"+b.ID, "", w.box(b))
		}
		w.same(t, "/transactions/"+tx.ID, "", w.tx(tx, nil))
	case 1:
		own, concise := (func(*Box) bool)(nil), rng.IntN(2) == 0
		if concise {
			own = paid
		}
		found := w.TxsWhere(paid)
		w.same(t, fmt.Sprintf("/addresses/%s/transactions%s&concise=%t", address, window, concise), "",
			paged(w.txs(Page(Reverse(found), offset, limit), own), len(found)))
		from, to := rng.IntN(w.Tip()+1), 1+rng.IntN(w.Tip())
		if from > to {
			from, to = to, from
		}
		kept := []*Tx{}
		for _, x := range found {
			if x.Block.Height >= from && x.Block.Height <= to {
				kept = append(kept, x)
			}
		}
		w.same(t, fmt.Sprintf("/addresses/%s/transactions%s&fromHeight=%d&toHeight=%d", address, window, from, to), "",
			paged(w.txs(Page(Reverse(kept), offset, limit), nil), len(kept)))
	case 2:
		w.same(t, "/boxes/byAddress/"+address+window, "", list(paid, true))
		w.same(t, "/boxes/byErgoTree/"+b.Tree+window, "", list(tree, true))
		w.same(t, "/boxes/byErgoTreeTemplateHash/"+hash+window, "", list(template, false))
	case 3, 4:
		w.same(t, "/boxes/unspent/byAddress/"+address+window+direction, "", list(unspent(paid), !ascending))
		w.same(t, "/boxes/unspent/byErgoTree/"+b.Tree+window+direction, "", list(unspent(tree), !ascending))
		w.same(t, "/boxes/unspent/byErgoTreeTemplateHash/"+hash+window, "", list(unspent(template), false))
	case 5:
		if len(b.Tokens) > 0 {
			id := b.Tokens[rng.IntN(len(b.Tokens))].ID
			has := func(c *Box) bool { return c.Has(id) }
			w.same(t, "/boxes/byTokenId/"+id+window+direction, "", list(has, !ascending))
			w.same(t, "/boxes/unspent/byTokenId/"+id+window+direction, "", list(unspent(has), !ascending))
			body := fmt.Sprintf(`{"ergoTreeTemplateHash":%q,"assets":[%q]}`, hash, id)
			both := func(c *Box) bool { return template(c) && has(c) }
			w.same(t, "/boxes/search"+window, body, list(both, false))
			w.same(t, "/boxes/unspent/search"+window, body, list(unspent(both), false))
			w.same(t, "/boxes/unspent/search/union"+window, body, list(unspent(both), false))
		}
	case 6:
		var fresh, every []*Box
		for _, c := range w.Fresh {
			if paid(c) && c.Pending == nil {
				fresh = append(fresh, c)
			}
		}
		free := w.Where(func(c *Box) bool { return paid(c) && c.Spender == nil && c.Pending == nil })
		ordered := free
		if !ascending {
			ordered = Reverse(free)
		}
		w.same(t, "/boxes/unspent/unconfirmed/byAddress/"+address+"?"+direction, "",
			append(w.merged(fresh, "blockId", false), w.merged(ordered, "blockId", false)...))
		every = append(free[:len(free):len(free)], fresh...)
		total := len(every)
		if !ascending {
			every = Reverse(every)
		}
		w.same(t, "/boxes/unspent/all/byAddress/"+address+window+direction, "", paged(w.merged(Page(every, offset, limit), "headerId", nil), total))
	case 7:
		w.askBalance(t, rng, address, paid)
	case 8:
		var found []*Tx
		for _, x := range w.Txs {
			for _, in := range x.Inputs {
				if template(in) {
					found = append(found, x)
					break
				}
			}
		}
		w.same(t, "/transactions/byInputsScriptTemplateHash/"+hash+window, "", paged(w.txs(Page(Reverse(found), offset, limit), nil), len(found)))
	case 9:
		w.same(t, fmt.Sprintf("/boxes/byGlobalIndex/stream?minGix=%d&limit=%d", offset, limit), "", w.boxes(Page(w.Boxes[w.GenesisBoxes:], offset, limit)))
		w.same(t, fmt.Sprintf("/transactions/byGlobalIndex/stream?minGix=%d&limit=%d", offset, limit), "", w.txs(Page(w.Txs, offset, limit), nil))
		last := fmt.Sprintf(`"maxBoxGix":%d,"maxTxGix":%d,`, len(w.Boxes)-w.GenesisBoxes-1, len(w.Txs)-1)
		if state := Ask(t, w, path+"/api/v1/networkState", "").Body; !strings.Contains(state, last) {
			t.Errorf("the state is %s, expected %s", state, last)
		}
		from := rng.IntN(w.Tip())
		to := min(w.Tip(), from+3)
		within := func(c *Box) bool { return c.Spender == nil && c.Height() >= from && c.Height() <= to }
		w.same(t, fmt.Sprintf("/boxes/unspent/stream?minHeight=%d&maxHeight=%d", from, to), "", w.boxes(w.Where(within)))
		w.same(t, fmt.Sprintf("/boxes/unspent/byErgoTreeTemplateHash/%s/stream?minHeight=%d&maxHeight=%d", hash, from, to), "",
			w.boxes(w.Where(func(c *Box) bool { return within(c) && template(c) })))
	case 10:
		w.askBlock(t, tx.Block)
	case 11:
		var found []*Tx
		for _, x := range w.Pool {
			touched := false
			for _, c := range append(append([]*Box{}, x.Inputs...), x.Outputs...) {
				touched = touched || paid(c)
			}
			if touched {
				found = append(found, x)
			}
		}
		w.same(t, "/mempool/transactions/byAddress/"+address+window, "", paged(w.txs(Page(Reverse(found), offset, limit), nil), len(found)))
	}
}

func (w *world) askBlock(t *testing.T, b *Block) {
	t.Helper()
	a := Ask(t, w, path+"/api/v1/blocks/"+b.ID, "")
	var got struct {
		Block struct {
			Header, BlockTransactions json.RawMessage
			Extension                 struct{ HeaderID string }
		}
		References struct{ PreviousID, NextID *string }
	}
	if err := json.Unmarshal([]byte(a.Body), &got); err != nil || *got.References.PreviousID != b.Parent ||
		(got.References.NextID == nil) != (b.Height == w.Tip()) || got.Block.Extension.HeaderID != b.ID {
		t.Errorf("block %s: %v %.500s", b.ID, err, a.Body)
	}
	summary := w.summary(b)
	raw, err := json.Marshal(summary)
	if err != nil {
		t.Fatal(err)
	}
	contents, err := json.Marshal(map[string]any{"header": got.Block.Header, "blockTransactions": got.Block.BlockTransactions})
	if err != nil || !reflect.DeepEqual(essence(Parse(contents)), essence(Parse(raw))) {
		t.Errorf("block %s: %v\n got %.900s\nwant %.900s", b.ID, err, contents, raw)
	}
	w.same(t, fmt.Sprintf("/blocks/stream/summary?minGix=%d&limit=1", b.Height-1), "", []any{summary})
	w.same(t, fmt.Sprintf("/blocks/headers?offset=%d&limit=1", w.Tip()-b.Height), "", paged([]any{w.header(b)}, w.Tip()))
	a = Ask(t, w, fmt.Sprintf("%s/api/v1/blocks?offset=%d&limit=1", path, w.Tip()-b.Height), "")
	var page struct {
		Items []struct {
			ID                string
			Height, Epoch     int
			TransactionsCount int
			MinerReward       uint64
		}
		Total int
	}
	err = json.Unmarshal([]byte(a.Body), &page)
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != b.ID || page.Items[0].TransactionsCount != len(b.Txs) ||
		page.Items[0].Epoch != b.Height/1024 || page.Total != w.Tip() {
		t.Errorf("blocks: %v %.500s", err, a.Body)
	}
}

func (w *world) askBalance(t *testing.T, rng *rand.Rand, address string, f func(*Box) bool) {
	t.Helper()
	type balance struct {
		NanoErgs uint64
		Tokens   []struct {
			TokenID string
			Amount  uint64
		}
	}
	check := func(what string, got balance, want []*Box) {
		t.Helper()
		var value uint64
		tokens, sums := map[string]uint64{}, map[string]uint64{}
		for _, b := range want {
			value += b.Value
			for _, x := range b.Tokens {
				tokens[x.ID] += x.Amount
			}
		}
		for _, x := range got.Tokens {
			sums[x.TokenID] += x.Amount
		}
		if got.NanoErgs != value || !reflect.DeepEqual(sums, tokens) {
			t.Errorf("%s of %s: %d %v, expected %d %v", what, address, got.NanoErgs, sums, value, tokens)
		}
	}
	read := func(endpoint, body string, v any) {
		t.Helper()
		a := Ask(t, w, path+"/api/v1/addresses/"+endpoint, body)
		if err := json.Unmarshal([]byte(a.Body), v); err != nil || a.Status != http.StatusOK {
			t.Fatalf("%s: %d %.300s", endpoint, a.Status, a.Body)
		}
	}
	unspent := func(b *Box) bool { return f(b) && b.Spender == nil }
	var total struct{ Confirmed, Unconfirmed balance }
	read(address+"/balance/total", "", &total)
	var fresh []*Box
	waits := false
	for _, b := range w.Fresh {
		if waits = waits || f(b); f(b) && b.Pending == nil {
			fresh = append(fresh, b)
		}
	}
	for _, b := range w.Boxes {
		waits = waits || f(b) && b.Pending != nil
	}
	check("balance", total.Confirmed, w.Where(unspent))
	check("unconfirmed balance", total.Unconfirmed, fresh)
	depth := rng.IntN(w.Tip())
	var earlier balance
	read(fmt.Sprintf("%s/balance/confirmed?minConfirmations=%d", address, depth), "", &earlier)
	height := w.Tip() - depth
	check(fmt.Sprintf("balance at height %d", height), earlier, w.Where(func(b *Box) bool {
		return f(b) && b.Height() <= height && (b.Spender == nil || b.Spender.Block.Height > height)
	}))
	var infos map[string]struct {
		HasUnconfirmedTxs, Used bool
		ConfirmedBalance        balance
	}
	read("batchInfo", fmt.Sprintf("[%q]", address), &infos)
	info := infos[address]
	if used := len(w.Where(f)) > 0; info.Used != used || info.HasUnconfirmedTxs != waits {
		t.Errorf("info of %s: used %t, waits %t, expected %t and %t", address, info.Used, info.HasUnconfirmedTxs, used, waits)
	}
	check("balance in info", info.ConfirmedBalance, w.Where(unspent))
}

// realWorld syncs the first real blocks of mainnet, with the transactions of the next ones as its mempool.
func realWorld(t *testing.T) *world {
	t.Helper()
	blocks, err := ergotest.ReadFile(testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"))
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, "mainnet")
	w.Sync(t, 0, blocks[:600]...)
	var pool []ergotest.Tx
	for _, b := range blocks[600:612] {
		pool = append(pool, ergotest.Txs(b)...)
	}
	w.Node.SetPool(pool...)
	w.Naive = w.Settled(t)
	return w
}

// Every answer over the first real blocks of mainnet, with a mempool, equals that of the model.
func TestRealBlocks(t *testing.T) {
	rng := testseed.Rand(t)
	realWorld(t).verify(t, rng, testrun.Rounds(t, 100))
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
	w.verify(t, rng, min(300, testrun.Rounds(t, 50)))
	w.Node.SetPool()
	w.Sync(t, height, made[:depth]...)
	w.Naive = w.Settled(t)
	w.verify(t, rng, min(300, testrun.Rounds(t, 20)))
	w.Sync(t, height, ergotest.Made(fork, depth+1)...)
	w.Naive = w.Settled(t)
	w.verify(t, rng, min(300, testrun.Rounds(t, 30)))
	w.askTokens(t)
	w.askSorted(t, rng)
}

// Errors have the form of the explorer.
func TestErrors(t *testing.T) {
	w := newWorld(t, "testnet")
	w.Sync(t, 0, ergotest.Made(ergogen.New(ergogen.Options{Seed: 1}), 3)...)
	zero := strings.Repeat("00", 32)
	search := func(kind, name string) string {
		return fmt.Sprintf(`{"ergoTreeTemplateHash":%q,%q:{%q:"00"}}`, zero, kind, name)
	}
	for _, c := range []struct {
		path   string
		status int
		says   string
		body   string
	}{
		{"/boxes/search", 200, `{"items":[],"total":0}`, search("registers", "R4")},
		{"/boxes/search", 400, `register \"R+4\": expected R4 to R9`, search("registers", "R+4")},
		{"/boxes/search", 400, `register \"R04\": expected R4 to R9`, search("registers", "R04")},
		{"/boxes/search", 400, `register \"R3\": expected R4 to R9`, search("registers", "R3")},
		{"/boxes/search", 400, `register \"R10\": expected R4 to R9`, search("registers", "R10")},
		{"/boxes/search", 400, `register \"r4\": expected R4 to R9`, search("registers", "r4")},
		{"/boxes/search", 200, `{"items":[],"total":0}`, search("constants", "10")},
		{"/boxes/search", 400, `constant \"+1\": expected its number`, search("constants", "+1")},
		{"/boxes/search", 400, `constant \"01\": expected its number`, search("constants", "01")},
		{"/boxes/search", 400, "the body: ", "{"},
		{"/boxes/search", 400, "is not an id", "{}"},
		{"/blocks?sortBy=minerReward", 501, "Not implemented: blocks have no stored order by minerReward", ""},
		{"/blocks?sortBy=color", 400, "sortBy: expected height", ""},
		{"/blocks?sortBy=size&offset=9990&limit=20", 400, "only the first 10000 blocks", ""},
		{"/tokens/listGenuine", 501, `{"status":501,"reason":"Not implemented: the list of genuine`, ""},
		{"/boxes/" + zero, 404, `{"status":404,"reason":"Not found: box ` + zero, ""},
		{"/boxes/zz", 400, `{"status":400,"reason":"Bad request: \"zz\" is not an id`, ""},
		{"/blocks?limit=501", 400, "expected 1 to 500", ""},
		{"/blocks?limit=-1", 400, "limit: expected a number", ""},
		{"/addresses/xyz/transactions", 400, "invalid address", ""},
		{"/boxes/unspent/stream?minHeight=1", 400, "maxHeight is missing", ""},
		{"/boxes/unspent/stream?minHeight=3&maxHeight=2", 400, "maxHeight: expected at least minHeight", ""},
		{"/boxes/unspent/stream?minHeight=0&maxHeight=1537", 400, "at most 1536 more", ""},
		{"/boxes/unspent/stream?minHeight=4294967297&maxHeight=4294967299", 200, "[]", ""}, // 1 and 3 in 32 bits
		{"/boxes/unspent/byLastEpochs/stream?lastEpochs=2", 400, "lastEpochs: expected a number up to 1", ""},
		{"/boxes/byGlobalIndex/stream?minGix=0&limit=501", 400, "limit: expected at most 500", ""},
		{"/boxes/byGlobalIndex/stream?minGix=99999999&limit=5", 200, "[]", ""},
		{"/assets/search/byTokenId?query=abcd", 400, "at least 5", ""},
		{"/addresses/batchInfo", 400, "invalid address", `["x"]`},
		{"/addresses/batchInfo", 400, "the body: ", "{}"},
		{"/boxes/unspent/byErgoTree/zz", 400, "not hex", ""},
		{"/boxes/byTokenId/" + zero + "?limit=101", 400, "expected 1 to 100", ""},
		{"/nowhere", 404, "Not found", ""},
		{"/tokens/search?query=ab", 400, "at least 3", ""},
		{"/networkState", 200, `"height":3`, ""},
		{"/networkState", 200, `"params":{"height":0,"storageFeeFactor":1250000,`, ""},
		{"/epochs/params", 200, `"maxBlockSize":524288`, ""},
		{"/networkStats", 200, "uniqueAddressesNum", ""},
		{"/info", 200, `"height":3`, ""},
	} {
		if a := Ask(t, w, path+"/api/v1"+c.path, c.body); a.Status != c.status || !strings.Contains(a.Body, c.says) {
			t.Errorf("%s: %d %s, expected %d with %s", c.path, a.Status, a.Body, c.status, c.says)
		}
	}
}
