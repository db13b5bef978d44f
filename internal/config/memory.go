package config

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"

	"birthmark/model"
)

// LeastMemory is the minimum: with less, a batch of a few large blocks does not fit into its share.
const LeastMemory = 64 * MiB

// ParseMemory parses a size of at least [LeastMemory].
func ParseMemory(text string) (Size, error) {
	s, err := ParseSize(text)
	if err == nil && s < LeastMemory {
		err = fmt.Errorf("%v is too little: expected at least %v", s, LeastMemory)
	}
	return s, err
}

// Apportion divides total between the chains of a process in proportion to weights. It returns an error if a part is
// less than [LeastMemory]. Chains do not share a cache: the sync of one would evict what queries on the others need.
func Apportion(total Size, weights []int) ([]Size, error) {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	parts := make([]Size, len(weights))
	for i, w := range weights {
		parts[i] = total / Size(sum) * Size(w)
		if parts[i] < LeastMemory {
			return nil, fmt.Errorf("%v of memory is too small for %d chains: one of them would have %v, the least is %v", total, len(weights), parts[i], LeastMemory)
		}
	}
	return parts, nil
}

// Division is the memory of each part of a process. The parts add up to the total.
type Division struct {
	// Of RocksDB.
	BlockCache   int64
	WriteBuffers int64

	// Of core, outside Go's heap: resolved inputs and values.
	Caches int64

	// Of Go's heap.
	Source    int64 // blocks that are read, decoded or queued
	Window    int64 // the batch that is resolved and written: its blocks and rows
	Collector int64 // garbage that is not collected yet, stacks, buffers of readers; half of it: see Answers
	TxIDs     int64 // hashes of transactions that queries have read
}

// Divide divides total in a process that writes (syncs, rolls back). The other parts have limits; the caches have the
// rest, at least 40%: three quarters of it for the caches of core, a quarter for the block cache and for the hashes of
// transactions. Cache misses dominate the cost of writing: an overflow run costs several times as much as a table, the
// database far more.
func Divide(total Size) Division {
	d := Division{
		// Near the tip, larger buffers cause fewer files and less merging, but make a restart slower.
		WriteBuffers: total.percent(12, GiB),
		// Enough to keep every decoder busy while a batch is written.
		Source: total.percent(8, 512*MiB),
		// Rows are sorted per batch: larger batches leave fewer tables to merge at the end, and more lookups of a batch
		// share a page of an overflow run.
		Window: total.percent(30, GiB),
		// The collector frees memory late: by half of what the batch and the queued blocks need.
		Collector: total.percent(10, 512*MiB),
		TxIDs:     total.percent(2, 256*MiB),
	}
	caches := int64(total) - d.WriteBuffers - d.Source - d.Window - d.Collector
	d.Caches = caches / 4 * 3
	d.BlockCache = caches - d.Caches - d.TxIDs
	return d
}

// DivideReading is [Divide] for a process that only answers queries: all memory except that for answers is block cache.
func DivideReading(total Size) Division {
	d := Division{Collector: total.percent(25, GiB), TxIDs: total.percent(2, 256*MiB)}
	d.BlockCache = int64(total) - d.Collector - d.TxIDs
	return d
}

// DivideExport divides total in a process that exports jobs parts of tables at the same time: the memory of the open
// database, that of the tables of recent outputs and texts, outside Go's heap, and that of rows and pages, in it.
func DivideExport(total Size, jobs int) (database Size, tables, heap int64) {
	need := int64(jobs) * exportHeap
	database, heap = total/8, min(int64(total)/4*int64(min(jobs, 2)), need-exportPages)
	return database, int64(total-database) - heap, min(heap+exportPages, need)
}

// ExportJobs returns how many parts are exported at the same time: one per two processors and exportJob of memory.
func ExportJobs(total Size) int {
	return max(1, min(runtime.GOMAXPROCS(0)/2, int(total/exportJob)))
}

// An export needs up to exportHeap per job for rows and pages, whatever its memory: with less, the collector runs all the
// time. It may exceed its memory by exportPages for them.
const (
	exportHeap  = 288 << 20
	exportPages = 160 << 20
	exportJob   = 512 * MiB
)

// percent returns a percentage of a size, but at most limit.
func (s Size) percent(n int64, limit Size) int64 { return min(int64(s)/100*n, int64(limit)) }

// Go returns the memory limit of Go's runtime ([runtime/debug.SetMemoryLimit]).
func (d Division) Go() int64 { return d.Source + d.Window + d.Collector + d.TxIDs }

// Answers returns the memory for answers that are read, encoded or sent: half of the Collector.
func (d Division) Answers() int64 { return d.Collector / 2 }

// ForLargeBlocks returns the division of a chain with large blocks: half of the caches is memory for the current block.
func (d Division) ForLargeBlocks() Division {
	d.Window += d.Caches / 2
	d.Caches -= d.Caches / 2
	return d
}

// blockSlack is what the process may exceed its memory by.
const blockSlack = 300 * MiB

// Room returns [model.SourceOptions.Room] of a process with that much memory. A block that exceeds the batches is
// processed alone, so it can have all memory that is not of caches and buffers.
func (s Size) Room(large bool) func(bytes int64) error {
	room := func(s Size) Size {
		d := Divide(s)
		if large {
			d = d.ForLargeBlocks()
		}
		return Size(d.Go()) + blockSlack
	}
	return func(bytes int64) error {
		need := (Size(bytes) + MiB - 1) / MiB * MiB
		if need <= room(s) {
			return nil
		}
		const step, most = GiB / 2, 1024 * GiB
		least := (s + step) / step * step
		for least < most && room(least) < need {
			least += step
		}
		return model.Errorf(model.Machine, "block_too_large",
			"it needs %v of memory, of %v for a block: set memory to at least %v (it is %v)", need, room(s)/MiB*MiB, least, s)
	}
}

// windowCost is the memory per byte of serialized blocks while batches are processed: one is read, one resolved, one
// queued and one written, each with decoded blocks of two to three times their size; plus the rows of the last and
// garbage.
const windowCost = 12

// WindowBytes returns the maximum size of the blocks of a batch in bytes.
func (d Division) WindowBytes() int64 { return d.Window / windowCost }

// usual is the default memory of a machine with at least twice as much.
const usual = 2 * GiB

// DefaultMemory returns 2 GiB, or half of the memory of the machine or container if that is less.
func DefaultMemory() Size {
	have := min(fileSize("/sys/fs/cgroup/memory.max", "", 1),
		fileSize("/sys/fs/cgroup/memory/memory.limit_in_bytes", "", 1),
		fileSize("/proc/meminfo", "MemTotal:", KiB))
	half := have / 2 / MiB * MiB
	return max(LeastMemory, min(usual, half))
}

// fileSize returns the first number after word in a file of the kernel, or the maximum if there is none.
func fileSize(path, word string, unit Size) Size {
	const unlimited = 1 << 60
	text, err := os.ReadFile(path)
	if err != nil {
		return unlimited
	}
	_, after, ok := strings.Cut(string(text), word)
	fields := strings.Fields(after)
	if !ok || len(fields) == 0 {
		return unlimited
	}
	n, err := strconv.ParseInt(fields[0], 10, 64) // containers without a limit have the text max
	if err != nil || n > unlimited/int64(unit) {
		return unlimited
	}
	return Size(n) * unit
}
