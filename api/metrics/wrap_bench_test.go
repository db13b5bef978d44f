package metrics_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"birthmark/api/metrics"
)

// BenchmarkWrap measures the cost of counting a request.
func BenchmarkWrap(b *testing.B) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/{chain}/tx/{hash}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "12345") })
	r := httptest.NewRequest("GET", "/v1/bitcoin/tx/1", nil)
	for name, h := range map[string]http.Handler{"plain": mux, "counted": metrics.New(nil, "1.2.3").Wrap(mux)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				h.ServeHTTP(httptest.NewRecorder(), r)
			}
		})
	}
}
