package api_test

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"birthmark/api"
	"birthmark/api/compat/answertest"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// scripted is a node whose transactions the test sets.
type scripted struct {
	mu  sync.Mutex
	tip model.Point
	txs []*model.Unconfirmed
}

func (s *scripted) Tip(context.Context) (model.Point, error) { return s.tip, nil }
func (s *scripted) Close() error                             { return nil }

func (s *scripted) Follow(context.Context, []model.Point) iter.Seq2[model.Event, error] { return nil }

func (s *scripted) MempoolEvents(context.Context) (iter.Seq2[model.MempoolEvent, error], error) {
	return nil, nil
}

func (s *scripted) MempoolIDs(context.Context) (ids []model.Hash, _ uint64, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.txs {
		ids = append(ids, t.Hash)
	}
	return ids, 0, nil
}

func (s *scripted) MempoolTxs(_ context.Context, ids []model.Hash) ([]*model.Unconfirmed, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	txs := make([]*model.Unconfirmed, len(ids))
	for i, id := range ids {
		if n := slices.IndexFunc(s.txs, func(t *model.Unconfirmed) bool { return t.Hash == id }); n >= 0 {
			txs[i] = s.txs[n]
		}
	}
	return txs, nil
}

// withMempool serves a chain with one block and a mempool of two transactions. The first spends the output of address
// Aa and pays 30 to Ab and 10 to Aa. The second spends the output of Ab and pays 25 to Ac.
func withMempool(t *testing.T) (h *site, node *scripted, pool *pending.Follower) {
	t.Helper()
	return withMempoolView(t, func(db *core.DB) viewing { return db.View })
}

// withMempoolView is withMempool with another view of the database for the mempool.
func withMempoolView(t *testing.T, view func(*core.DB) viewing) (h *site, node *scripted, pool *pending.Follower) {
	t.Helper()
	v := modeltest.Variant{Name: "by hand", Coinbase: true, ByHand: true}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), CacheBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	pay := func(value uint64, address byte) model.Output {
		return model.Output{Value: value, Keys: []model.Key{{Index: 0, Value: []byte{address}}}}
	}
	b := &model.Block{Hash: model.Hash{1}, Header: []byte("header"), Txs: []model.Tx{{Hash: model.Hash{2}, Outputs: []model.Output{pay(41, 0xaa)}}}}
	if err := db.Append(t.Context(), []*model.Block{b}); err != nil {
		t.Fatal(err)
	}
	tx := func(id byte, from model.Hash, size int, to ...model.Output) *model.Unconfirmed {
		return &model.Unconfirmed{
			Tx:   model.Tx{Hash: model.Hash{id}, Inputs: []model.Input{{Tx: from}}, Outputs: to, Raw: []byte{id}},
			Size: size, VSize: size, Weight: 4 * size, Seen: time.Unix(1_700_000_000+int64(id), 0),
		}
	}
	node = &scripted{tip: b.Point(), txs: []*model.Unconfirmed{
		tx(3, b.Txs[0].Hash, 100, pay(30, 0xab), pay(10, 0xaa)), tx(4, model.Hash{3}, 50, pay(25, 0xac)),
	}}
	traits := db.Chain().Traits()
	traits.BlockVSize = 2000
	pool = answertest.Follow(t, db, func(context.Context, []string) (model.Source, error) { return node, nil },
		func(o *pending.Options) { o.View, o.Traits = view(db), traits })
	until(t, pool, 2)
	c := of("test", db)
	c.Mempool = pool
	return newAPI(t, api.Options{Chains: []*served.Chain{c, of("other", db)}}), node, pool
}

// until waits until the mempool has n transactions.
func until(t *testing.T, pool *pending.Follower, n int) {
	t.Helper()
	for u := range pool.Changes(t.Context()) {
		if u.State() == pending.Live && u.Count() == n {
			return
		}
	}
	t.Fatal("the mempool did not reach the transactions of the node")
}

func hashOf(id byte) string { return model.Hash{id}.String() }

func TestMempoolOperations(t *testing.T) {
	h, _, _ := withMempool(t)
	get := func(path string, to any) {
		t.Helper()
		w := ask(h, "GET", "/v1/test"+path, "")
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		if err := json.Unmarshal(w.Body.Bytes(), to); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	var m query.MempoolAnswer
	get("/mempool", &m)
	if m.State != "live" || m.Count != 2 || m.NodeCount != 2 || m.Size != 150 || m.VSize != 150 || m.Fees != "6" || len(m.Histogram) != 1 ||
		m.Histogram[0] != (query.FeeRatesAnswer{FeeRate: 0.01, Count: 2, VSize: 150}) {
		t.Errorf("got %+v", m)
	}
	var next query.ProjectedBlocksAnswer
	get("/mempool/blocks", &next)
	if len(next.Blocks) != 1 || next.State != "live" || next.Rest != (query.MempoolRestAnswer{Fees: "0"}) ||
		next.Blocks[0] != (query.ProjectedBlockAnswer{TxCount: 2, VSize: 150, Fees: "6", HighestRate: 0.04, MedianRate: 0.04, LowestRate: 0.04}) {
		t.Errorf("got %+v", next)
	}
	for order, ids := range map[string][]byte{"arrival": {3, 4}, "rate": {4, 3}} {
		var got []string
		next := ""
		for range ids {
			var page query.MempoolTxsAnswer
			get("/mempool/transactions?limit=1&order="+order+next, &page)
			if page.Count != 2 || len(page.Txs) != 1 {
				t.Fatalf("%s: %+v", order, page)
			}
			got = append(got, page.Txs[0].Hash)
			if next = ""; page.Next != nil {
				next = "&after=" + *page.Next
			}
		}
		if next != "" || !slices.Equal(got, []string{hashOf(ids[0]), hashOf(ids[1])}) {
			t.Errorf("%s: %v, next %q", order, got, next)
		}
	}
	var tx query.PendingTxAnswer
	get("/tx/"+hashOf(4), &tx)
	if tx.Status != "unconfirmed" || tx.Fee != "5" || tx.FeeRate != 0.1 || tx.FirstSeen != 1_700_000_004 ||
		tx.Ancestors != (query.AncestorsAnswer{Count: 2, VSize: 150, Fee: "6"}) || len(tx.Inputs) != 1 || len(tx.Outputs) != 1 ||
		tx.Inputs[0].Output.Keys["address"] != "aab" || tx.Inputs[0].Output.Tx != hashOf(3) || tx.Outputs[0].Value != "25" {
		t.Errorf("got %+v", tx)
	}
	var b query.BalanceAnswer
	get("/balance/address/aaa?mempool=include", &b)
	want := query.PendingBalanceAnswer{State: "live", Balance: "-31", Received: "10", Sent: "41", TxCount: 1, OutputCount: 1, SpentCount: 1}
	if b.Balance != "41" || b.Mempool == nil || !reflect.DeepEqual(*b.Mempool, want) {
		t.Errorf("got %+v with %+v", b, b.Mempool)
	}
	var hist query.HistoryAnswer
	get("/history/address/aab?mempool=include", &hist)
	if m := hist.Mempool; len(hist.Txs) != 0 || m == nil || m.TxCount != 2 || !slices.Equal(m.Txs, []query.PendingHistoryTxAnswer{
		{Hash: hashOf(3), FirstSeen: 1_700_000_003, Received: "30", Sent: "0"},
		{Hash: hashOf(4), FirstSeen: 1_700_000_004, Received: "0", Sent: "30", UnconfirmedParent: true},
	}) {
		t.Errorf("got %+v with %+v", hist, hist.Mempool)
	}
	var found query.FindAnswer
	get("/find/address/aaa?mempool=include&or=address=aab", &found)
	spends := []query.PendingSpendAnswer{
		{Tx: hashOf(2), Value: "41", SpentBy: query.PendingSpentByAnswer{Tx: hashOf(3)}},
		{Tx: hashOf(3), Value: "30", SpentBy: query.PendingSpentByAnswer{Tx: hashOf(4)}},
	}
	if m := found.Mempool; len(found.Outputs) != 1 || m == nil || len(m.Outputs) != 2 || m.Outputs[0].Value != "30" || m.Outputs[1].SpentBy != nil || m.Outputs[1].Value != "10" ||
		!slices.Equal(m.Spends, spends) {
		t.Errorf("got %+v with %+v", found, found.Mempool)
	}
	if text := ask(h, "GET", "/v1/test/find/address/aab?mempool=include", "").Body.String(); !strings.Contains(text,
		`"keys":{"address":"aab"},"spent_by":{"tx":"`+hashOf(4)+`","input":0}}]`) {
		t.Errorf("the output lacks its spender %s: %s", hashOf(4), text)
	}
	var unspent query.FindAnswer
	get("/find/address/aab?mempool=include&unspent=true", &unspent)
	if m := unspent.Mempool; m == nil || len(m.Outputs) != 0 || len(m.Spends) != 1 {
		t.Errorf("got %+v with %+v", unspent, unspent.Mempool)
	}
	var plain query.BalanceAnswer
	if get("/balance/address/aaa", &plain); plain.Mempool != nil {
		t.Errorf("got %+v without mempool=include", plain.Mempool)
	}
}

// The unconfirmed change of a balance has the assets that the value receives and sends.
func TestUnconfirmedBalancesHaveAssets(t *testing.T) {
	h, node, pool := withMempool(t)
	out := func(address byte, assets ...model.Asset) model.Output {
		return model.Output{Value: 5, Keys: []model.Key{{Index: 0, Value: []byte{address}}}, Assets: assets}
	}
	one, two := []byte{0xee}, []byte{0xef}
	node.mu.Lock()
	for n, outputs := range [][]model.Output{
		{out(0xad, model.Asset{ID: one, Amount: 7}, model.Asset{ID: two, Amount: 3})},
		{out(0xad, model.Asset{ID: one, Amount: 5}), out(0xae, model.Asset{ID: one, Amount: 2}, model.Asset{ID: two, Amount: 3})},
	} {
		node.txs = append(node.txs, &model.Unconfirmed{
			Tx:   model.Tx{Hash: model.Hash{byte(5 + n)}, Inputs: []model.Input{{Tx: model.Hash{byte(4 + n)}}}, Outputs: outputs},
			Size: 60, VSize: 60,
		})
	}
	node.mu.Unlock()
	until(t, pool, 4)
	for address, want := range map[string]string{
		"aac": "",
		"aad": `,"assets":[{"asset":"ee","balance":"5","received":"12","sent":"7"},{"asset":"ef","balance":"0","received":"3","sent":"3"}]`,
		"aae": `,"assets":[{"asset":"ee","balance":"2","received":"2","sent":"0"},{"asset":"ef","balance":"3","received":"3","sent":"0"}]`,
	} {
		text := ask(h, "GET", "/v1/test/balance/address/"+address+"?mempool=include", "").Body.String()
		_, got, _ := strings.Cut(text, `"spent_count":`)
		if got = strings.TrimSpace(got[1:]); got != want+"}}" {
			t.Errorf("%s: %s, expected %s", address, text, want)
		}
	}
}

// An answer with unconfirmed transactions is not cached for the tip. Its ETag depends on the mempool.
func TestAnswersWithTheMempoolFollowIt(t *testing.T) {
	h, node, pool := withMempool(t)
	const path = "/v1/test/balance/address/aaa?mempool=include"
	before := ask(h, "GET", path, "")
	etag := before.Header().Get("ETag")
	if w := ask(h, "GET", path, "", "If-None-Match", etag); w.Code != http.StatusNotModified {
		t.Errorf("If-None-Match without a change: %d", w.Code)
	}
	tx := ask(h, "GET", "/v1/test/tx/"+hashOf(3), "")
	node.mu.Lock()
	node.txs = nil
	node.mu.Unlock()
	until(t, pool, 0)
	if w := ask(h, "GET", path, "", "If-None-Match", etag); w.Code != http.StatusOK || w.Body.String() == before.Body.String() {
		t.Errorf("after a change: %d %s", w.Code, w.Body)
	}
	w := ask(h, "GET", "/v1/test/tx/"+hashOf(3), "", "If-None-Match", tx.Header().Get("ETag"))
	wantProblem(t, w, http.StatusNotFound, "unknown_tx", "it left the mempool: dropped")
}

// Concurrent equal requests for many unconfirmed transactions are read once.
func TestEqualRequestsWithTheMempoolAreReadOnce(t *testing.T) {
	defer api.FreeRowsOf(20)() // the value has 30 unconfirmed transactions
	for _, of := range []string{"balance/address/aaa?", "history/address/aaa?limit=1&", "find/address/aaa?limit=1&"} {
		synctest.Test(t, func(t *testing.T) {
			c := &counting{release: make(chan struct{})}
			var filled atomic.Bool
			h, node, pool := withMempoolView(t, func(db *core.DB) viewing {
				counted := c.view(db)
				return func(ctx context.Context, fn func(*query.View) error) error {
					if !filled.Load() {
						return db.View(ctx, fn)
					}
					return counted(ctx, fn)
				}
			})
			node.mu.Lock()
			for id := byte(5); id < 34; id++ {
				to := model.Output{Value: 20, Keys: []model.Key{{Index: 0, Value: []byte{0xaa}}}}
				node.txs = append(node.txs, &model.Unconfirmed{
					Tx:   model.Tx{Hash: model.Hash{id}, Inputs: []model.Input{{Tx: model.Hash{id - 1}}}, Outputs: []model.Output{to}},
					Size: 50, VSize: 50, Weight: 200, Seen: time.Unix(1_700_000_000, 0),
				})
			}
			node.mu.Unlock()
			until(t, pool, 31)
			synctest.Wait() // the end of the list is another state of the mempool
			filled.Store(true)
			var all sync.WaitGroup
			for range 20 {
				all.Go(func() {
					w := ask(h, "GET", "/v1/test/"+of+"mempool=include", "")
					if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), `"mempool":{"state":"live"`) {
						t.Errorf("%s: %d %s", of, w.Code, w.Body)
					}
				})
			}
			synctest.Wait()
			if n := c.views.Load(); n != 1 {
				t.Errorf("%s: 20 equal requests read %d times", of, n)
			}
			close(c.release)
			all.Wait()
		})
	}
}

func TestMempoolProblems(t *testing.T) {
	h, _, _ := withMempool(t)
	for path, want := range map[string]struct {
		status       int
		code, detail string
	}{
		"/other/mempool": {404, "no_mempool", "its setting node is the URL of a node"},
		"/other/balance/address/aaa?mempool=include":  {404, "no_mempool", "its setting node"},
		"/other/tx/" + hashOf(3):                      {404, "unknown_tx", "no transaction"},
		"/test/tx/" + hashOf(9):                       {404, "unknown_tx", "no transaction"},
		"/test/balance/address/aaa?mempool=yes":       {400, "bad_value", "expected include or exclude"},
		"/test/balance/address/zz?mempool=include":    {400, "bad_value", "address"},
		"/test/mempool/transactions?order=desc":       {400, "bad_value", "expected arrival or rate"},
		"/test/mempool/transactions?after=7":          {400, "bad_cursor", "pass the value of next"},
		"/test/mempool/transactions?after=1-100-1-1x": {400, "bad_cursor", "pass the value of next"},
	} {
		w := ask(h, "GET", "/v1"+path, "")
		wantProblem(t, w, want.status, want.code, want.detail)
	}
	w := ask(h, "GET", "/v1/test/find/address/aaa?mempool=include", "", "Accept", "application/x-ndjson")
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "a streamed list has no unconfirmed transactions") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}
