package blockbook_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// The answers to requests, without the HTTP server.
func BenchmarkAnswers(b *testing.B) {
	w := newWorld(b, nil)
	w.mine(b, 60, 6, false)
	n := w.naive()
	var addresses, txs []string
	for _, s := range w.scripts {
		if a := address(s); a != "" {
			addresses = append(addresses, "/api/v2/address/"+a)
		}
	}
	for _, p := range n.all[1:] {
		txs = append(txs, "/api/v2/tx/"+p.tx.TxHash().String())
	}
	for name, paths := range map[string][]string{
		"address": addresses, "tx": txs, "xpub": {"/api/v2/xpub/" + accountKey},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				r := httptest.NewRequest(http.MethodGet, prefix+paths[i%len(paths)], nil)
				rec := httptest.NewRecorder()
				if w.ServeHTTP(rec, r); rec.Code != http.StatusOK {
					b.Fatalf("%s: %d %s", r.URL.Path, rec.Code, rec.Body)
				}
			}
		})
	}
}
