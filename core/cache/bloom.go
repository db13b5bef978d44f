package cache

import (
	"birthmark/core/cache/run"
	"birthmark/internal/offheap"
)

// bloom is a Bloom filter of the values of a shard that grows: a value that it lacks is new and is not looked up. Its
// first layer has the values that exist when it is filled; later layers are half as large as all layers before, up to
// the bound. Removed values stay in it, which costs a lookup. It stores tags, so it can be filled from tables and
// overflow runs.
type bloom struct {
	layers   []bloomLayer
	bytes    int64 // of all layers
	maxBytes int64
}

type bloomLayer struct {
	run.Filter
	memory    *offheap.Memory
	remaining int // capacity left
}

// firstBlocks is the minimum size of a layer.
const firstBlocks = 1 << 7

// has reports whether the database may have a value; false is certain.
func (f *bloom) has(tag uint64) bool {
	for i := len(f.layers) - 1; i >= 0; i-- {
		if f.layers[i].Has(tag) {
			return true
		}
	}
	return false
}

// add adds a new value. It returns false if that would exceed the bound.
func (f *bloom) add(tag uint64) bool {
	n := len(f.layers)
	if n == 0 || f.layers[n-1].remaining == 0 {
		blocks := firstBlocks
		if n > 0 {
			blocks = max(firstBlocks, int(f.bytes/run.FilterBlockSize/2))
		}
		if !f.grow(blocks) {
			return false
		}
		n++
	}
	f.layers[n-1].Add(tag)
	f.layers[n-1].remaining--
	return true
}

// grow adds a layer. It returns false if that would exceed the bound.
func (f *bloom) grow(blocks int) bool {
	size := int64(blocks) * run.FilterBlockSize
	if f.bytes+size > f.maxBytes {
		return false
	}
	f.bytes += size
	memory, filter := run.NewFilter(blocks)
	f.layers = append(f.layers, bloomLayer{filter, memory, int(size * 8 / run.FilterBits)})
	return true
}

// touch reads the block of a value in the newest layer: see [table.touch].
func (f *bloom) touch(tag uint64) uint64 {
	if n := len(f.layers); n > 0 {
		return f.layers[n-1].Block(tag)[0]
	}
	return 0
}

func (f *bloom) clear() {
	for i := range f.layers {
		f.layers[i].Filter = nil
		f.layers[i].memory.Resize(0)
	}
	f.layers, f.bytes = nil, 0
}
