package blockfrost_test

import (
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"
)

// BenchmarkAddressUTXOs lists the unspent outputs of an address with about 25 of them, on real blocks in memory.
func BenchmarkAddressUTXOs(b *testing.B) {
	w := preview(b, 50_939)
	counts, busiest := map[string]int{}, ""
	for _, o := range w.naive.outputs {
		if o.spent == nil {
			counts[o.text()]++
		}
	}
	for text, n := range counts {
		if n >= 20 && n <= 30 && (n > counts[busiest] || n == counts[busiest] && text < busiest) {
			busiest = text
		}
	}
	url := path + "/addresses/" + busiest + "/utxos"
	b.ReportAllocs()
	before := processorTime(b)
	for b.Loop() {
		r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
		w.ServeHTTP(discarding{http.Header{}}, r)
	}
	b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
	b.ReportMetric(float64(counts[busiest]), "outputs")
}

// processorTime returns the processor time of the process so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// discarding is the writer of an answer that nobody reads.
type discarding struct{ header http.Header }

func (d discarding) Header() http.Header         { return d.header }
func (d discarding) Write(b []byte) (int, error) { return len(b), nil }
func (d discarding) WriteHeader(int)             {}
