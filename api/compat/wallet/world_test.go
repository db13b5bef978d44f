package wallet_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
	"birthmark/storage"
)

// everything has the options of the index script_hash that the protocols need.
var everything = model.IndexOptions{Balance: true, Unspent: true, History: true}

// options are those of a database that has all indexes.
func options(t testing.TB) core.Options {
	t.Helper()
	chain, err := bitcoin.New("regtest")
	if err != nil {
		t.Fatal(err)
	}
	return core.Options{
		Chain: chain, Indexes: []string{"address", "script_hash"}, Raw: true, CacheBytes: 4 << 20,
		Keep: map[string]model.IndexOptions{"script_hash": everything, "address": {Prefix: true}},
	}
}

func open(t testing.TB, s storage.Store, o core.Options) *core.DB {
	t.Helper()
	db, err := core.Open(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// syncTo syncs a database to a chain, with a reorganization if the database is on another branch.
func syncTo(t testing.TB, db *core.DB, c *bitcointest.Chain) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "blk00000.dat")
	if err := os.WriteFile(file, bitcointest.BlockFile(wire.TestNet, c.Blocks()...), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: "file://" + file, Indexes: db.Indexes(), Raw: db.KeepsRaw()})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{}); err != nil {
		t.Fatal(err)
	}
}

// serve returns a database as a served chain.
func serve(db *core.DB) *served.Chain {
	return &served.Chain{
		Name: "bitcoin-regtest", Model: db.Chain(), View: db.View, Moved: db.Moved,
		State: func() served.State { return served.State{} },
	}
}

func newChain(t testing.TB, c *served.Chain) *wallet.Chain {
	t.Helper()
	return wallet.New(c)
}

// view runs fn on the current view.
func view(t testing.TB, w *wallet.Chain, fn func(v *wallet.View)) {
	t.Helper()
	err := w.View(t.Context(), func(v *wallet.View) error {
		fn(v)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// miner makes random blocks. Scripts are not valid: the database does not run them.
type miner struct {
	rng     *rand.Rand
	chain   *bitcointest.Chain
	pool    []*wire.MsgTx // unconfirmed, parents first
	scripts [][]byte
}

func newMiner(rng *rand.Rand) *miner {
	m := &miner{rng: rng, chain: bitcointest.NewChain()}
	hash := func(n int) []byte {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	key := func() []byte { return append([]byte{2}, hash(32)...) }
	m.scripts = [][]byte{
		m.chain.PayTo, m.chain.Tip().Transactions[0].TxOut[0].PkScript, // that of block 0
		{}, {0x51}, {0x6a}, append([]byte{0x6a, 4}, hash(4)...), bytes.Repeat([]byte{0x61}, 10_000),
		bytes.Repeat([]byte{0x61}, 10_001), {0x51, 2, 0x4e, 0x73},
		slices.Concat([]byte{0x51, 33}, key(), []byte{33}, key(), []byte{0x52, 0xae}),
		append([]byte{0x60, 5}, hash(5)...), append([]byte{0, 7}, hash(7)...),
	}
	for range 4 {
		k := key()
		m.scripts = append(m.scripts,
			slices.Concat([]byte{0x76, 0xa9, 20}, hash(20), []byte{0x88, 0xac}), slices.Concat([]byte{0xa9, 20}, hash(20), []byte{0x87}),
			append([]byte{0, 20}, hash(20)...), append([]byte{0, 32}, hash(32)...), append([]byte{0x51, 32}, hash(32)...),
			slices.Concat([]byte{33}, k, []byte{0xac}))
	}
	return m
}

// script draws a script. Large ones are rare.
func (m *miner) script() []byte {
	s := m.scripts[m.rng.IntN(len(m.scripts))]
	if len(s) > 1000 && m.rng.IntN(8) > 0 {
		return m.script()
	}
	return s
}

// random returns up to most transactions that spend outputs of free, or of each other.
func (m *miner) random(free []output, most int) (txs []*wire.MsgTx) {
	free = slices.Clone(free)
	for range m.rng.IntN(most + 1) {
		tx := wire.NewMsgTx(2)
		total := uint64(0)
		for range min(1+m.rng.IntN(3), len(free)) {
			i := m.rng.IntN(len(free))
			o := free[i]
			free = slices.Delete(free, i, i+1)
			in := wire.NewTxIn(&wire.OutPoint{Hash: o.tx.TxHash(), Index: uint32(o.index)}, []byte{byte(m.rng.Uint32())}, nil)
			if m.rng.IntN(2) == 0 {
				in.Witness = wire.TxWitness{{1, 2, byte(m.rng.Uint32())}}
			}
			tx.AddTxIn(in)
			total += uint64(o.out().Value)
		}
		if len(tx.TxIn) == 0 {
			break
		}
		for range 1 + m.rng.IntN(4) {
			value := total / uint64(2+m.rng.IntN(4))
			total -= value
			tx.AddTxOut(wire.NewTxOut(int64(value), m.script()))
		}
		for i, o := range tx.TxOut {
			if !unspendable(o.PkScript) {
				free = append(free, output{tx: tx, index: i})
			}
		}
		txs = append(txs, tx)
	}
	return txs
}

// mine adds blocks. Each has a coinbase, some transactions of the mempool, and up to most other transactions.
func (m *miner) mine(blocks, most int) {
	for range blocks {
		var txs []*wire.MsgTx
		chosen := map[chainhash.Hash]bool{}
		for _, tx := range m.pool {
			if m.rng.IntN(3) > 0 && !slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool {
				return m.inPool(in.PreviousOutPoint.Hash) && !chosen[in.PreviousOutPoint.Hash]
			}) {
				chosen[tx.TxHash()] = true
				txs = append(txs, tx)
			}
		}
		// The others can spend what transactions of the mempool that are not in the block spend.
		txs = append(txs, m.random(newNaive(m.chain, txs).unspentOutputs(), most)...)
		m.chain.PayTo = m.script()
		m.chain.Mine(txs...)
		m.validate()
	}
}

func (m *miner) inPool(id chainhash.Hash) bool {
	return slices.ContainsFunc(m.pool, func(tx *wire.MsgTx) bool { return tx.TxHash() == id })
}

// validate removes the transactions of the mempool that are no longer valid.
func (m *miner) validate() {
	n := newNaive(m.chain, nil)
	old := m.pool
	m.pool = nil
	free := map[wire.OutPoint]bool{}
	for _, o := range n.unspentOutputs() {
		free[wire.OutPoint{Hash: o.tx.TxHash(), Index: uint32(o.index)}] = true
	}
	for _, tx := range old {
		if n.txs[model.Hash(tx.TxHash())] != nil ||
			slices.ContainsFunc(tx.TxIn, func(in *wire.TxIn) bool { return !free[in.PreviousOutPoint] }) {
			continue
		}
		for _, in := range tx.TxIn {
			delete(free, in.PreviousOutPoint)
		}
		for i := range tx.TxOut {
			free[wire.OutPoint{Hash: tx.TxHash(), Index: uint32(i)}] = true
		}
		m.pool = append(m.pool, tx)
	}
}

// submit changes the mempool: transactions leave with their descendants, and others enter, which can spend the same
// outputs.
func (m *miner) submit(most int) {
	for range m.rng.IntN(3) {
		if len(m.pool) > 0 {
			i := m.rng.IntN(len(m.pool))
			m.pool = slices.Delete(m.pool, i, i+1)
			m.validate()
		}
	}
	m.pool = append(m.pool, m.random(newNaive(m.chain, m.pool).unspentOutputs(), most)...)
}

// fork replaces the last blocks by more others.
func (m *miner) fork(depth int) {
	m.chain = m.chain.Fork(m.chain.Height() - depth)
	m.validate()
	m.mine(depth+1+m.rng.IntN(3), 6)
}

func collect[T any](t testing.TB, seq func(func(T, error) bool)) (all []T) {
	t.Helper()
	seq(func(v T, err error) bool {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
		return true
	})
	return all
}

// code returns the kind and the code of an error.
func code(err error) (model.ErrorKind, string) { return model.KindOf(err) }
