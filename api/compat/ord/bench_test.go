//go:build bench

package ord_test

import (
	"encoding/binary"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"
	"golang.org/x/sys/unix"

	"birthmark/api/compat/ord"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/runes"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/model"
	"birthmark/storage/rocks"
	"birthmark/storage/rocks/rockstest"
)

// benchHolders is the number of holders of the rune of the benchmarks.
const benchHolders = 100_000

// holdersChain is a chain with a rune that benchHolders addresses hold, and one transaction with outputs of them.
func holdersChain() (c *bitcointest.Chain, id runes.ID, last *wire.MsgTx) {
	c = bitcointest.NewChain()
	n := uint32(0)
	unique := func() []byte {
		n++
		script := append([]byte{0x51, 32}, make([]byte, 32)...)
		binary.BigEndian.PutUint32(script[2:], n*2654435761) // in no order
		return script
	}
	coin := c.Mine().Transactions[0]
	commit := bitcointest.Spend(coin, 0, out(1_000_000_000, payTaproot))
	c.Mine(commit)
	c.MineEmpty(5)
	name, spacers, _ := runes.ParseSpaced("AAAAAA•AAAAAAAB")
	id = runes.ID{Block: uint64(c.Height() + 1), Tx: 1}
	const parts = 100
	etching := &runes.Runestone{Etching: &runes.Etching{Name: runes.Some(name), Spacers: spacers, Premine: model.Uint128Of(1 << 60)},
		Edicts: []runes.Edict{{Output: parts + 1}}} // divided among all outputs
	first := bitcointest.Spend(commit, 0)
	for range parts {
		first.AddTxOut(out(5_000_000, unique()))
	}
	first.AddTxOut(out(0, etching.Script()))
	data := name.Commitment()
	first.TxIn[0].Witness = wire.TxWitness{append([]byte{byte(len(data))}, data...), {}}
	c.Mine(first)
	var txs []*wire.MsgTx
	for i := range uint32(parts) {
		const each = benchHolders / parts
		tx := bitcointest.Spend(first, i)
		for range each {
			tx.AddTxOut(out(1000, unique()))
		}
		tx.AddTxOut(out(0, (&runes.Runestone{Edicts: []runes.Edict{{ID: id, Output: each + 1}}}).Script()))
		txs, last = append(txs, tx), tx
	}
	for len(txs) > 0 { // a block has less than 4 MB
		k := min(len(txs), 50)
		c.Mine(txs[:k]...)
		txs = txs[k:]
	}
	return c, id, last
}

// BenchmarkHolders reads a page of the holders of a rune that 100,000 addresses hold, and answers about outputs in ord's
// form, from RocksDB: without HTTP, and over a connection with its client in the same process. cpu-µs/op is the
// processor time of the whole process per request; two cores answer 2,000,000 requests per second divided by it.
func BenchmarkHolders(b *testing.B) {
	made, id, last := holdersChain()
	chain, err := bitcoin.New("regtest")
	if err == nil {
		chain, err = chain.(model.TokenChain).WithTokens("runes")
	}
	if err != nil {
		b.Fatal(err)
	}
	store := rockstest.OpenWith(b, b.TempDir()+"/db", rocks.Options{WAL: true, BlockCache: 256 << 20, WriteBuffers: 64 << 20})
	db, err := core.Open(b.Context(), store, core.Options{
		Chain: chain, Indexes: []string{"address", "script_hash"}, Raw: true, CacheBytes: 64 << 20,
		Keep: map[string]model.IndexOptions{"script_hash": {Balance: true, Unspent: true, History: true}},
	})
	if err != nil {
		b.Fatal(err)
	}
	file := filepath.Join(b.TempDir(), "blk00000.dat")
	if err := os.WriteFile(file, bitcointest.BlockFile(wire.TestNet, made.Blocks()...), 0o600); err != nil {
		b.Fatal(err)
	}
	src, err := db.Chain().Open(b.Context(), model.SourceOptions{URI: "file://" + file, Indexes: db.Indexes(), Raw: true})
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(b.Context(), db, src, core.SyncOptions{}); err != nil {
		b.Fatal(err)
	}
	asset, err := db.Asset(b.Context(), id.String())
	if err != nil || asset.HolderCount == nil || *asset.HolderCount != benchHolders {
		b.Fatalf("%+v, %v", asset, err)
	}
	metered := func(b *testing.B, do func()) {
		b.ReportAllocs()
		before := cpu(b)
		for b.Loop() {
			do()
		}
		b.ReportMetric(float64(cpu(b)-before)/1000/float64(b.N), "cpu-µs/op")
	}
	for _, limit := range []int{25, 100, 1000} {
		b.Run("FirstPage"+strconv.Itoa(limit), func(b *testing.B) {
			metered(b, func() {
				a, err := db.AssetHolders(b.Context(), id.String(), query.Page{Limit: limit})
				if err != nil || len(a.Holders) != limit {
					b.Fatalf("%d holders, %v", len(a.Holders), err)
				}
			})
		})
	}
	state := func() served.State { return served.State{} }
	h, err := ord.New(ord.Options{
		Chain: wallet.New(&served.Chain{Name: "bitcoin", Model: chain, View: db.View, Moved: db.Moved, State: state}),
		Rules: chain.Traits().Tokens.Rules, Path: "/ord",
	})
	if err != nil {
		b.Fatal(err)
	}
	s := httptest.NewServer(h)
	defer s.Close()
	hash := last.TxHash().String()
	n := 0
	next := func() string { n = (n + 7) % 1000; return "/ord/output/" + hash + ":" + strconv.Itoa(n) }
	b.Run("Output", func(b *testing.B) {
		metered(b, func() {
			rec := httptest.NewRecorder()
			if h.ServeHTTP(rec, httptest.NewRequest(http.MethodGet, next(), nil)); rec.Code != http.StatusOK {
				b.Fatal(rec.Body)
			}
		})
	})
	b.Run("OutputHTTP", func(b *testing.B) {
		metered(b, func() {
			a, err := s.Client().Get(s.URL + next())
			if err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, a.Body)
			_ = a.Body.Close()
		})
	})
}

// cpu returns the processor time of the process in nanoseconds.
func cpu(b *testing.B) int64 {
	b.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
