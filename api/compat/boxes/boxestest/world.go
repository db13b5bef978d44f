package boxestest

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/boxes"
	"birthmark/api/served"
	"birthmark/bench/generate/ergogen"
	"birthmark/chains/ergo"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/pending"
	"birthmark/internal/testnode/ergotest"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// World is a database of Ergo that follows a test node.
type World struct {
	DB      *core.DB
	Node    *ergotest.Node
	Chain   *boxes.Chain
	Mempool *pending.Follower

	genesis []byte
	blocks  []ergotest.Block // of the best chain
	uri     string
}

// Indexes returns the indexes of the preset ergo_node.
func Indexes() []string {
	return []string{boxes.AddressIndex, boxes.BoxIndex, boxes.TreeIndex, boxes.TemplateIndex}
}

// NewWorld makes a database without blocks, a node without blocks, and the follower of its mempool. genesis is the file
// of the genesis boxes of the network in chains/ergo/genesis.
func NewWorld(t testing.TB, network, genesis string) *World {
	t.Helper()
	return NewWorldIn(t, network, genesis, memory.New())
}

// NewWorldIn is [NewWorld] with a store, which the caller closes.
func NewWorldIn(t testing.TB, network, genesis string, store storage.Store) *World {
	t.Helper()
	return NewWorldOf(t, network, genesis, store, 64<<20)
}

// NewWorldOf is [NewWorldIn] with the memory of the mempool in bytes.
func NewWorldOf(t testing.TB, network, genesis string, store storage.Store, mempool int64) *World {
	t.Helper()
	c, err := ergo.New(network)
	if err != nil {
		t.Fatal(err)
	}
	w := &World{}
	if w.genesis, err = os.ReadFile(genesis); err != nil {
		t.Fatal(err)
	}
	hot := model.IndexOptions{Balance: true, Unspent: true, History: true}
	w.DB, err = core.Open(t.Context(), store, core.Options{
		Chain: c, Indexes: Indexes(), Raw: true, CacheBytes: 4 << 20,
		Keep: map[string]model.IndexOptions{boxes.TreeIndex: hot, boxes.TemplateIndex: hot},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { coretest.Consistent(t, w.DB) })
	w.Node = ergotest.New(ergotest.Options{Network: c.Network(), Genesis: w.genesis})
	w.uri = w.Node.Start(t)
	open := func(_ context.Context, indexes []string) (model.Source, error) {
		return c.Open(context.Background(), model.SourceOptions{URI: w.uri, Indexes: indexes, Raw: true, Follow: true})
	}
	w.Mempool = pending.NewFollower(pending.Options{
		View: w.DB.View, Moved: w.DB.Moved, Open: open, Traits: c.Traits(), Memory: mempool, Interval: 10 * time.Millisecond,
		Patience: time.Minute, // no test depends on the speed of the machine
		Log:      slog.New(slog.DiscardHandler),
	})
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { w.Mempool.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	node, err := open(t.Context(), w.DB.Indexes())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Close() })
	w.Chain, err = boxes.New(&served.Chain{
		Name: "ergo", Model: c, View: w.DB.View, Moved: w.DB.Moved, State: func() served.State { return served.State{} },
		Mempool: w.Mempool, Submitter: node.(model.Submitter), Fees: node.(model.FeeEstimator),
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Sync replaces the blocks above a height by others, in the node and in the database.
func (w *World) Sync(t testing.TB, keep model.HeightPk, blocks ...ergotest.Block) {
	t.Helper()
	w.Node.Switch(keep, blocks...)
	w.blocks = append(w.blocks[:keep:keep], blocks...)
	to := model.HeightPk(len(w.blocks))
	s, err := w.DB.Chain().Open(t.Context(), model.SourceOptions{URI: w.uri, Indexes: w.DB.Indexes(), Raw: true, To: &to})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := core.Sync(t.Context(), w.DB, s, core.SyncOptions{To: &to}); err != nil {
		t.Fatal(err)
	}
}

// Follow syncs the blocks of the node until the test ends. Afterwards [World.Sync] must not be called.
func (w *World) Follow(t testing.TB) {
	t.Helper()
	s, err := w.DB.Chain().Open(t.Context(), model.SourceOptions{URI: w.uri, Indexes: w.DB.Indexes(), Raw: true, Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = core.Sync(ctx, w.DB, s, core.SyncOptions{}) })
	t.Cleanup(func() { cancel(); running.Wait(); _ = s.Close() })
}

// Extend adds blocks to those of the model, after the node got them.
func (w *World) Extend(blocks ...ergotest.Block) { w.blocks = append(w.blocks, blocks...) }

// Pend makes at least n transactions of the next blocks of a chain unconfirmed, and returns the model.
func (w *World) Pend(t testing.TB, c *ergogen.Chain, n int) *Naive {
	t.Helper()
	model := w.Model(nil)
	var txs, possible []ergotest.Tx
	for len(possible) < n {
		txs = append(txs, ergotest.Txs(ergotest.Made(c, 1)[0])[1:]...) // without the reward
		possible = model.Possible(txs)
	}
	w.Node.SetPool(possible...)
	return w.Settled(t)
}

// Settled waits until the overlay equals the mempool of the node at the tip, and returns the model of this moment.
func (w *World) Settled(t testing.TB) *Naive {
	t.Helper()
	txs := w.Node.Pool()
	tip := w.Node.Tip()
	settled := func() bool {
		s := w.Mempool.Standing()
		if s.Tip.Hash != tip.Hash || s.State() != pending.Live || s.Count() != len(txs) {
			return false
		}
		for _, tx := range txs {
			if s.Tx(tx.ID) == nil {
				return false
			}
		}
		return true
	}
	for deadline := time.Now().Add(time.Minute); !settled(); {
		if time.Now().After(deadline) {
			s := w.Mempool.Standing()
			t.Fatalf("after a minute the overlay is %v at %v with %d transactions, the node has %d at %v",
				s.State(), s.Tip, s.Count(), len(txs), tip)
		}
		time.Sleep(2 * time.Millisecond)
	}
	// Unconfirmed transactions are listed in the order of their arrival here.
	at := map[model.Hash]uint64{}
	s := w.Mempool.Standing()
	for _, tx := range txs {
		at[tx.ID] = s.Tx(tx.ID).Arrival
	}
	slices.SortFunc(txs, func(a, b ergotest.Tx) int { return cmp.Compare(at[a.ID], at[b.ID]) })
	return w.Model(txs)
}

// Model returns the model of the chain with unconfirmed transactions.
func (w *World) Model(pool []ergotest.Tx) *Naive {
	blocks, txs := make([][]byte, len(w.blocks)), make([][]byte, len(pool))
	for i := range w.blocks {
		blocks[i] = w.blocks[i].JSON
	}
	for i := range pool {
		txs[i] = pool[i].JSON
	}
	return NewNaive(w.genesis, blocks, txs)
}

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Ask sends a request: with a body by POST.
func Ask(t testing.TB, h http.Handler, path, body string) Answer {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	return Send(t, h, method, path, body)
}

// Send sends a request.
func Send(t testing.TB, h http.Handler, method, path, body string) Answer {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return Answer{rec.Code, rec.Result().Header, rec.Body.String()}
}

// Same compares the answer to a request with an expected value, through JSON.
func Same(t testing.TB, h http.Handler, path, body string, want any) {
	t.Helper()
	a := Ask(t, h, path, body)
	if a.Status != http.StatusOK {
		t.Errorf("%s %s: %d %.300s", path, body, a.Status, a.Body)
		return
	}
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if got := Parse([]byte(a.Body)); !reflect.DeepEqual(got, Parse(raw)) {
		got, want := normal([]byte(a.Body)), normal(raw)
		from := answertest.DifferAt(got, want)
		t.Errorf("%s %s, from byte %d:\n got %.600s\nwant %.600s", path, body, from, got[from:], want[from:])
	}
}

// normal returns JSON with its members in order.
func normal(raw []byte) []byte {
	out, err := json.Marshal(Parse(raw))
	if err != nil {
		panic(err)
	}
	return out
}
