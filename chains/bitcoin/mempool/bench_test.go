package mempool_test

import (
	"runtime"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/coretest"
	"birthmark/model"
)

// BenchmarkMempool reads a mempool of 300,000 transactions with a thousand at once, as core does: by RPC, and from the
// node's file. The stand-in runs in the same process.
func BenchmarkMempool(b *testing.B) {
	const size, atOnce, outputs = 300_000, 1000, 2000
	n := coretest.Start(b)
	for _, c := range n.Coins(b, (size+outputs-1)/outputs) {
		parent := coretest.Pay([]coretest.Coin{c})
		for range outputs - 1 {
			parent.AddTxOut(wire.NewTxOut((c.Value-1_000_000)/outputs, coretest.AnyoneCanSpend))
		}
		n.Send(b, parent)
		for _, coin := range coretest.Outputs(parent) {
			tx := coretest.Spend(500, coin)
			tx.TxIn[0].Witness = wire.TxWitness{make([]byte, 72), make([]byte, 33)}
			tx.AddTxOut(wire.NewTxOut(0, append([]byte{0x76, 0xa9, 20}, slices.Concat(make([]byte, 20), []byte{0x88, 0xac})...)))
			n.Send(b, tx)
		}
	}
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
