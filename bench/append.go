package bench

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"birthmark/bench/process"
	"birthmark/core"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/rocks"
	"birthmark/storage/rocks/naive"
)

// Kind is a way of indexing blocks.
type Kind string

const (
	Naive Kind = "naive" // one store transaction per block, single reads and writes, no caches, WAL
	Floor Kind = "floor" // rows are encoded and not stored: the cost without a store
	WAL   Kind = "wal"   // batches as near the tip, each durable through the write-ahead log
	NoWAL Kind = "nowal" // the same with --wal=off
	Bulk  Kind = "bulk"  // a sync far from the tip: large batches in bulk
)

// nearWeight is the weight of the batches of WAL and NoWAL.
const nearWeight = 100_000

// Kinds lists all kinds in the order in which they are run and shown.
var Kinds = []Kind{Naive, Floor, WAL, NoWAL, Bulk}

// Options configure how blocks are indexed.
type Options struct {
	Dir string // empty folder for the database

	// Parts of the memory in bytes: see rocks.Options and core.Options. Naive ignores them.
	BlockCache, WriteBuffers, Caches int64
	WindowBytes                      int64
	Compression                      storage.Compression
	Memory                           int64 // total memory in bytes; 0: unknown
	Segments                         bool  // record segments for replicas; only for Tip
	EmptyCaches                      bool  // the database has no snapshot of the caches; only for Tip

	Progress func(core.Progress) // may be nil
}

// Result is the result of a run.
type Result struct {
	Txs                 int                `json:"txs"`
	TxsPerSecond        float64            `json:"txs_per_s"`         // until the last write is durable
	SettledTxsPerSecond float64            `json:"txs_per_s_settled"` // including compaction
	BlocksPerSecond     float64            `json:"blocks_per_s"`
	EntitiesPerSecond   float64            `json:"entities_per_s"` // inputs, outputs and assets
	CPUMicrosPerTx      float64            `json:"cpu_us_per_tx"`  // of the process until the sync ended, without reading the blocks
	RowsPerTx           float64            `json:"rows_per_tx"`
	BytesPerTx          float64            `json:"bytes_per_tx"` // of the compacted folder; Floor: of keys and values
	Stages              map[string]float64 `json:"stages"`       // seconds by stage: read, resolve, write and the constants below
	Quarters            [4]float64         `json:"quarters"`     // transactions per second in each quarter of the transactions

	// From the first block until the database is compacted, by the kernel's count for the process, without reading the
	// recorded blocks; 0 if the system does not report it.
	BytesWrittenPerTx float64 `json:"bytes_written_per_tx"` // to disk
	BytesReadPerTx    float64 `json:"bytes_read_per_tx"`    // from disk, because the page cache did not have them
	ReadsPerTx        float64 `json:"reads_per_tx"`         // system calls

	LookupsPerTx     float64            `json:"lookups_per_tx"`                // keys and ranges that the sync read from the store; 0 for Naive and Floor
	CacheMissesPerTx map[string]float64 `json:"cache_misses_per_tx,omitempty"` // by cache

	PeakRSS      int64 `json:"peak_rss"`                 // in bytes, of the process
	PeakRSSBound int64 `json:"peak_rss_bound,omitempty"` // limit of PeakRSS; 0: none, for Naive and Floor
	WithinBound  *bool `json:"within_bound,omitempty"`   // PeakRSS <= PeakRSSBound; nil: no bound
}

// BesideMemory is the number of bytes that may be resident beyond the configured memory: the program, free memory in
// the C heap, and garbage in the Go heap.
const BesideMemory = 300e6

// bound compares the peak with its limit.
func (r *Result) bound(k Kind, memory int64) {
	if memory == 0 || k == Naive || k == Floor {
		return
	}
	r.PeakRSSBound = memory + BesideMemory
	r.WithinBound = new(r.PeakRSS <= r.PeakRSSBound)
}

// Stages of a run in addition to read, resolve and write, which run concurrently. emit, encoding rows, is part of write;
// finish is what a sync does once after its last write; replay is the CPU time of reading recorded blocks, which is not
// counted; compact comes last. A naive run only has append, floor only emit.
const (
	stageEmit    = "emit"
	stageFinish  = "finish"
	stageReplay  = "replay"
	stageCompact = "compact"
	stageAppend  = "append"
)

// Append measures indexing of the first txs transactions of a recording. It must be called once per process, because
// memory and CPU time are those of the process.
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
		return &countedStore{timedStore: &timedStore{Store: store}}, nil
	}
	return nil, model.Errorf(model.Usage, "unknown_run", "unknown run %q: expected %s", kind, KindNames())
}

// KindNames returns the names of all kinds, separated by commas.
func KindNames() string {
	names := make([]string, len(Kinds))
	for i, k := range Kinds {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}

type run struct {
	kind    Kind
	log     bool // the write-ahead log is enabled
	options Options
	store   storage.Store
	db      *core.DB
	src     source
	marks   []mark
	stages  map[string]float64
}

// source counts the blocks it yields.
type source interface {
	model.Source
	Made() Made
}

// mark is the number of transactions written at a time.
type mark struct {
	at  time.Duration
	txs float64
}

func (r *run) measure(ctx context.Context) (*Result, error) {
	started, cpu, disk := time.Now(), process.CPU(), process.DiskIO()
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
	whole := took // including what follows the last write
	cpu = process.CPU() - cpu - made.CPU
	switch s := r.store.(type) {
	case *floor:
		took, whole, cpu = s.took, s.took, s.cpu
		r.marks = append(r.marks[:1], s.marks...) // not the elapsed time of the progress
		r.stages = map[string]float64{stageEmit: took.Seconds()}
	case *countedStore:
		r.stages[stageEmit] = s.rows.Seconds()
		r.stages[stageFinish] = (took - s.last.Sub(started)).Seconds()
		if r.log { // else the last write is durable only when the sync ends
			took = s.last.Sub(started)
		}
	}
	if _, recorded := r.src.(*Replay); recorded {
		r.stages[stageReplay] = made.CPU.Seconds()
	}
	r.marks = append(r.marks, mark{took, float64(made.Txs)})
	txs := float64(made.Txs)
	lookups := 0.0
	if s, ok := r.store.(*countedStore); ok {
		lookups = float64(s.n.Load()) / txs
	}
	misses, err := r.misses(txs)
	if err != nil {
		return nil, err
	}

	status, err := r.db.Status(ctx)
	if err != nil {
		return nil, err
	}
	if r.db.Chain().Traits().Tokens != nil { // the recording has messages, not assets
		made.Assets = int(status.Totals.Assets)
	}
	if got := status.Totals; got.Txs != uint64(made.Txs) || got.Inputs != uint64(made.Inputs) || got.Outputs != uint64(made.Outputs) || got.Assets != uint64(made.Assets) {
		return nil, fmt.Errorf("%s: the database has %+v, expected %+v", r.kind, got, made)
	}
	rows := uint64(0)
	for _, f := range status.Families {
		rows += f.Rows()
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
	disk = process.DiskIO().Minus(disk).Minus(made.disk)
	result := &Result{
		Txs:                 made.Txs,
		TxsPerSecond:        txs / took.Seconds(),
		SettledTxsPerSecond: txs / settled.Seconds(),
		BlocksPerSecond:     float64(made.Blocks) / took.Seconds(),
		EntitiesPerSecond:   float64(made.Inputs+made.Outputs+made.Assets) / took.Seconds(),
		CPUMicrosPerTx:      cpu.Seconds() * 1e6 / txs,
		RowsPerTx:           float64(rows) / txs,
		BytesPerTx:          float64(bytes) / txs,
		BytesWrittenPerTx:   float64(disk.Written) / txs,
		BytesReadPerTx:      float64(disk.Read) / txs,
		ReadsPerTx:          float64(disk.ReadCalls) / txs,
		LookupsPerTx:        lookups,
		CacheMissesPerTx:    misses,
		PeakRSS:             process.PeakRSS(),
		Stages:              r.stages,
		Quarters:            quarters(r.marks),
	}
	result.bound(r.kind, r.options.Memory)
	return result, nil
}

// misses returns the lookups per transaction that each cache did not answer, without caches that had none.
func (r *run) misses(txs float64) (map[string]float64, error) {
	stats, err := r.db.Stats()
	misses := map[string]float64{}
	for _, c := range stats.Caches {
		if c.Lookups > 0 {
			misses[c.Name] = float64(c.Lookups-c.Hits) / txs
		}
	}
	return misses, err
}

func (r *run) sync(ctx context.Context) error {
	weight, bulk := nearWeight, -1
	if r.kind == Bulk {
		weight, bulk = 0, 0 // the defaults of a sync
	}
	return core.Sync(ctx, r.db, r.src, core.SyncOptions{
		BatchWeight: weight, BatchBytes: r.options.WindowBytes, BulkWeight: bulk,
		Progress: func(p core.Progress) {
			if p.Done {
				r.stages = p.Stages
			} else {
				r.marks = append(r.marks, mark{p.Elapsed, float64(p.Txs)})
			}
			if r.options.Progress != nil {
				r.options.Progress(p)
			}
		},
	})
}

// appendSingly appends block by block without concurrency.
func (r *run) appendSingly(ctx context.Context, started time.Time) error {
	tip, err := r.src.Tip(ctx)
	if err != nil {
		return err
	}
	var p core.Progress
	reported := started
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
		if r.options.Progress != nil && (p.Done || time.Since(reported) > time.Second) {
			reported = time.Now()
			r.options.Progress(p)
		}
	}
	r.stages[stageAppend] = time.Since(started).Seconds()
	return nil
}

// bytes closes the store and returns its size.
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

// quarters returns the rate in each quarter of the transactions, interpolated linearly between marks.
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

// reached returns the time in seconds at which that many transactions were written.
func reached(marks []mark, txs float64) float64 {
	for i := 1; i < len(marks); i++ {
		a, b := marks[i-1], marks[i]
		if b.txs >= txs && b.txs > a.txs {
			return a.at.Seconds() + (b.at-a.at).Seconds()*(txs-a.txs)/(b.txs-a.txs)
		}
	}
	return marks[len(marks)-1].at.Seconds()
}
