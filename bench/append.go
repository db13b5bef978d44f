package bench

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"birthmark/core"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/rocks"
	"birthmark/storage/rocks/naive"
)

// Kind is a way of indexing blocks.
type Kind string

const (
	Naive Kind = "naive" // a transaction of the store for each block, every read and write by itself, no caches, WAL
	Floor Kind = "floor" // every row encoded, none stored: what is left where a store costs nothing
	WAL   Kind = "wal"   // windows as they are near the tip: each durable through the write-ahead log
	NoWAL Kind = "nowal" // the same with --wal=off: durable where the store flushes
	Bulk  Kind = "bulk"  // a sync as users run it, far from the tip: large windows, in bulk
)

// nearWeight is what the windows of WAL and NoWAL hold.
const nearWeight = 100_000

// Kinds are all of them, in the order they are run and shown in.
var Kinds = []Kind{Naive, Floor, WAL, NoWAL, Bulk}

// Options say how blocks are indexed.
type Options struct {
	Dir string // an empty folder for the database

	// The parts of the memory: see rocks.Options and core.Options. Naive has no use for them.
	BlockCache, WriteBuffers, Caches int64
	WindowBytes                      int64
	Compression                      storage.Compression
	Memory                           int64 // all of it, which the parts were divided from; 0: unknown

	Progress func(core.Progress) // may be nil
}

// Result is what a run came to.
type Result struct {
	Txs                 int                `json:"txs"`
	TxsPerSecond        float64            `json:"txs_per_s"`         // until the last write was durable
	SettledTxsPerSecond float64            `json:"txs_per_s_settled"` // until the store had compacted everything
	BlocksPerSecond     float64            `json:"blocks_per_s"`
	EntitiesPerSecond   float64            `json:"entities_per_s"` // inputs, outputs and assets
	CPUMicrosPerTx      float64            `json:"cpu_us_per_tx"`  // of the process until the sync ended, reading the blocks not counted
	RowsPerTx           float64            `json:"rows_per_tx"`
	BytesPerTx          float64            `json:"bytes_per_tx"` // of the folder, settled; Floor: of keys and values
	Stages              map[string]float64 `json:"stages"`       // seconds by stage: read, resolve, write and those above
	Quarters            [4]float64         `json:"quarters"`     // transactions a second in each quarter of the transactions

	PeakRSS      int64 `json:"peak_rss"`                 // bytes, of the process
	PeakRSSBound int64 `json:"peak_rss_bound,omitempty"` // the most that PeakRSS should be; 0: none, for Naive and Floor
	WithinBound  *bool `json:"within_bound,omitempty"`   // PeakRSS is at most PeakRSSBound; nil: there is no bound
}

// BesideMemory is how many bytes a process may have resident beyond the memory it is given: the program itself, free memory
// in C's heap, and garbage that Go has not collected.
const BesideMemory = 300e6

// bound compares the peak with the most that it should be.
func (r *Result) bound(k Kind, memory int64) {
	if memory == 0 || k == Naive || k == Floor {
		return
	}
	r.PeakRSSBound = memory + BesideMemory
	r.WithinBound = new(r.PeakRSS <= r.PeakRSSBound)
}

// Stages of a run. Read, resolve and write work at the same time. Emit, making the rows, is a part of write; finish is what a
// sync does behind its last write, once; replay is CPU that reading recorded blocks took, which is not counted; compact
// comes after all. A naive run has append alone, the floor emit.
const (
	stageEmit    = "emit"
	stageFinish  = "finish"
	stageReplay  = "replay"
	stageCompact = "compact"
	stageAppend  = "append"
)

// Append indexes the first transactions of a recording, so many, and measures it. To be called once in a process: memory
// and CPU are the process's.
func Append(ctx context.Context, kind Kind, blocks *Recording, txs int, o Options) (*Result, error) {
	chain, err := blocks.Adapter()
	if err != nil {
		return nil, err
	}
	store, err := openStore(kind, o)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	r := run{kind: kind, log: kind != NoWAL, options: o, store: store}
	if kind == Naive {
		o.Caches = 0
	}
	if r.db, err = core.Open(ctx, store, core.Options{Chain: chain, Indexes: blocks.Chain.Indexes, Keep: blocks.Chain.Keep, Raw: blocks.Chain.Raw, CacheBytes: o.Caches}); err != nil {
		return nil, err
	}
	src, err := blocks.Replay(txs)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	r.src = src
	return r.measure(ctx)
}

func openStore(kind Kind, o Options) (storage.Store, error) {
	options := rocks.Options{WAL: kind != NoWAL, BlockCache: o.BlockCache, WriteBuffers: o.WriteBuffers, Compression: o.Compression, Holder: "birthmark bench"}
	switch kind {
	case Naive:
		return naive.Open(o.Dir)
	case Floor:
		return newFloor(), nil
	case WAL, NoWAL, Bulk:
		store, err := rocks.Open(o.Dir, options)
		if err != nil {
			return nil, err
		}
		return &parted{Store: store}, nil
	}
	return nil, model.Errorf(model.Usage, "unknown_run", "unknown run %q: expected %s", kind, KindNames())
}

// KindNames is all kinds, for people.
func KindNames() string {
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

type run struct {
	kind    Kind
	log     bool // the write-ahead log is on
	options Options
	store   storage.Store
	db      *core.DB
	src     source
	marks   []mark
	stages  map[string]float64
}

// source counts what it yields.
type source interface {
	model.Source
	Made() Made
}

// mark is how many transactions were written at a time.
type mark struct {
	at  time.Duration
	txs float64
}

func (r *run) measure(ctx context.Context) (*Result, error) {
	started, cpu := time.Now(), processCPU()
	r.marks = []mark{{}}
	r.stages = map[string]float64{}
	var err error
	if r.kind == Naive {
		err = r.appendSingly(ctx, started)
	} else {
		err = r.sync(ctx)
	}
	if err != nil {
		return nil, err
	}
	took, made := time.Since(started), r.src.Made()
	whole := took // with what comes behind the last write
	cpu = processCPU() - cpu - made.CPU
	switch s := r.store.(type) {
	case *floor:
		took, whole, cpu = s.took, s.took, s.cpu
		r.stages = map[string]float64{stageEmit: took.Seconds()}
	case *parted:
		r.stages[stageEmit] = s.rows.Seconds()
		r.stages[stageFinish] = (took - s.last.Sub(started)).Seconds()
		if r.log { // else the last write is durable when the sync ends
			took = s.last.Sub(started)
		}
	}
	if _, recorded := r.src.(*Replay); recorded {
		r.stages[stageReplay] = made.CPU.Seconds()
	}
	r.marks = append(r.marks, mark{took, float64(made.Txs)})

	status, err := r.db.Status(ctx)
	if err != nil {
		return nil, err
	}
	if got := status.Totals; got.Txs != uint64(made.Txs) || got.Inputs != uint64(made.Inputs) || got.Outputs != uint64(made.Outputs) || got.Assets != uint64(made.Assets) {
		return nil, fmt.Errorf("%s: the database has %+v of %+v", r.kind, got, made)
	}
	rows := uint64(0)
	for _, f := range status.Families {
		rows += f.Keys
	}
	compacting := time.Now()
	if c, ok := r.store.(storage.Compactor); ok {
		if err := c.Compact(ctx); err != nil {
			return nil, err
		}
		r.stages[stageCompact] = time.Since(compacting).Seconds()
	}
	settled := whole + time.Duration(r.stages[stageCompact]*float64(time.Second))
	bytes, err := r.bytes()
	if err != nil {
		return nil, err
	}
	txs := float64(made.Txs)
	result := &Result{
		Txs:                 made.Txs,
		TxsPerSecond:        txs / took.Seconds(),
		SettledTxsPerSecond: txs / settled.Seconds(),
		BlocksPerSecond:     float64(made.Blocks) / took.Seconds(),
		EntitiesPerSecond:   float64(made.Inputs+made.Outputs+made.Assets) / took.Seconds(),
		CPUMicrosPerTx:      cpu.Seconds() * 1e6 / txs,
		RowsPerTx:           float64(rows) / txs,
		BytesPerTx:          float64(bytes) / txs,
		PeakRSS:             peakRSS(),
		Stages:              r.stages,
		Quarters:            quarters(r.marks),
	}
	result.bound(r.kind, r.options.Memory)
	return result, nil
}

func (r *run) sync(ctx context.Context) error {
	weight, bulk := nearWeight, -1
	if r.kind == Bulk {
		weight, bulk = 0, 0 // as a sync has it
	}
	return core.Sync(ctx, r.db, r.src, core.SyncOptions{
		WindowWeight: weight, WindowBytes: r.options.WindowBytes, BulkWeight: bulk,
		Progress: func(p core.Progress) {
			at := p.Elapsed
			if f, ok := r.store.(*floor); ok {
				at = f.took
			}
			if p.Done {
				r.stages = p.Stages
			} else {
				r.marks = append(r.marks, mark{at, float64(p.Txs)})
			}
			if r.options.Progress != nil {
				r.options.Progress(p)
			}
		},
	})
}

// appendSingly is the naive way: block by block, nothing at the same time.
func (r *run) appendSingly(ctx context.Context, started time.Time) error {
	tip, err := r.src.Tip(ctx)
	if err != nil {
		return err
	}
	var p core.Progress
	told := started
	for e, err := range r.src.Follow(ctx, nil) {
		if err != nil {
			return err
		}
		if err := r.db.Append(ctx, []*model.Block{e.Block}); err != nil {
			return err
		}
		p.Height, p.Target, p.Elapsed = e.Block.Height, tip.Height, time.Since(started)
		p.Blocks++
		p.Txs += uint64(len(e.Block.Txs))
		p.TxsPerSecond = float64(p.Txs) / p.Elapsed.Seconds()
		p.Done = p.Height == p.Target
		r.marks = append(r.marks, mark{p.Elapsed, float64(p.Txs)})
		if r.options.Progress != nil && (p.Done || time.Since(told) > time.Second) {
			told = time.Now()
			r.options.Progress(p)
		}
	}
	r.stages[stageAppend] = time.Since(started).Seconds()
	return nil
}

// bytes is what the store takes once it is closed.
func (r *run) bytes() (n int64, err error) {
	if f, ok := r.store.(*floor); ok {
		return f.bytes, nil
	}
	if err := r.store.Close(); err != nil {
		return 0, err
	}
	err = filepath.WalkDir(r.options.Dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}

// quarters is the rate in each quarter of the transactions; what lies between two marks is taken as even.
func quarters(marks []mark) (rates [4]float64) {
	last := marks[len(marks)-1]
	before := 0.0
	for q := range rates {
		end := reached(marks, last.txs*float64(q+1)/4)
		if end > before {
			rates[q] = last.txs / 4 / (end - before)
		}
		before = end
	}
	return rates
}

// reached is when so many transactions were written, in seconds.
func reached(marks []mark, txs float64) float64 {
	for i := 1; i < len(marks); i++ {
		a, b := marks[i-1], marks[i]
		if b.txs >= txs && b.txs > a.txs {
			return a.at.Seconds() + (b.at-a.at).Seconds()*(txs-a.txs)/(b.txs-a.txs)
		}
	}
	return marks[len(marks)-1].at.Seconds()
}

// peakRSS is the most memory the process had. Where the kernel does not tell it is what Go had.
func peakRSS() int64 {
	if text, err := os.ReadFile("/proc/self/status"); err == nil {
		if _, after, ok := strings.Cut(string(text), "VmHWM:"); ok {
			if fields := strings.Fields(after); len(fields) > 0 {
				if kB, err := strconv.ParseInt(fields[0], 10, 64); err == nil {
					return kB << 10
				}
			}
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}
