package kupo_test

import (
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"testing"

	"birthmark/chains/cardano/address"
)

// BenchmarkMatches lists the matches of an address with about 25 outputs, of a transaction, of a policy and of
// everything, on real blocks in memory.
func BenchmarkMatches(b *testing.B) {
	w := preview(b, true, 50_939)
	counts := map[string]int{}
	policies := map[string]int{}
	for _, o := range w.naive.outputs {
		counts[address.FormatAny(o.address)]++
		for _, a := range o.assets {
			policies[string(a.ID[:address.PolicySize])]++
		}
	}
	owner, most := "", 0
	for text, n := range counts {
		if n >= 20 && n <= 30 && n > most {
			owner, most = text, n
		}
	}
	policy, largest := "", 0
	for id, n := range policies {
		if n > largest {
			policy, largest = id, n
		}
	}
	for name, url := range map[string]string{
		"Address": "/matches/" + owner, "Transaction": "/matches/*@" + w.naive.outputs[1000].tx.String(),
		"Policy": "/matches/" + hex.EncodeToString([]byte(policy)) + ".*", "All": "/matches",
	} {
		b.Run(name, func(b *testing.B) {
			matches := len(w.get(b, url).([]any))
			b.ReportAllocs()
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path+url, nil)
				w.ServeHTTP(discarding{http.Header{}}, r)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(matches), "µs/match")
			b.ReportMetric(float64(matches), "matches")
		})
	}
}

// discarding is the writer of an answer that nobody reads.
type discarding struct{ header http.Header }

func (d discarding) Header() http.Header         { return d.header }
func (d discarding) Write(b []byte) (int, error) { return len(b), nil }
func (d discarding) WriteHeader(int)             {}
