package explorer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/api"
	"birthmark/api/compat/answertest"
	"birthmark/api/served"
	"birthmark/bench/generate/coingen"
	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/internal/testnode/cointest"
	"birthmark/internal/testnode/coretest"
	"birthmark/internal/testnode/oddtest"
	"birthmark/internal/testrun"
	"birthmark/model"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// full is a database of a node's chain with all indexes, options and transactions, and its mempool, served by /v1 and the
// explorer.
type full struct {
	name  string
	store *storetest.Faulty
	db    *core.DB
	src   model.Source
	chain *served.Chain
	http.Handler
}

func newFull(t *testing.T, chain model.Chain, uri string) *full {
	t.Helper()
	o := core.Options{Chain: chain, Raw: true, CacheBytes: 8 << 20, Keep: map[string]model.IndexOptions{}}
	for _, x := range chain.Indexes() {
		o.Indexes = append(o.Indexes, x.Name)
		o.Keep[x.Name] = everything
	}
	store := storetest.NewFaulty(memory.New())
	db, err := core.Open(t.Context(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	open := func(ctx context.Context, indexes []string) (model.Source, error) {
		return chain.Open(ctx, model.SourceOptions{URI: uri, Indexes: indexes, Raw: true, Follow: true})
	}
	w := &full{name: "odd", store: store, db: db}
	if w.src, err = open(t.Context(), db.Indexes()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.src.Close() })
	w.chain = chainOf(w.name, db, nil)
	w.chain.Mempool = answertest.Follow(t, db, open)
	w.Handler = everythingOf(t, w.chain)
	return w
}

// everythingOf returns the handler of /v1 and the explorer.
func everythingOf(t testing.TB, chain *served.Chain) http.Handler {
	t.Helper()
	v1, err := api.New(api.Options{Chains: []*served.Chain{chain}})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", answertest.Recorded(t, v1))
	mux.Handle("/", explorerOf(t, chain))
	return mux
}

// sync brings the database to a height of the node's chain, and waits until the server has the unconfirmed transactions
// with these ids.
func (w *full) sync(t *testing.T, to model.HeightPk, unconfirmed []string) {
	t.Helper()
	if err := core.Sync(t.Context(), w.db, w.src, core.SyncOptions{To: &to}); err != nil {
		t.Fatal(err)
	}
	var s *pending.Standing
	var have []string
	for range 60_000 {
		s, have = w.chain.Mempool.Standing(), nil
		for tx := range s.Newest() {
			have = append(have, w.db.Chain().FormatHash(tx.ID))
		}
		slices.Sort(have)
		if s.Tip == w.db.Tip() && s.State() == pending.Live && slices.Equal(have, slices.Sorted(slices.Values(unconfirmed))) {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("the mempool at %v is %s with %v, expected %v at %v", s.Tip, s.State(), have, unconfirmed, w.db.Tip())
}

// get returns a successful answer.
func (w *full) get(t *testing.T, path string) []byte {
	t.Helper()
	status, body := answertest.HTTP(w, "")(path)
	if status != http.StatusOK {
		t.Fatalf("%s: %d %.500s", path, status, body)
	}
	return body
}

// listed returns the transactions of a list of /v1, of all its pages, which are under the keys txs and mempool.txs, sorted.
// One that several blocks have (BIP 30) is there as often.
func (w *full) listed(t *testing.T, path string) (ids []string) {
	t.Helper()
	type entry struct{ Hash string }
	pending := map[string]bool{} // each page has them
	for next := ""; ; {
		var page struct {
			Txs     []entry
			Mempool struct{ Txs []entry }
			Next    *string
		}
		if err := json.Unmarshal(w.get(t, path+next), &page); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, e := range page.Txs {
			ids = append(ids, e.Hash)
		}
		for _, e := range page.Mempool.Txs {
			pending[e.Hash] = true
		}
		if page.Next == nil {
			break
		}
		next = "&after=" + url.QueryEscape(*page.Next)
	}
	return slices.Sorted(slices.Values(slices.AppendSeq(ids, maps.Keys(pending))))
}

// linked returns the transactions to which the page of an address links, on all pages of its list, sorted.
func (w *full) linked(t *testing.T, path string) (ids []string) {
	t.Helper()
	seen, wait := map[string]bool{path: true}, []string{path}
	for len(wait) > 0 {
		d := read(t, w, wait[0], http.StatusOK)
		wait = wait[1:]
		for _, link := range d.links() {
			if id, ok := strings.CutPrefix(link, "/"+w.name+"/tx/"); ok {
				id, _, _ = strings.Cut(id, "?")
				ids = append(ids, id)
			}
			if strings.HasPrefix(link, path+"?") && !seen[link] {
				seen[link] = true
				wait = append(wait, link)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// A transaction with an odd part is in the lists of /v1 and of the pages beside normal ones, unconfirmed and confirmed. A
// coinbase that two blocks have (BIP 30) is in the history twice, and the later one is the transaction with its id.
func TestOddTransactionsLeaveListsWhole(t *testing.T) {
	node := coretest.Start(t)
	chain, err := chains.New("bitcoin", "regtest")
	if err != nil {
		t.Fatal(err)
	}
	w := newFull(t, chain, node.URL())
	ids := oddtest.Coinbases(t, node, oddtest.P2PKH)
	repeated, newest := ids[len(ids)-1], node.Tip().Height
	ids = append(ids, repeated) // the first block that has it
	var unconfirmed []string
	for _, tx := range oddtest.Txs(t, node.Coins(t, oddtest.Coins), oddtest.P2PKH) {
		if err := node.TrySend(tx.MsgTx); err != nil {
			t.Fatalf("%s: %v", tx.Name, err)
		}
		unconfirmed = append(unconfirmed, tx.TxHash().String())
	}
	ids = slices.Sorted(slices.Values(append(ids, unconfirmed...)))
	address := chain.(model.Scripter).ScriptAddress(oddtest.P2PKH)
	for _, left := range [][]string{unconfirmed, nil} {
		if left == nil {
			node.Mine(t)
		}
		w.sync(t, node.Tip().Height, left)
		w.holds(t, address, ids, len(left))
		for _, id := range ids {
			w.shows(t, id)
		}
		textsAreArguments(t, w.name, w, w.store, testrun.Amount(1500, 300))
	}
	w.blocks(t)
	var tx struct{ Height model.HeightPk }
	if err := json.Unmarshal(w.get(t, "/v1/"+w.name+"/tx/"+repeated), &tx); err != nil || tx.Height != newest {
		t.Errorf("the repeated coinbase is at height %d, %v, expected the last block that has it, %d", tx.Height, err, newest)
	}
}

// holds fails unless the lists of an address have these transactions, which are sorted. The page has the newest ones of the
// unconfirmed transactions.
func (w *full) holds(t *testing.T, address string, ids []string, unconfirmed int) {
	t.Helper()
	at := url.PathEscape(address)
	if got := w.listed(t, "/v1/"+w.name+"/history/address/"+at+"?mempool=include&limit=7"); !slices.Equal(got, ids) {
		t.Errorf("the history of %s has %d transactions, expected %d", address, len(got), len(ids))
	}
	w.get(t, "/v1/"+w.name+"/find/address/"+at+"?mempool=include&limit=1000")
	w.get(t, "/v1/"+w.name+"/balance/address/"+at+"?mempool=include")
	ids = slices.Compact(slices.Clone(ids))
	got, more := w.linked(t, "/"+w.name+"/address/"+at), max(0, unconfirmed-valueRows)
	if len(got) != len(ids)-more || more == 0 && !slices.Equal(got, ids) {
		t.Errorf("the page of %s links to %d transactions, expected %d of %d", address, len(got), len(ids)-more, len(ids))
	}
}

// shows reads the answers about a transaction.
func (w *full) shows(t *testing.T, id string) {
	t.Helper()
	w.get(t, "/v1/"+w.name+"/tx/"+id)
	page := "/" + w.name + "/tx/" + id
	for _, search := range []string{"/v1/" + w.name + "/search?q=", "/v1/search?q="} {
		if found := w.get(t, search+id); !bytes.Contains(found, []byte(`"type":"tx","value":"`+id+`"`)) {
			t.Errorf("%s%s: %s", search, id, found)
		}
	}
	search := "/" + w.name + "/search?q=" + id
	if to := ask(t, w, search).Header.Get("Location"); to != page && to != "" {
		t.Errorf("%s leads to %q", search, to)
	} else if to == "" && !slices.Contains(read(t, w, search, http.StatusOK).links(), page) { // an asset can have the same id
		t.Errorf("%s has no link to the transaction", search)
	}
	read(t, w, page, http.StatusOK)
}

// blocks reads the answers about each block.
func (w *full) blocks(t *testing.T) {
	t.Helper()
	for h := range int(w.db.Tip().Height) + 1 {
		for _, path := range []string{"/v1/%s/block/%d", "/v1/%s/block/%d/totals"} {
			w.get(t, fmt.Sprintf(path, w.name, h))
		}
		read(t, w, fmt.Sprintf("/%s/block/%d", w.name, h), http.StatusOK)
	}
}

// Every transaction of every coin, in blocks and in the mempool, is shown and is in the lists of its addresses, beside
// an unconfirmed transaction in a form that no release knows.
func TestTransactionsOfEveryCoinAreListed(t *testing.T) {
	for _, c := range coingen.Coins {
		t.Run(c.Spec.Name, func(t *testing.T) {
			made := coingen.New(c, coingen.Options{Seed: 5, TxsPerBlock: 6})
			for range 14 {
				made.Next()
			}
			chain := cointest.Open(t, c.Spec, c.Network)
			all := made.Blocks()
			for len(all) < 30 && len(decoded(t, chain, all[len(all)-1])) < 2 { // the last block needs a transaction
				made.Next()
				all = made.Blocks()
			}
			served, pool := all[:len(all)-1], map[string][]byte{strings.Repeat("ab", 32): append([]byte{0xff, 0xff, 0xff, 0xff, 0, 0x40}, make([]byte, 100)...)}
			var txs []model.Tx
			before := 0 // transactions before the last block
			for _, raw := range all {
				before = len(txs)
				txs = append(txs, decoded(t, chain, raw)...)
			}
			last := decoded(t, chain, all[len(all)-1])[1:]
			if n := len(last) - 1; c.Spec.Name == "litecoin" || len(last[n].Inputs) == 0 && c.Spec.Name == "dash" {
				last = last[:n] // miners make it
			}
			for i, tx := range last {
				raw, err := c.Spec.Format.TxAt(all[len(all)-1], i+1)
				if err != nil {
					t.Fatal(err)
				}
				pool[chain.FormatHash(tx.Hash)] = raw
			}
			uri := cointest.NodeWithPool(t, c.Network, c.Spec.Format, func() [][]byte { return served }, func() map[string][]byte { return pool })
			w := newFull(t, chain, uri)
			w.sync(t, model.HeightPk(len(served)-1), idsOf(chain, last))
			w.sameAs(t, slices.Concat(txs[:before], last))
			textsAreArguments(t, w.name, w, w.store, testrun.Amount(500, 300))
			for _, link := range read(t, w, "/"+w.name+"/charts", http.StatusOK).links() {
				if strings.HasPrefix(link, "/"+w.name+"/charts/") {
					read(t, w, link, http.StatusOK)
				}
			}
			served = all
			clear(pool)
			w.sync(t, model.HeightPk(len(served)-1), nil)
			w.sameAs(t, txs)
			w.blocks(t)
		})
	}
}

// decoded returns the transactions of a block with their addresses.
func decoded(t *testing.T, chain model.Chain, raw []byte) []model.Tx {
	t.Helper()
	for b, err := range chain.Decode(t.Context(), bytes.NewReader(raw), []string{"address"}, 1) {
		if err != nil {
			t.Fatal(err)
		}
		return b.Txs
	}
	return nil
}

func idsOf(chain model.Chain, txs []model.Tx) (ids []string) {
	for _, tx := range txs {
		ids = append(ids, chain.FormatHash(tx.Hash))
	}
	return ids
}

// sameAs fails unless these are the transactions of the server, in blocks and unconfirmed.
func (w *full) sameAs(t *testing.T, txs []model.Tx) {
	t.Helper()
	chain := w.db.Chain()
	x := chain.Indexes()[slices.IndexFunc(chain.Indexes(), func(x model.Index) bool { return x.Name == "address" })]
	outputs, of := map[string]string{}, map[string][]string{} // address by output, transactions by address
	add := func(address, id string) {
		if address != "" && !slices.Contains(of[address], id) {
			of[address] = append(of[address], id)
		}
	}
	for i, id := range idsOf(chain, txs) {
		w.shows(t, id)
		for _, in := range txs[i].Inputs {
			add(outputs[fmt.Sprint(in.Tx, in.Index)], id)
		}
		for o, out := range txs[i].Outputs {
			for _, key := range out.Keys {
				address := x.Format(key.Value)
				outputs[fmt.Sprint(txs[i].Hash, o)] = address
				add(address, id)
			}
		}
	}
	if len(of) < 5 {
		t.Errorf("only %d addresses", len(of))
	}
	for address, ids := range of {
		slices.Sort(ids)
		w.holds(t, address, ids, 0)
	}
}
