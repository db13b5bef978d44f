package api_test

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"birthmark/api"
	"birthmark/api/served"
	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/internal/testnode/coretest"
	"birthmark/model"
	"birthmark/storage/memory"
)

// BenchmarkMempoolFills reads a mempool of 300,000 transactions from a test node in the same process, and requests
// answers at the same time. The goal is 60 s.
func BenchmarkMempoolFills(b *testing.B) {
	const size = 300_000
	node := coretest.Start(b)
	node.Fill(b, size)
	chain, err := bitcoin.New("regtest")
	if err != nil {
		b.Fatal(err)
	}
	db, err := core.Open(b.Context(), memory.New(), core.Options{
		Chain: chain, Indexes: []string{"address", "script_hash"}, CacheBytes: 64 << 20,
	})
	if err != nil {
		b.Fatal(err)
	}
	open := func(_ context.Context, indexes []string) (model.Source, error) {
		return chain.Open(b.Context(), model.SourceOptions{URI: node.URL(), Indexes: indexes, Raw: true})
	}
	src, err := open(b.Context(), db.Indexes())
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(b.Context(), db, src, core.SyncOptions{}); err != nil {
		b.Fatal(err)
	}
	before := heap()
	for b.Loop() {
		f := pending.NewFollower(pending.Options{
			View: db.View, Moved: db.Moved, Traits: chain.Traits(), Memory: 1 << 30, Log: slog.New(slog.DiscardHandler), Open: open,
		})
		c := of("bitcoin-regtest", db)
		c.Mempool = f
		h, err := api.New(api.Options{Chains: []*served.Chain{c}})
		if err != nil {
			b.Fatal(err)
		}
		ctx, stop := context.WithCancel(b.Context())
		var running sync.WaitGroup
		began := time.Now()
		running.Go(func() { f.Run(ctx) })
		var took []time.Duration
		for s := f.Standing(); s.State() != pending.Live || s.Count() < size; s = f.Standing() {
			path := "/mempool"
			for t := range s.Newest() {
				path = "/tx/" + chain.FormatHash(t.ID)
				break
			}
			for _, path := range []string{path, "/mempool/transactions?limit=100&order=rate", "/block/tip"} {
				asked := time.Now()
				if w := ask(h, "GET", "/v1/bitcoin-regtest"+path, ""); w.Code != 200 {
					b.Fatalf("%s: %d %s", path, w.Code, w.Body)
				}
				took = append(took, time.Since(asked))
			}
			time.Sleep(5 * time.Millisecond)
		}
		b.ReportMetric(time.Since(began).Seconds(), "s")
		b.ReportMetric(size/time.Since(began).Seconds(), "txs/s")
		b.ReportMetric(float64(len(took)), "answers")
		worst := time.Duration(0)
		for _, d := range took {
			worst = max(worst, d)
		}
		b.ReportMetric(float64(worst.Milliseconds()), "worst_ms")
		b.ReportMetric(float64(heap()-before)/1e6, "heap_MB")
		b.ReportMetric(float64(f.Standing().Info().Memory)/1e6, "estimated_MB")
		stop()
		running.Wait()
	}
}

// heap returns the size of the heap after a garbage collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
