//go:build bench

package blockfrost_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"syscall"
	"testing"
	"time"

	"birthmark/internal/testblocks"
	"birthmark/storage/rocks"
	"birthmark/storage/rocks/rockstest"
)

// BenchmarkAddressUTXOs lists the unspent outputs of the addresses with 20 to 30 of them in turn, on real blocks in
// RocksDB: without HTTP, and over a connection with its client in the same process.
func BenchmarkAddressUTXOs(b *testing.B) {
	store := rockstest.OpenWith(b, b.TempDir()+"/db", rocks.Options{WAL: true, BlockCache: 64 << 20, WriteBuffers: 64 << 20})
	w := newWorldIn(b, "preview", store)
	w.sync(b, "file://"+testblocks.Path(b, "cardano", "dingo-immutable"), 50_939)
	counts := map[string]int{}
	for _, o := range w.naive.outputs {
		if o.spent == nil {
			counts[o.text()]++
		}
	}
	var urls []string
	outputs := 0
	for text, n := range counts {
		if n >= 20 && n <= 30 {
			urls, outputs = append(urls, path+"/addresses/"+text+"/utxos"), outputs+n
		}
	}
	slices.Sort(urls)
	b.Run("Direct", func(b *testing.B) {
		b.ReportAllocs()
		before, n := processorTime(b), 0
		for b.Loop() {
			r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, urls[n%len(urls)], nil)
			w.ServeHTTP(discarding{http.Header{}}, r)
			n++
		}
		b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
		b.ReportMetric(float64(len(urls)), "addresses")
		b.ReportMetric(float64(outputs)/float64(len(urls)), "outputs")
	})
	b.Run("HTTP", func(b *testing.B) {
		s := httptest.NewServer(w)
		defer s.Close()
		client := s.Client()
		before, n, size := processorTime(b), 0, int64(0)
		for b.Loop() {
			r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.URL+urls[n%len(urls)], nil)
			if err != nil {
				b.Fatal(err)
			}
			a, err := client.Do(r)
			if err != nil {
				b.Fatal(err)
			}
			read, err := io.Copy(io.Discard, a.Body)
			if err != nil || a.StatusCode != http.StatusOK {
				b.Fatal(a.Status, err)
			}
			_ = a.Body.Close()
			n, size = n+1, size+read
		}
		b.ReportMetric(float64((processorTime(b)-before).Nanoseconds())/1000/float64(b.N), "cpu-µs/op")
		b.ReportMetric(float64(size)/float64(b.N), "bytes")
	})
}

// processorTime returns the processor time of the process so far.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// discarding is a response writer that discards the body.
type discarding struct{ header http.Header }

func (d discarding) Header() http.Header         { return d.header }
func (d discarding) Write(b []byte) (int, error) { return len(b), nil }
func (d discarding) WriteHeader(int)             {}
