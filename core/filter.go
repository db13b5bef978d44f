package core

import (
	"math/bits"
	"unsafe"

	"birthmark/internal/offheap"
)

// filter is the values a database has, as a blocked Bloom filter: what it does not have is new, and need not be looked
// for. It grows by layers, each four times as large as the one before, up to its bound; past that it is given up, and
// every value is looked for. A value that was removed stays in it, which costs a lookup and is right.
type filter struct {
	layers []filterLayer
	bytes  int64 // of all layers
	most   int64
	// complete: it has all the values of the database. Only then it may be asked.
	complete bool
}

// filterLayer is blocks of a cache line each, one for a value.
type filterLayer struct {
	blocks []filterBlock
	memory *offheap.Memory
	room   int // for further values
}

type filterBlock [8]uint64

const (
	filterBlockSize = 64
	filterBits      = 16 // for a value: of each layer one new value in three hundred is looked for in vain
	filterHashes    = 7
	firstBlocks     = 1 << 7
)

func newFilter(most int64) *filter { return &filter{most: most} }

// has reports whether the database may have a value; false is certain.
func (f *filter) has(key fingerprint) bool {
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

// add takes a value that is new.
func (f *filter) add(key fingerprint) {
	if !f.complete {
		return
	}
	n := len(f.layers)
	if n == 0 || f.layers[n-1].room == 0 {
		blocks := firstBlocks
		if n > 0 {
			blocks = 4 * len(f.layers[n-1].blocks)
		}
		if f.bytes += int64(blocks) * filterBlockSize; f.bytes > f.most {
			f.giveUp()
			return
		}
		f.layers = append(f.layers, newFilterLayer(blocks, blocks*filterBlockSize*8/filterBits))
		n++
	}
	f.layers[n-1].add(key)
}

// touch reads where the newest layer has values: see [table.touch].
func (f *filter) touch(fs []fingerprint) (sum uint64) {
	if n := len(f.layers); n > 0 {
		for i := range fs {
			sum += f.layers[n-1].block(fs[i])[0]
		}
	}
	return sum
}

func (f *filter) giveUp() {
	for i := range f.layers {
		f.layers[i].blocks = nil
		f.layers[i].memory.Resize(0)
	}
	f.layers, f.bytes, f.complete = nil, 0, false
}

func newFilterLayer(blocks, room int) filterLayer {
	memory := offheap.New(blocks * filterBlockSize)
	return filterLayer{unsafe.Slice((*filterBlock)(memory.Resize(blocks*filterBlockSize)), blocks), memory, room}
}

func (l *filterLayer) block(key fingerprint) *filterBlock {
	hi, _ := bits.Mul64(key.a, uint64(len(l.blocks)))
	return &l.blocks[hi]
}

func (l *filterLayer) has(key fingerprint) bool {
	b := l.block(key)
	for h, n := key.b, 0; n < filterHashes; h, n = h>>9, n+1 {
		if b[h>>6&7]&(1<<(h&63)) == 0 {
			return false
		}
	}
	return true
}

func (l *filterLayer) add(key fingerprint) {
	b := l.block(key)
	for h, n := key.b, 0; n < filterHashes; h, n = h>>9, n+1 {
		b[h>>6&7] |= 1 << (h & 63)
	}
	l.room--
}
