package pending

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"birthmark/bench/process"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// The benchmarks have a mempool like that of Bitcoin when it is full: 300,000 transactions with two inputs and two
// outputs, each with a script hash and an address, and 400 bytes.
const benchTxs = 300_000

// full is a database and its unconfirmed transactions.
type full struct {
	db    *core.DB
	txs   []*model.Unconfirmed
	pool  *Pool
	tip   *model.Block
	heap  uint64        // memory of the pool in bytes
	took  time.Duration // time to enter all transactions
	names uint64
}

func (f *full) name() (h model.Hash) {
	f.names++
	rng := rand.NewPCG(f.names, 3)
	for i := 0; i < len(h); i += 8 {
		binary.BigEndian.PutUint64(h[i:], rng.Uint64())
	}
	return h
}

func (f *full) output() model.Output {
	hash, address := f.name(), f.name()
	return model.Output{Value: 10_000, Keys: []model.Key{{Index: 0, Value: address[:22]}, {Index: 3, Value: hash[:]}}}
}

func (f *full) block(txs []model.Tx) *model.Block {
	b := &model.Block{Hash: f.name(), Time: 1_600_000_000, Size: 1000}
	if f.tip != nil {
		b.Height, b.Parent = f.tip.Height+1, f.tip.Hash
	}
	b.Header = b.Hash[:]
	b.Txs = append([]model.Tx{{Hash: f.name(), Outputs: []model.Output{f.output()}}}, txs...)
	f.tip = b
	return b
}

var filled = sync.OnceValues(func() (*full, error) {
	v := modeltest.Variant{Name: "full", Coinbase: true, ByHand: true}
	db, err := core.Open(context.Background(), memory.New(), core.Options{Chain: v.Chain("one"), CacheBytes: 64 << 20})
	if err != nil {
		return nil, err
	}
	f := &full{db: db}
	var coins []model.Input
	for len(coins) < 2*benchTxs {
		b := f.block(nil)
		t := &b.Txs[0]
		for i := range 20_000 {
			t.Outputs = append(t.Outputs, f.output())
			coins = append(coins, model.Input{Tx: t.Hash, Index: uint32(i + 1)})
		}
		if err := db.Append(context.Background(), []*model.Block{b}); err != nil {
			return nil, err
		}
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(coins), func(i, j int) { coins[i], coins[j] = coins[j], coins[i] })
	for i := range benchTxs {
		u := &model.Unconfirmed{Tx: model.Tx{Hash: f.name()}, Size: 400, VSize: 200 + i%150, Weight: 1400}
		u.Inputs = coins[2*i : 2*i+2 : 2*i+2]
		if i > 0 && i%4 == 0 { // spends the transaction before it
			u.Inputs[1] = model.Input{Tx: f.txs[i-1].Hash, Index: 0}
		}
		u.Outputs = []model.Output{f.output(), f.output()}
		u.Outputs[0].Value = uint64(10_000 - i%5000)
		u.Outputs[1].Value = 1000
		u.Raw = make([]byte, u.Size)
		f.txs = append(f.txs, u)
	}
	before := liveHeap()
	f.pool = NewPool(v.Chain("one").Traits(), 1<<40, time.Now)
	began := time.Now()
	if err := f.enterAll(f.pool); err != nil {
		return nil, err
	}
	f.took = time.Since(began)
	f.heap = liveHeap() - before
	return f, nil
})

func (f *full) enterAll(p *Pool) error {
	return f.db.From(context.Background(), func(q *query.Query) error {
		for txs := range slices.Chunk(f.txs, fetchSize) {
			if err := p.Enter(q, txs); err != nil {
				return err
			}
			p.Overlay() // published
			p.takeChange()
		}
		return nil
	})
}

func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func fullPool(b *testing.B) *full {
	b.Helper()
	f, err := filled()
	if err != nil {
		b.Fatal(err)
	}
	if n := f.pool.Count(); n < benchTxs/2 { // other benchmarks confirmed the rest
		b.Fatalf("%d transactions entered", n)
	}
	return f
}

// The goals are 20,000 transactions per second, and less than 500 MB for 300,000 transactions.
func BenchmarkEnter(b *testing.B) {
	f := fullPool(b)
	for b.Loop() {
	}
	b.ReportMetric(benchTxs/f.took.Seconds(), "txs/s")
	b.ReportMetric(float64(f.heap)/1e6, "heap_MB")
	b.ReportMetric(float64(f.pool.memory)/1e6, "estimated_MB")
}

// The goal is 100 ms.
func BenchmarkCompareList(b *testing.B) {
	f := fullPool(b)
	var ids []model.Hash
	for t := range f.pool.Arrivals(0) {
		ids = append(ids, t.ID)
	}
	rand.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	for b.Loop() {
		tables := f.pool.tables.copy()
		if missing, gone := compare(&tables, ids, 1<<60); len(missing)+len(gone) > 0 {
			b.Fatalf("%d missing, %d gone", len(missing), len(gone))
		}
	}
}

// All transactions leave at once, as after a restart of the node without its mempool.
func BenchmarkDrop(b *testing.B) {
	f := fullPool(b)
	for b.Loop() {
		b.StopTimer()
		p := NewPool(f.db.Chain().Traits(), 1<<40, time.Now)
		if err := f.enterAll(p); err != nil {
			b.Fatal(err)
		}
		p.Overlay() // shares the tables, as with readers
		gone := p.arrivals.Items()
		b.StartTimer()
		if p.Drop(gone); p.Count() > 0 || p.memory != 0 {
			b.Fatalf("%d transactions and %d bytes are left", p.Count(), p.memory)
		}
	}
}

// The goal is 20 ms. The processor time does not depend on other processes, unlike the wall clock time.
func BenchmarkBlockLeaves(b *testing.B) {
	f := fullPool(b)
	ctx := context.Background()
	var cpu time.Duration
	for b.Loop() {
		b.StopTimer()
		var txs []model.Tx
		for t := range f.pool.Arrivals(0) {
			for _, u := range f.txs[t.Arrival-1:] {
				if u.Hash == t.ID {
					txs = append(txs, u.Tx)
					break
				}
			}
			if len(txs) == 2500 {
				break
			}
		}
		if len(txs) < 2500 {
			b.Fatal("no transactions are left")
		}
		for i := range txs {
			txs[i].Raw = nil
		}
		if err := f.db.Append(ctx, []*model.Block{f.block(txs)}); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		began := process.CPU()
		err := f.db.From(ctx, func(q *query.Query) error { return f.pool.Advance(q) })
		f.pool.Overlay()
		f.pool.takeChange()
		cpu += process.CPU() - began
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpu.Microseconds())/1e3/float64(b.N), "cpu-ms/op")
}

// The goal is 200 ns for a value without transactions.
func BenchmarkLookUpNothing(b *testing.B) {
	f := fullPool(b)
	values := make([][]byte, 1000)
	for i := range values {
		values[i] = fmt.Appendf(nil, "address %d", i)
	}
	i := 0
	for b.Loop() {
		for range f.pool.Value(0, values[i%len(values)]) {
			b.Fatal("found")
		}
		i++
	}
}

// The projected blocks of 300,000 transactions, of which a quarter spend another one. The goal is 100 ms: a template is
// made at most every two seconds.
func BenchmarkTemplate(b *testing.B) {
	o := fullPool(b).pool.Overlay()
	began := process.CPU()
	for b.Loop() {
		if t := o.template(1_000_000); len(t.Blocks) != TemplateBlocks {
			b.Fatalf("%d blocks", len(t.Blocks))
		}
	}
	b.ReportMetric(float64((process.CPU()-began).Microseconds())/1e3/float64(b.N), "cpu-ms/op")
}

// Each of 10,000 transactions spends the one before it. They enter, and a block has the first half of them.
func BenchmarkLongChain(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		f := longChain(b, 10_000, before(1))
		b.StartTimer()
		began := process.CPU()
		if err := f.enterAll(f.pool); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric((process.CPU()-began).Seconds()*1e3, "enter-cpu-ms")
		began = process.CPU()
		f.confirm(b, 5_000)
		b.ReportMetric((process.CPU()-began).Seconds()*1e3, "block-cpu-ms")
	}
}
