package run

import (
	"fmt"
	"math/bits"
	"unsafe"

	"birthmark/internal/offheap"
)

// Filter is a blocked Bloom filter: an entry is in one block of a cache line. The high bits of the tag select the
// block, so a sorted run fills the blocks in order, and sorted queries read them in order. In the block, an entry sets
// two bits in each of three words. With [FilterBits] per entry, about 1.3% of the tags that are absent are found.
type Filter []FilterBlock

// FilterBlock is one cache line of a [Filter].
type FilterBlock [8]uint64

// Sizes of a [Filter].
const (
	FilterBlockSize = 64 // bytes
	FilterBits      = 10 // per entry
)

// NewFilter returns an empty filter in memory outside the heap.
func NewFilter(blocks int) (*offheap.Memory, Filter) {
	memory := offheap.New(blocks * FilterBlockSize)
	return memory, unsafe.Slice((*FilterBlock)(memory.Resize(blocks*FilterBlockSize)), blocks)
}

func blocksFor(entries int) int {
	return max(1, (entries*FilterBits+FilterBlockSize*8-1)/(FilterBlockSize*8))
}

// Block returns the block of a tag.
func (f Filter) Block(tag uint64) *FilterBlock {
	hi, _ := bits.Mul64(tag, uint64(len(f)))
	return &f[hi]
}

// spread mixes the low bits of a tag, which differ within a block, into the high bits of the result.
func spread(tag uint64) uint64 { return tag * 0x9E3779B97F4A7C15 }

func pair(h uint64) uint64 { return 1<<(h>>55&63) | 1<<(h>>49&63) }

// Add adds a tag.
func (f Filter) Add(tag uint64) {
	b := f.Block(tag)
	h := spread(tag)
	b[h>>61] |= pair(h)
	h <<= 15
	b[h>>61] |= pair(h)
	h <<= 15
	b[h>>61] |= pair(h)
}

// Has reports whether the filter may have a tag; false is certain.
func (f Filter) Has(tag uint64) bool {
	b := f.Block(tag)
	h := spread(tag)
	p1, p2, p3 := pair(h), pair(h<<15), pair(h<<30)
	missing := p1&^b[h>>61] | p2&^b[h<<15>>61] | p3&^b[h<<30>>61]
	return missing == 0
}

// May reports whether the run may have an entry; false is certain. Extra is not part of the filter, because two
// fingerprints with the same tag are rare.
func (r *Run) May(tag uint64, extra uint16) bool { return r.filter.Has(tag) }

// MapFilter replaces the filter in memory by that of the file, which the system caches as memory permits. It does
// nothing on systems other than Linux.
func (r *Run) MapFilter() error {
	if r.mapping != nil {
		return nil
	}
	mapping, at, err := mapFile(r.file, r.layout.filterAt(), r.layout.blocks*FilterBlockSize)
	if err != nil {
		return fmt.Errorf("map cache file %s: %w", r.path, err)
	}
	if mapping == nil {
		return nil
	}
	r.mapping = mapping
	r.filter = unsafe.Slice((*FilterBlock)(unsafe.Pointer(&mapping[at])), r.layout.blocks)
	r.memory[0].Resize(0)
	return nil
}

// faultBytes is the number of bytes of a cached file that the system maps at a page fault (fault_around_bytes).
const faultBytes = 64 << 10

// ReleaseFilter removes the pages of a mapped filter from the memory of the process; the page cache keeps them. It does
// nothing if the lookups since the last call are fewer than the page faults that map the filter again.
func (r *Run) ReleaseFilter(lookups int) {
	if r.mapping != nil && lookups >= len(r.mapping)/faultBytes {
		releaseMapping(r.mapping)
	}
}

// unmap releases the mapping of the filter.
func (r *Run) unmap() error {
	mapping := r.mapping
	r.mapping = nil
	if mapping == nil {
		return nil
	}
	r.filter = nil
	return unmapFile(mapping)
}
