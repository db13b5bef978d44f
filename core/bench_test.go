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

// blank is a store that keeps meta and forgets all else: what is left is the core's own work.
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

// generatedBitcoin is Bitcoin without the check of headers: those of generated blocks are made up.
type generatedBitcoin struct{ model.Chain }

func newGeneratedBitcoin(b *testing.B) model.Chain {
	b.Helper()
	chain, err := adapter.New("mainnet")
	if err != nil {
		b.Fatal(err)
	}
	return generatedBitcoin{chain}
}

// The core's own work for a transaction of Bitcoin's shape, in windows as they are far from the tip: resolving and making
// the rows. Anything beyond a few allocations a window is garbage for each transaction.
func BenchmarkAppend(b *testing.B) {
	const perBlock, perWindow = 2000, 40
	for _, indexes := range [][]string{{"address"}, {"address", "script_hash"}} {
		b.Run(fmt.Sprint(len(indexes)), func(b *testing.B) {
			db, err := core.Open(b.Context(), blank{memory.New()}, core.Options{Chain: newGeneratedBitcoin(b), Indexes: indexes, CacheBytes: 600 << 20})
			if err != nil {
				b.Fatal(err)
			}
			g, err := bench.NewGenerator(bench.Chain{Txs: 1 << 30, Seed: 1, Indexes: indexes})
			if err != nil {
				b.Fatal(err)
			}
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

// A rollback of one block of 2,000 transactions, the caches being full, as a fork at the tip of a chain needs it; and what
// it would take to read the caches from end to end for it.
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
	g, err := bench.NewGenerator(bench.Chain{Txs: 1 << 30, Seed: 1, Indexes: indexes})
	if err != nil {
		b.Fatal(err)
	}
	blocks := []*model.Block{g.Next(1)}
	for range 20 {
		blocks = append(blocks, g.Next(perBlock))
	}
	if err := db.Append(b.Context(), blocks[:20]); err != nil {
		b.Fatal(err)
	}
	below := blocks[19].Point()
	b.Logf("%d MiB of tables", db.FillCaches()>>20)
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
