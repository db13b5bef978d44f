package cache

import (
	"math/bits"
	"unsafe"

	"birthmark/internal/offheap"
)

// bloom is a blocked Bloom filter of the values of a shard: a value that it lacks is new and is not looked up. Its
// first layer has the values that exist when it is filled; later layers are half as large as all layers before, up to
// the bound. Removed values stay in it, which costs a lookup. It stores tags, so it can be filled from tables and
// overflow runs.
type bloom struct {
	layers   []bloomLayer
	bytes    int64 // of all layers
	maxBytes int64
}

// bloomLayer is blocks of one cache line each; a value is in one block.
type bloomLayer struct {
	blocks    []bloomBlock
	memory    *offheap.Memory
	remaining int // capacity left
}

type bloomBlock [8]uint64

const (
	bloomBlockSize = 64
	bloomBits      = 10 // per value: a false positive rate of 1 in 80 per layer
	bloomHashes    = 7
	firstBlocks    = 1 << 7
)

// has reports whether the database may have a value; false is certain.
func (f *bloom) has(tag uint64) bool {
	for i := len(f.layers) - 1; i >= 0; i-- {
		if f.layers[i].has(tag) {
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
			blocks = max(firstBlocks, int(f.bytes/bloomBlockSize/2))
		}
		if !f.grow(blocks) {
			return false
		}
		n++
	}
	f.layers[n-1].add(tag)
	return true
}

// grow adds a layer. It returns false if that would exceed the bound.
func (f *bloom) grow(blocks int) bool {
	if f.bytes+int64(blocks)*bloomBlockSize > f.maxBytes {
		return false
	}
	f.bytes += int64(blocks) * bloomBlockSize
	f.layers = append(f.layers, newBloomLayer(blocks, blocks*bloomBlockSize*8/bloomBits))
	return true
}

// touch reads the block of a value in the newest layer: see [table.touch].
func (f *bloom) touch(tag uint64) uint64 {
	if n := len(f.layers); n > 0 {
		return f.layers[n-1].block(tag)[0]
	}
	return 0
}

func (f *bloom) clear() {
	for i := range f.layers {
		f.layers[i].blocks = nil
		f.layers[i].memory.Resize(0)
	}
	f.layers, f.bytes = nil, 0
}

func newBloomLayer(blocks, capacity int) bloomLayer {
	memory := offheap.New(blocks * bloomBlockSize)
	return bloomLayer{unsafe.Slice((*bloomBlock)(memory.Resize(blocks*bloomBlockSize)), blocks), memory, capacity}
}

func (l *bloomLayer) block(tag uint64) *bloomBlock {
	hi, _ := bits.Mul64(tag, uint64(len(l.blocks)))
	return &l.blocks[hi]
}

// hashes returns the bits of a value within its block: 7 numbers of 9 bits.
func (l *bloomLayer) hashes(tag uint64) uint64 {
	h := (tag ^ tag>>31) * SpreadB
	return h ^ h>>29
}

func (l *bloomLayer) has(tag uint64) bool {
	b := l.block(tag)
	for h, n := l.hashes(tag), 0; n < bloomHashes; h, n = h>>9, n+1 {
		if b[h>>6&7]&(1<<(h&63)) == 0 {
			return false
		}
	}
	return true
}

func (l *bloomLayer) add(tag uint64) {
	b := l.block(tag)
	for h, n := l.hashes(tag), 0; n < bloomHashes; h, n = h>>9, n+1 {
		b[h>>6&7] |= 1 << (h & 63)
	}
	l.remaining--
}
