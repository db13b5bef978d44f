package esplora_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"testing"

	"birthmark/api/compat/esplora"
	"birthmark/api/compat/wallet"
)

// BenchmarkAnswers answers requests over a generated chain in memory, without HTTP.
func BenchmarkAnswers(b *testing.B) {
	w := newWorld(b, "regtest", nil)
	w.miner.mine(20, 20)
	w.sync(b)
	h := esplora.New(esplora.Options{Chain: wallet.New(w.served), Path: path})
	n := newNaive(w.miner.chain)
	txs := n.order[len(n.order)/2:]
	for name, target := range map[string]func(i int) string{
		"Tx": func(i int) string { return "/tx/" + txs[i%len(txs)].TxHash().String() },
		"Address": func(i int) string {
			key := sha256.Sum256(w.miner.scripts[i%len(w.miner.scripts)])
			return "/scripthash/" + hex.EncodeToString(key[:])
		},
		"Height": func(int) string { return "/blocks/tip/height" },
		"Unspent": func(i int) string {
			key := sha256.Sum256(w.miner.scripts[i%len(w.miner.scripts)])
			return "/scripthash/" + hex.EncodeToString(key[:]) + "/utxo"
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path+target(i), nil)
				rec := httptest.NewRecorder()
				if h.ServeHTTP(rec, r); rec.Code != http.StatusOK {
					b.Fatalf("%s: %d %s", r.URL, rec.Code, rec.Body)
				}
			}
		})
	}
}
