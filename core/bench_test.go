package core_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"birthmark/bench"
	adapter "birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/model"
	"birthmark/model/modeltest"
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

// BenchmarkStatistics measures a year by day of a chain of 18 years, and all series of it by week, as charts need them.
// The series of unspent outputs are sums over all days.
func BenchmarkStatistics(b *testing.B) {
	const days = 18 * 365
	db, err := core.Open(b.Context(), memory.New(), core.Options{Chain: modeltest.Variant{ByHand: true}.Chain("one"), CacheBytes: 16 << 20,
		Indexes: []string{"address", model.StatisticsIndex}, Keep: map[string]model.IndexOptions{"address": {Statistics: true}}})
	if err != nil {
		b.Fatal(err)
	}
	start := time.Date(2009, 1, 3, 12, 0, 0, 0, time.UTC)
	var blocks []*model.Block
	var parent model.Hash
	for h := range days {
		block := &model.Block{Height: model.HeightPk(h), Parent: parent, Time: start.AddDate(0, 0, h).Unix(), Header: []byte("header")}
		binary.BigEndian.PutUint64(block.Hash[:], uint64(h)+1)
		tx := model.Tx{Hash: block.Hash, Outputs: []model.Output{{Value: 50, Keys: []model.Key{{Value: block.Hash[:8]}}}}}
		block.Txs, parent = []model.Tx{tx}, block.Hash
		blocks = append(blocks, block)
	}
	if err := db.Append(b.Context(), blocks); err != nil {
		b.Fatal(err)
	}
	from := start.AddDate(17, 0, 0).Unix()
	year := query.Range{FromTime: &from}
	for _, name := range []string{"transactions", "supply", "address.active"} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				a, err := db.Statistics(b.Context(), name, "day", year, query.Page{Limit: 1000})
				if err != nil || len(a.Values) < 360 {
					b.Fatalf("%d values, %v", len(a.Values), err)
				}
			}
		})
	}
	names, err := db.StatisticsNames(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	var all []string
	for _, s := range names.Series {
		all = append(all, s.Name)
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			if _, err := db.StatisticsOf(b.Context(), all, "week", year); err != nil {
				b.Fatal(err)
			}
		}
	})
}
