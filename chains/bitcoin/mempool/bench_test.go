package mempool_test

import (
	"runtime"
	"slices"
	"testing"

	"birthmark/internal/testnode/coretest"
	"birthmark/model"
)

// BenchmarkMempool reads a mempool of 300,000 transactions in batches of a thousand, as core does: by RPC, and from the
// node's file. The test node runs in the same process.
func BenchmarkMempool(b *testing.B) {
	const size, atOnce = 300_000, 1000
	n := coretest.Start(b)
	n.Fill(b, size)
	for name, dir := range map[string]string{"RPC": "", "file": b.TempDir()} {
		b.Run(name, func(b *testing.B) {
			n.Set(func(f *coretest.Faults) { f.Dir = dir })
			for b.Loop() {
				src := open(b, n.URL(), indexes...)
				ids, _, err := src.MempoolIDs(b.Context())
				if err != nil || len(ids) != size {
					b.Fatalf("%d ids, %v", len(ids), err)
				}
				for chunk := range slices.Chunk(ids, atOnce) {
					txs, err := src.MempoolTxs(b.Context(), chunk)
					if err != nil || slices.Contains(txs, (*model.Unconfirmed)(nil)) {
						b.Fatal("transactions are missing", err)
					}
				}
			}
			b.ReportMetric(float64(size*b.N)/b.Elapsed().Seconds(), "txs/s")
			runtime.GC()
		})
	}
}
