package cache

import (
	"math/bits"
	"unsafe"

	"birthmark/internal/offheap"
)

// Bloom is a blocked Bloom filter of the values in the database: a value that it lacks is new, and need not be looked
// up. It grows by layers, each four times as large as the one before, up to its bound; beyond that it is disabled and
// every value is looked up. Removed values stay in it, which only costs a lookup.
type Bloom struct {
	layers   []bloomLayer
	bytes    int64 // of all layers
	maxBytes int64
	// complete: it has all values of the database. Only then it may be used.
	complete bool
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
	bloomBits      = 16 // per value: a false positive rate of 1 in 300 per layer
	bloomHashes    = 7
	firstBlocks    = 1 << 7
)

func newBloom(maxBytes int64) *Bloom { return &Bloom{maxBytes: maxBytes} }

// Has reports whether the database may have a value; false is certain.
func (f *Bloom) Has(key Fingerprint) bool {
	if !f.complete {
		return true
	}
	for i := len(f.layers) - 1; i >= 0; i-- {
		if f.layers[i].has(key) {
			return true
		}
	}
	return false
}

// Add adds a new value.
func (f *Bloom) Add(key Fingerprint) {
	if !f.complete {
		return
	}
	n := len(f.layers)
	if n == 0 || f.layers[n-1].remaining == 0 {
		blocks := firstBlocks
		if n > 0 {
			blocks = 4 * len(f.layers[n-1].blocks)
		}
		if f.bytes += int64(blocks) * bloomBlockSize; f.bytes > f.maxBytes {
			f.disable()
			return
		}
		f.layers = append(f.layers, newBloomLayer(blocks, blocks*bloomBlockSize*8/bloomBits))
		n++
	}
	f.layers[n-1].add(key)
}

// Prefetch touches the blocks of values in the newest layer: see [Table.Prefetch].
func (f *Bloom) Prefetch(fs []Fingerprint) (sum uint64) {
	if n := len(f.layers); n > 0 {
		for i := range fs {
			sum += f.layers[n-1].block(fs[i])[0]
		}
	}
	return sum
}

func (f *Bloom) disable() {
	for i := range f.layers {
		f.layers[i].blocks = nil
		f.layers[i].memory.Resize(0)
	}
	f.layers, f.bytes, f.complete = nil, 0, false
}

func newBloomLayer(blocks, capacity int) bloomLayer {
	memory := offheap.New(blocks * bloomBlockSize)
	return bloomLayer{unsafe.Slice((*bloomBlock)(memory.Resize(blocks*bloomBlockSize)), blocks), memory, capacity}
}

func (l *bloomLayer) block(key Fingerprint) *bloomBlock {
	hi, _ := bits.Mul64(key.a, uint64(len(l.blocks)))
	return &l.blocks[hi]
}

func (l *bloomLayer) has(key Fingerprint) bool {
	b := l.block(key)
	for h, n := key.b, 0; n < bloomHashes; h, n = h>>9, n+1 {
		if b[h>>6&7]&(1<<(h&63)) == 0 {
			return false
		}
	}
	return true
}

func (l *bloomLayer) add(key Fingerprint) {
	b := l.block(key)
	for h, n := key.b, 0; n < bloomHashes; h, n = h>>9, n+1 {
		b[h>>6&7] |= 1 << (h & 63)
	}
	l.remaining--
}
