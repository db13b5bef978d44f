package ratelimit_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"birthmark/api/ratelimit"
)

// BenchmarkGuard measures the cost of the limits per request.
func BenchmarkGuard(b *testing.B) {
	rated := ratelimit.Defaults()
	rated.Rate = ratelimit.Rate{PerSecond: 1e9, Burst: 1e9}
	for name, o := range map[string]ratelimit.Options{"defaults": ratelimit.Defaults(), "rate": rated} {
		b.Run(name, func(b *testing.B) {
			answer := []byte("{}")
			h := ratelimit.New(o, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.Write(answer) }))
			r := httptest.NewRequest("GET", "/v1/bitcoin/tx/00", nil)
			r.RemoteAddr = "192.0.2.1:1000"
			w := &nowhere{header: http.Header{}}
			b.ReportAllocs()
			for b.Loop() {
				clear(w.header)
				h.ServeHTTP(w, r)
			}
		})
	}
}

// nowhere is a response writer that discards everything.
type nowhere struct{ header http.Header }

func (w *nowhere) Header() http.Header         { return w.header }
func (w *nowhere) WriteHeader(int)             {}
func (w *nowhere) Write(b []byte) (int, error) { return io.Discard.Write(b) }
