package blockbook_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/account"
	"birthmark/api/compat/answertest"
	"birthmark/api/compat/blockbook"
	"birthmark/api/compat/wallet"
	"birthmark/api/ratelimit"
	"birthmark/api/served"
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/descriptor"
	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/core/query"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

const (
	prefix       = "/testnet/blockbook"
	databaseSize = 123456
)

// accountKey is the key of BIP 86 with the version of test networks.
var accountKey = func() string {
	key, err := hdkeychain.NewKeyFromString("xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ")
	if err == nil {
		key, err = key.CloneWithVersion([]byte{0x04, 0x35, 0x87, 0xcf})
	}
	if err != nil {
		panic(err)
	}
	return key.String()
}()

// world is a chain with a mempool, the database of it, and the server.
type world struct {
	rng    *rand.Rand
	chain  *bitcointest.Chain
	node   *node
	store  *storetest.Faulty
	db     *core.DB
	served *served.Chain
	*blockbook.Server
	recorded http.Handler

	panics   atomic.Bool // each view of the server
	accounts []*account.Account
	scripts  [][]byte
	payee    []byte // script of the rewards; nil: a random one
}

// newWorld returns a world with the block 0. change may change the options of the server.
func newWorld(t testing.TB, change func(*blockbook.Options)) *world {
	t.Helper()
	w := &world{rng: testseed.Rand(t), chain: bitcointest.NewChain(), node: &node{}}
	w.makeScripts(t)
	w.open(t)
	w.sync(t)
	w.serve(t, change)
	return w
}

// open creates the database.
func (w *world) open(t testing.TB) {
	t.Helper()
	chain, err := bitcoin.New("regtest")
	if err != nil {
		t.Fatal(err)
	}
	w.store = storetest.NewFaulty(memory.New())
	answertest.Charged(t, w.store)
	w.db, err = core.Open(t.Context(), w.store, core.Options{
		Chain: chain, Indexes: []string{"address", "script_hash"}, Raw: true, CacheBytes: 4 << 20,
		Keep: map[string]model.IndexOptions{"script_hash": {Balance: true, Unspent: true, History: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// serve starts the server.
func (w *world) serve(t testing.TB, change func(*blockbook.Options)) {
	t.Helper()
	w.serveFrom(t, w.node, func(context.Context, []string) (model.Source, error) { return w.node, nil }, change)
}

// source is a node that a server has.
type source interface {
	model.Source
	model.Submitter
	model.FeeEstimator
}

// ownKey is the key of a value of contexts in which views do not panic.
type ownKey struct{}

// serveFrom starts the server beside a node, whose mempool open opens.
func (w *world) serveFrom(
	t testing.TB, node source, open func(context.Context, []string) (model.Source, error), change func(*blockbook.Options),
) {
	t.Helper()
	chain := w.db.Chain()
	view := func(ctx context.Context, fn func(*query.View) error) error {
		if w.panics.Load() && ctx.Value(ownKey{}) == nil {
			panic("injected")
		}
		return w.db.View(ctx, fn)
	}
	follower := pending.NewFollower(pending.Options{
		View: view, Moved: w.db.Moved, Traits: chain.Traits(), Memory: 64 << 20, Log: slog.New(slog.DiscardHandler),
		Interval: 5 * time.Millisecond, Patience: testrun.Patience, Open: open,
	})
	ctx, stop := context.WithCancel(context.WithValue(context.Background(), ownKey{}, true))
	ran := make(chan struct{})
	go func() {
		defer close(ran)
		follower.Run(ctx)
	}()
	t.Cleanup(func() { stop(); <-ran })
	w.served = &served.Chain{
		Name: "bitcoin-regtest", Model: chain, View: w.db.View, Moved: w.db.Moved, Mempool: follower, Submitter: node, Fees: node,
		Node: node, Measures: func() (core.Stats, error) {
			return core.Stats{Store: []storage.Metric{{Name: "table_bytes", Value: databaseSize}}}, nil
		},
		State: func() served.State { return served.State{} },
	}
	o := blockbook.Options{Prefix: prefix, Version: "v1.2.3", Timeout: time.Minute}
	var err error
	o.Chain = wallet.New(w.served)
	if change != nil {
		change(&o)
	}
	if w.Server, err = blockbook.New(o); err != nil {
		t.Fatal(err)
	}
	w.recorded = answertest.Recorded(t, w.Server)
}

// makeScripts makes the scripts that outputs pay to: those of accounts, and others of every kind.
func (w *world) makeScripts(t testing.TB) {
	w.makeAccounts(t)
	key := append([]byte{2}, bytes.Repeat([]byte{7}, 32)...)
	w.scripts = append(w.scripts,
		w.chain.PayTo, w.chain.Tip().Transactions[0].TxOut[0].PkScript, // that of block 0
		slices.Concat([]byte{33}, key, []byte{0xac}), slices.Concat([]byte{0x51, 33}, key, []byte{0x51, 0xae}),
		[]byte{}, []byte{0x51}, []byte{0x6a}, []byte("\x6a\x05hello"), []byte{0x6a, 2, 0xff, 0xfe}, []byte{0x6a, 1, 65, 1, 66}, []byte{0x50, 1},
		append([]byte{0, 32}, key[1:]...))
}

// makeAccounts makes accounts of all kinds, and some scripts of each.
func (w *world) makeAccounts(t testing.TB) {
	for _, form := range []string{"pkh(%/<0;1>/*)", "sh(wpkh(%/<0;1>/*))", "wpkh(%/<0;1>/*)", "tr(%/<0;1>/*)"} {
		a, err := account.Parse(strings.Replace(form, "%", accountKey, 1), &descriptor.Network{Coin: "bitcoin", Test: true})
		if err != nil {
			t.Fatal(err)
		}
		w.accounts = append(w.accounts, a)
		for range 8 {
			script, err := a.Script(w.rng.IntN(2), w.rng.IntN(45))
			if err != nil {
				t.Fatal(err)
			}
			w.scripts = append(w.scripts, script)
		}
	}
}

func (w *world) script() []byte { return w.scripts[w.rng.IntN(len(w.scripts))] }

// sync syncs the database to the chain, with a reorganization if the database is on another branch.
func (w *world) sync(t testing.TB) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "blk00000.dat")
	if err := os.WriteFile(file, bitcointest.BlockFile(wire.TestNet, w.chain.Blocks()...), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := w.db.Chain().Open(t.Context(), model.SourceOptions{URI: "file://" + file, Indexes: w.db.Indexes(), Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), w.db, src, core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
	tip := w.chain.Tip().BlockHash()
	w.node.set(model.Point{Height: model.HeightPk(w.chain.Height()), Hash: model.Hash(tip)}, nil)
}

// settle waits until the server shows the tip and the mempool of the node.
func (w *world) settle(t testing.TB) {
	t.Helper()
	want := w.node.ids()
	for range 20_000 {
		var got []model.Hash
		s := w.served.Mempool.Standing()
		tip, _ := w.db.Moved()
		for tx := range s.Arrivals(0) {
			got = append(got, tx.ID)
		}
		slices.SortFunc(got, compare)
		slices.SortFunc(want, compare)
		if s.Tip == tip && slices.Equal(got, want) && s.State() == pending.Live {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	s := w.served.Mempool.Standing()
	tip, _ := w.db.Moved()
	t.Fatalf("the mempool of the server (%v at %v, %v) never was that of the node: %d transactions at %v", s.Info(), s.Tip, s.State(), len(want), tip)
}

func compare(a, b model.Hash) int { return bytes.Compare(a[:], b[:]) }

// mine adds blocks. Each has a coinbase and up to most other transactions, and the first the mempool too if confirm is
// set. Transactions that conflict with a block leave the mempool.
func (w *world) mine(t testing.TB, blocks, most int, confirm bool) {
	t.Helper()
	for range blocks {
		var txs []*wire.MsgTx
		pool := w.node.txs()
		if confirm {
			txs, pool = pool, nil
		}
		n := w.naive()
		free := n.free(false)
		for _, tx := range txs {
			free = without(free, tx)
		}
		for range w.rng.IntN(most + 1) {
			if tx := w.spend(&free); tx != nil {
				txs = append(txs, tx)
			}
		}
		if w.chain.PayTo = w.payee; w.payee == nil {
			w.chain.PayTo = w.script()
		}
		w.chain.Mine(txs...)
		w.node.set(model.Point{}, w.valid(pool))
	}
	w.sync(t)
	w.settle(t)
}

// fork replaces the last blocks by more others. The transactions of the old ones are unconfirmed again, if they can be.
func (w *world) fork(t testing.TB, depth int) {
	t.Helper()
	var back []*wire.MsgTx
	for _, b := range w.chain.Blocks()[w.chain.Height()-depth+1:] {
		back = append(back, b.Transactions[1:]...)
	}
	pool := append(back, w.node.txs()...)
	w.chain = w.chain.Fork(w.chain.Height() - depth)
	w.chain.MineEmpty(depth)
	w.node.set(model.Point{}, w.valid(pool))
	w.mine(t, 1, 3, false)
}

// arrive adds transactions to the mempool.
func (w *world) arrive(t testing.TB, n int) (txs []*wire.MsgTx) {
	t.Helper()
	for range n {
		free := w.naive().free(true)
		if tx := w.spend(&free); tx != nil {
			txs = append(txs, tx)
			w.node.set(model.Point{}, append(w.node.txs(), tx))
		}
	}
	w.settle(t)
	return txs
}

// valid returns the transactions whose inputs are unspent, in order.
func (w *world) valid(pool []*wire.MsgTx) (kept []*wire.MsgTx) {
	n := newNaive(w.chain, nil)
	free := n.free(false)
next:
	for _, tx := range pool {
		if n.confirmed(tx.TxHash()) {
			continue
		}
		for _, in := range tx.TxIn {
			if !slices.ContainsFunc(free, func(o output) bool { return o.point() == in.PreviousOutPoint }) {
				continue next
			}
		}
		free = append(without(free, tx), outputsOf(tx, 0)...)
		kept = append(kept, tx)
	}
	return kept
}

func without(free []output, tx *wire.MsgTx) []output {
	return slices.DeleteFunc(slices.Clone(free), func(o output) bool {
		return slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool { return in.PreviousOutPoint == o.point() })
	})
}

// spend returns a transaction that spends some of the outputs, and removes these from free. Scripts are not valid,
// because they are not run.
func (w *world) spend(free *[]output) *wire.MsgTx {
	tx := wire.NewMsgTx(int32(1 + w.rng.IntN(2)))
	tx.LockTime = w.rng.Uint32N(3)
	total := int64(0)
	for range min(1+w.rng.IntN(3), len(*free)) {
		i := w.rng.IntN(len(*free))
		o := (*free)[i]
		*free = slices.Delete(*free, i, i+1)
		point := o.point()
		in := wire.NewTxIn(&point, []byte{byte(w.rng.Uint32())}, nil)
		in.Sequence = []uint32{0xffffffff, 0xfffffffe, 0xfffffffd}[w.rng.IntN(3)]
		if w.rng.IntN(2) == 0 {
			in.Witness = wire.TxWitness{{1, 2, byte(w.rng.Uint32())}}
		}
		tx.AddTxIn(in)
		total += o.out().Value
	}
	if len(tx.TxIn) == 0 {
		return nil
	}
	for range 1 + w.rng.IntN(4) {
		value := total / int64(2+w.rng.IntN(4))
		total -= value
		tx.AddTxOut(wire.NewTxOut(value, w.script()))
	}
	return tx
}

// spendAny returns a transaction that spends outputs of the chain or the mempool. It mines blocks if all are spent.
func (w *world) spendAny(t testing.TB) *wire.MsgTx {
	t.Helper()
	for range 20 {
		free := w.naive().free(true)
		if tx := w.spend(&free); tx != nil {
			return tx
		}
		w.mine(t, 1, 0, false)
	}
	t.Fatal("20 blocks without an output that can be spent")
	return nil
}

// naive returns the model of the chain and the mempool, in the order in which it arrived at the server.
func (w *world) naive() *naive {
	pool := w.node.txs()
	order := map[model.Hash]int{}
	for tx := range w.served.Mempool.Standing().Arrivals(0) {
		order[tx.ID] = len(order) - len(pool)
	}
	slices.SortStableFunc(pool, func(a, b *wire.MsgTx) int {
		return order[model.Hash(a.TxHash())] - order[model.Hash(b.TxHash())]
	})
	n := newNaive(w.chain, pool)
	n.seen = w.node.times()
	return n
}

func (w *world) ServeHTTP(a http.ResponseWriter, r *http.Request) { w.recorded.ServeHTTP(a, r) }

// ask sends a REST request: GET if body is empty.
func (w *world) ask(t testing.TB, path, body string) (status int, answer string) {
	t.Helper()
	method, reader := http.MethodGet, io.Reader(nil)
	if body != "" {
		method, reader = http.MethodPost, strings.NewReader(body)
	}
	r := httptest.NewRequest(method, prefix+path, reader)
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r.WithContext(t.Context()))
	if media := rec.Header().Get("Content-Type"); media != "application/json; charset=utf-8" {
		t.Errorf("%s: media type %s", path, media)
	}
	return rec.Code, strings.TrimSuffix(rec.Body.String(), "\n")
}

// get returns a successful answer.
func get[T any](t testing.TB, w *world, path string) (a T) {
	t.Helper()
	status, body := w.ask(t, path, "")
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, body)
	}
	decode(t, path, body, &a)
	return a
}

// decode reads JSON without unknown fields.
func decode(t testing.TB, what, body string, to any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		t.Fatalf("%s: %v in %s", what, err, body)
	}
}

// same compares two values by their JSON.
func same(t testing.TB, what string, got, want any) {
	t.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if !bytes.Equal(g, w) {
		t.Fatalf("%s:\n got %s\nwant %s", what, g, w)
	}
}

// escaped returns a descriptor as a part of a path.
func escaped(descriptor string) string { return url.PathEscape(descriptor) }

// limited returns the server behind the limits of the HTTP server.
func (w *world) limited(t testing.TB, change func(*ratelimit.Options)) *httptest.Server {
	t.Helper()
	o := ratelimit.Defaults()
	if change != nil {
		change(&o)
	}
	s := httptest.NewServer(ratelimit.New(o, w))
	t.Cleanup(s.Close)
	return s
}
