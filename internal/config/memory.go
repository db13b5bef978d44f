package config

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// LeastMemory is the least to work with: below it a window of a few large blocks does not fit its share.
const LeastMemory = 64 * MiB

// ParseMemory reads a size that is enough to work with.
func ParseMemory(text string) (Size, error) {
	s, err := ParseSize(text)
	if err == nil && s < LeastMemory {
		err = fmt.Errorf("%v of memory is too small to work: the least is %v", s, LeastMemory)
	}
	return s, err
}

// Apportion divides total over chains that one process serves, by what each is given in weights. An error where a part is
// too small to work.
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

// Division says who gets which part of the memory. The parts sum up to the whole.
type Division struct {
	// In RocksDB's hands.
	BlockCache   int64
	WriteBuffers int64

	// The core's own, beside Go's heap: what inputs and values resolve to.
	Caches int64

	// In Go's hands.
	Source    int64 // blocks under way: read, being decoded, decoded and waiting
	Window    int64 // the window being resolved and written: its blocks and the rows they make
	Collector int64 // dead objects the garbage collector has not come to yet, stacks, buffers of readers
}

// share is a part of a whole of 100.
type share struct {
	of   func(*Division) *int64
	part int64
	most Size // 0: none; what is above goes to the caches, which never have enough
}

// Writing, a lookup that misses is what costs (a disk read is worth a hundred cached ones), so half of the memory
// answers lookups: the core's caches by value, the block cache by block.
var writing = []share{
	{func(d *Division) *int64 { return &d.BlockCache }, 20, 0},
	{func(d *Division) *int64 { return &d.Caches }, 30, 0},
	// Near the tip larger buffers mean fewer files and less merging, up to the point where they only make a restart slower.
	{func(d *Division) *int64 { return &d.WriteBuffers }, 12, GiB},
	// Enough to keep every decoder busy while a window is written, and no more.
	{func(d *Division) *int64 { return &d.Source }, 8, 512 * MiB},
	// Rows are sorted by window: the larger it is, the fewer tables there are to merge at the end.
	{func(d *Division) *int64 { return &d.Window }, 20, GiB},
	// The collector frees late. Half of what the window and the blocks under way need is what it lags behind.
	{func(d *Division) *int64 { return &d.Collector }, 10, 512 * MiB},
}

// Reading writes nothing and fetches nothing: all but room for answers is a cache of blocks.
var reading = []share{
	{func(d *Division) *int64 { return &d.BlockCache }, 75, 0},
	{func(d *Division) *int64 { return &d.Collector }, 25, GiB},
}

// Divide gives every part of a process that writes (syncs, rolls back) its share of total.
func Divide(total Size) Division { return divide(total, writing) }

// DivideReading is [Divide] for a process that answers queries only.
func DivideReading(total Size) Division { return divide(total, reading) }

func divide(total Size, shares []share) (d Division) {
	rest := int64(total)
	uncapped := int64(0)
	for _, s := range shares {
		n := int64(total) / 100 * s.part
		if s.most != 0 {
			n = min(n, int64(s.most))
			*s.of(&d) = n
			rest -= n
		} else {
			uncapped += s.part
		}
	}
	for i, s := range shares {
		if s.most == 0 {
			*s.of(&d) = rest / uncapped * s.part
			if i == 0 {
				*s.of(&d) += rest % uncapped
			}
		}
	}
	return d
}

// Go is what Go's runtime may take in all ([runtime/debug.SetMemoryLimit]).
func (d Division) Go() int64 { return d.Source + d.Window + d.Collector }

// windowCost is how many bytes of memory a byte of blocks costs while windows of it are under way: one is read, one resolved,
// one waits and one is written, each of them decoded blocks of two to three times their size; rows of the last; and what the
// collector has not found yet. Memory that is touched for the first time is slow too: larger windows gained nothing.
const windowCost = 14

// WindowBytes is how many bytes of blocks a window may hold.
func (d Division) WindowBytes() int64 { return d.Window / windowCost }

// usual is the memory where nothing is set and the machine has plenty.
const usual = 2 * GiB

// DefaultMemory is 2 GiB, or half of what the machine or the container has where that is less.
func DefaultMemory() Size {
	have := min(fileSize("/sys/fs/cgroup/memory.max", "", 1),
		fileSize("/sys/fs/cgroup/memory/memory.limit_in_bytes", "", 1),
		fileSize("/proc/meminfo", "MemTotal:", KiB))
	half := have / 2 / MiB * MiB
	return max(LeastMemory, min(usual, half))
}

// fileSize is the first number after word in a file of the kernel, or more than any machine has.
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
	n, err := strconv.ParseInt(fields[0], 10, 64) // a container without a limit says max
	if err != nil || n > unlimited/int64(unit) {
		return unlimited
	}
	return Size(n) * unit
}
