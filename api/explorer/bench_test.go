package explorer

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"birthmark/api/served"
)

// BenchmarkPages measures pages that are not cached.
func BenchmarkPages(b *testing.B) {
	h, err := New(Options{Chains: []*served.Chain{chainOf("bitcoin", bitcoin(b), nil)}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		b.Fatal(err)
	}
	for name, path := range map[string]string{
		"home":    "/bitcoin",
		"blocks":  "/bitcoin/blocks",
		"block":   "/bitcoin/block/546",
		"tx":      "/bitcoin/tx/f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16",
		"output":  "/bitcoin/output/f4184fc596403b9d638783cf57adfe4c75c605f6356fbc91338530e9831e9e16:1",
		"address": "/bitcoin/address/12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S",
		"search":  "/bitcoin/search?q=12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, nil)
			for b.Loop() {
				w := httptest.NewRecorder()
				h.ServeHTTP(w, r)
				_, _ = io.Copy(io.Discard, w.Body)
			}
		})
	}
}
