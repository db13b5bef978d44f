package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// nowhere is a response writer that discards everything.
type nowhere struct{ header http.Header }

func (w *nowhere) Header() http.Header         { return w.header }
func (w *nowhere) Write(b []byte) (int, error) { return len(b), nil }
func (w *nowhere) WriteHeader(int)             {}

// BenchmarkAnswers measures answers without network and disk.
func BenchmarkAnswers(b *testing.B) {
	h := bitcoinAPI(b)
	for name, path := range map[string]string{
		"tx":       "tx/" + firstPayment,
		"output":   "output/" + firstPayment + ":1",
		"address":  "find/address/" + satoshi + "?limit=25",
		"balance":  "balance/address/" + satoshi,
		"block":    "block/170",
		"unknown":  "tx/" + lastHash,
		"ofBlocks": "blocks?order=desc",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			r := httptest.NewRequest("GET", "/v1/bitcoin/"+path, nil)
			for b.Loop() {
				h.ServeHTTP(&nowhere{http.Header{}}, r)
			}
		})
	}
}
