package esplora_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/answertest"
	"birthmark/api/compat/esplora"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

const path = "/testnet/api"

// world is a database of a generated chain and the handler that serves it.
type world struct {
	miner  *miner
	store  *storetest.Faulty
	db     *core.DB
	served *served.Chain
	http.Handler
}

func newWorld(t testing.TB, network string, change func(*core.Options)) *world {
	t.Helper()
	chain, err := bitcoin.New(network)
	if err != nil {
		t.Fatal(err)
	}
	o := core.Options{
		Chain: chain, Indexes: []string{"address", "script_hash"}, Raw: true, CacheBytes: 4 << 20,
		Keep: map[string]model.IndexOptions{
			"script_hash": {Balance: true, Unspent: true, History: true}, "address": {Prefix: true},
		},
	}
	if change != nil {
		change(&o)
	}
	store := storetest.NewFaulty(memory.New())
	db, err := core.Open(t.Context(), store, o)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{miner: newMiner(testseed.Rand(t)), store: store, db: db}
	w.served = &served.Chain{
		Name: "bitcoin-" + network, Model: chain, View: db.View, Moved: db.Moved, State: func() served.State { return served.State{} },
	}
	return w
}

// serve makes the handler; the served chain must be complete.
func (w *world) serve(t testing.TB) {
	t.Helper()
	c := wallet.New(w.served)
	w.Handler = answertest.Recorded(t, esplora.New(esplora.Options{Chain: c, Path: path}))
}

// sync brings the database to the chain of the miner, by a reorganization if it is on another branch.
func (w *world) sync(t testing.TB) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "blk00000.dat")
	if err := os.WriteFile(file, bitcointest.BlockFile(wire.TestNet, w.miner.chain.Blocks()...), 0o600); err != nil {
		t.Fatal(err)
	}
	w.syncFrom(t, file, nil)
}

func (w *world) syncFrom(t testing.TB, file string, to *model.HeightPk) {
	t.Helper()
	src, err := w.db.Chain().Open(t.Context(), model.SourceOptions{
		URI: "file://" + file, Indexes: w.db.Indexes(), Raw: w.db.KeepsRaw(), To: to,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), w.db, src, core.SyncOptions{To: to}); err != nil {
		t.Fatal(err)
	}
}

// answer is the response to a request.
type answer struct {
	status           int
	body             string
	media, lifetimes string
}

// ask sends a request: GET if body is nil.
func (w *world) ask(t testing.TB, endpoint string, body io.Reader) answer {
	t.Helper()
	method := http.MethodGet
	if body != nil {
		method = http.MethodPost
	}
	r := httptest.NewRequest(method, path+endpoint, body)
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r.WithContext(t.Context()))
	return answer{rec.Code, rec.Body.String(), rec.Header().Get("Content-Type"), rec.Header().Get("Cache-Control")}
}

// get returns the body of a successful answer.
func (w *world) get(t testing.TB, endpoint string) string {
	t.Helper()
	a := w.ask(t, endpoint, nil)
	if a.status != http.StatusOK {
		t.Fatalf("%s: %d %s", endpoint, a.status, a.body)
	}
	return a.body
}

// expect compares a successful answer with its body, media type and lifetime in caches.
func (w *world) expect(t testing.TB, endpoint, body, media, seconds string) {
	t.Helper()
	got := w.ask(t, endpoint, nil)
	if want := (answer{http.StatusOK, body, media, "public, max-age=" + seconds}); got != want {
		t.Fatalf("%s:\n got %+v\nwant %+v", endpoint, got, want)
	}
}

func (w *world) post(t testing.TB, endpoint, body string) answer {
	t.Helper()
	return w.ask(t, endpoint, strings.NewReader(body))
}

// miner makes random blocks. Signatures are not valid: the database does not run scripts.
type miner struct {
	rng     *rand.Rand
	chain   *bitcointest.Chain
	scripts [][]byte
}

func newMiner(rng *rand.Rand) *miner {
	m := &miner{rng: rng, chain: bitcointest.NewChain()}
	m.scripts = [][]byte{
		m.chain.PayTo, m.chain.Tip().Transactions[0].TxOut[0].PkScript, // that of block 0
		{}, {0x51}, {0x6a}, append([]byte{0x6a, 4}, m.bytes(4)...), {0x50, 0x51}, {0x6a, 5, 1}, {0x51, 2, 0x4e, 0x73},
		bytes.Repeat([]byte{0x61}, 10_001), slices.Concat([]byte{0x51, 33}, m.key(), []byte{0x51, 0xae}),
		append([]byte{0x60, 5}, m.bytes(5)...), append([]byte{0, 7}, m.bytes(7)...), m.bytes(30),
	}
	for range 3 {
		m.scripts = append(m.scripts,
			slices.Concat([]byte{0x76, 0xa9, 20}, m.bytes(20), []byte{0x88, 0xac}),
			slices.Concat([]byte{0xa9, 20}, m.bytes(20), []byte{0x87}), append([]byte{0, 20}, m.bytes(20)...),
			append([]byte{0, 32}, m.bytes(32)...), append([]byte{0x51, 32}, m.bytes(32)...),
			slices.Concat([]byte{33}, m.key(), []byte{0xac}))
	}
	return m
}

func (m *miner) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.rng.Uint32())
	}
	return b
}

func (m *miner) key() []byte { return append([]byte{2}, m.bytes(32)...) }

func (m *miner) script() []byte { return m.scripts[m.rng.IntN(len(m.scripts))] }

// tx returns a transaction that spends random outputs of free, which loses them and gains the new ones.
func (m *miner) tx(free *[]txOut) *wire.MsgTx {
	tx := wire.NewMsgTx(int32(m.rng.Uint32()))
	tx.LockTime = m.rng.Uint32()
	total := uint64(0)
	for range min(1+m.rng.IntN(3), len(*free)) {
		i := m.rng.IntN(len(*free))
		o := (*free)[i]
		*free = slices.Delete(*free, i, i+1)
		in := wire.NewTxIn(&wire.OutPoint{Hash: o.tx.TxHash(), Index: uint32(o.index)}, m.bytes(m.rng.IntN(6)), nil)
		if in.Sequence = m.rng.Uint32(); m.rng.IntN(3) == 0 {
			in.SignatureScript = []byte{1, 7, 2, 0x51, 0xac}
		}
		for range m.rng.IntN(5) {
			in.Witness = append(in.Witness, append([]byte{byte(0x50 + m.rng.IntN(2))}, m.bytes(m.rng.IntN(40))...))
		}
		tx.AddTxIn(in)
		total += uint64(o.tx.TxOut[o.index].Value)
	}
	if len(tx.TxIn) == 0 {
		return nil
	}
	for i := range 1 + m.rng.IntN(4) {
		value := total / uint64(2+m.rng.IntN(4))
		total -= value
		tx.AddTxOut(wire.NewTxOut(int64(value), m.script()))
		if !unspendable(tx.TxOut[i].PkScript) {
			*free = append(*free, txOut{tx, i})
		}
	}
	return tx
}

// mine adds blocks. Each has a coinbase and up to most other transactions.
func (m *miner) mine(blocks, most int) {
	for range blocks {
		free := newNaive(m.chain).unspentOutputs()
		var txs []*wire.MsgTx
		for range m.rng.IntN(most + 1) {
			if tx := m.tx(&free); tx != nil {
				txs = append(txs, tx)
			}
		}
		m.chain.PayTo = m.script()
		m.chain.Mine(txs...)
	}
}

// fork replaces the last blocks by more others.
func (m *miner) fork(depth int) {
	m.chain = m.chain.Fork(m.chain.Height() - depth)
	m.mine(depth+1+m.rng.IntN(3), 6)
}
