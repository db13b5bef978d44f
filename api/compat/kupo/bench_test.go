package kupo_test

import (
	"encoding/hex"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"birthmark/chains/cardano/address"
	"birthmark/internal/testblocks"
	"birthmark/storage/rocks"
)

// BenchmarkMatches lists the matches of an address with about 25 outputs, of a transaction, of a policy and of
// everything, on real blocks in RocksDB, without HTTP. cpu-µs/match is the processor time of the process.
func BenchmarkMatches(b *testing.B) {
	store, err := rocks.Open(b.TempDir()+"/db", rocks.Options{WAL: true, BlockCache: 64 << 20, WriteBuffers: 64 << 20, Holder: b.Name()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	})
	w := newWorldIn(b, "preview", true, store)
	w.sync(b, "file://"+testblocks.Path(b, "cardano", "dingo-immutable"), 50_939)
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
			before := processorTime(b)
			for b.Loop() {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path+url, nil)
				w.ServeHTTP(discarding{http.Header{}}, r)
			}
			cpu := float64((processorTime(b) - before).Nanoseconds()) / 1000 / float64(b.N)
			b.ReportMetric(cpu, "cpu-µs/op")
			b.ReportMetric(cpu/float64(matches), "cpu-µs/match")
			b.ReportMetric(float64(matches), "matches")
		})
	}
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
