package core_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"birthmark/bench"
	adapter "birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// blank is a store that keeps only meta rows, so that a benchmark measures the core without the store.
type blank struct{ storage.Store }

func (s blank) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.Store.Update(ctx, func(r storage.Reader, b storage.Batch) error { return fn(r, blankBatch{b}) })
}

type blankBatch struct{ storage.Batch }

func (b blankBatch) Put(f storage.Family, key, value []byte) {
	if f == 0 {
		b.Batch.Put(f, key, value)
	}
}

// generatedBitcoin is Bitcoin without header validation, because generated headers have no proof of work.
type generatedBitcoin struct{ model.Chain }

func newGeneratedBitcoin(b *testing.B) model.Chain {
	b.Helper()
	chain, err := adapter.New("mainnet")
	if err != nil {
		b.Fatal(err)
	}
	return generatedBitcoin{chain}
}

// BenchmarkAppend measures the core's work for transactions of Bitcoin's shape, in large batches as during a first
// sync: resolving inputs and building rows. More than a few allocations per batch means garbage per transaction.
func BenchmarkAppend(b *testing.B) {
	const perBlock, perWindow = 2000, 40
	for _, indexes := range [][]string{{"address"}, {"address", "script_hash"}} {
		b.Run(fmt.Sprint(len(indexes)), func(b *testing.B) {
			db, err := core.Open(b.Context(), blank{memory.New()}, core.Options{Chain: newGeneratedBitcoin(b), Indexes: indexes, CacheBytes: 600 << 20})
			if err != nil {
				b.Fatal(err)
			}
			g := bench.NewGenerator(bench.Chain{Txs: 1 << 30, Seed: 1, Indexes: indexes})
			txs, n := 0, 1
			b.ReportAllocs()
			b.ResetTimer()
			for b.Loop() {
				b.StopTimer()
				var blocks []*model.Block
				for range perWindow {
					blocks = append(blocks, g.Next(n))
					txs, n = txs+n, perBlock
				}
				b.StartTimer()
				if err := db.Append(b.Context(), blocks); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(txs), "ns/tx")
		})
	}
}

// BenchmarkRollbackOfOneBlock measures the rollback of one block of 2,000 transactions with full caches, as a
// reorganization at the tip needs it. For comparison it also measures a scan of the whole caches.
//
//	BIRTHMARK_CACHES=4096 go test -bench RollbackOfOneBlock -benchtime 10x ./core
func BenchmarkRollbackOfOneBlock(b *testing.B) {
	const perBlock = 2000
	mib, _ := strconv.ParseInt(os.Getenv("BIRTHMARK_CACHES"), 10, 64)
	indexes := []string{"address", "script_hash"}
	db, err := core.Open(b.Context(), memory.New(), core.Options{Chain: newGeneratedBitcoin(b), Indexes: indexes, CacheBytes: max(mib, 64) << 20})
	if err != nil {
		b.Fatal(err)
	}
	g := bench.NewGenerator(bench.Chain{Txs: 1 << 30, Seed: 1, Indexes: indexes})
	blocks := []*model.Block{g.Next(1)}
	for range 20 {
		blocks = append(blocks, g.Next(perBlock))
	}
	if err := db.Append(b.Context(), blocks[:20]); err != nil {
		b.Fatal(err)
	}
	below := blocks[19].Point()
	db.FillCaches(max(mib, 64) << 20)
	for name, rollback := range map[string]func(model.Point) error{
		"rollback": func(p model.Point) error { return db.Rollback(b.Context(), p) },
		"sweep":    func(p model.Point) error { db.SweepCaches(p); return db.Rollback(b.Context(), p) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				if err := db.Append(b.Context(), blocks[20:]); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
				if err := rollback(below); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
