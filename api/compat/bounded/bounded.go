// Package bounded caches values that never change, within a number of bytes.
package bounded

import "sync"

// Map is a cache of values that never change. It evicts random entries. Without Size, it counts values as
// entryOverhead bytes. It is safe for concurrent use.
type Map[K comparable, V any] struct {
	MaxBytes int
	Size     func(V) int

	mu    sync.RWMutex
	bytes int
	all   map[K]V
}

// entryOverhead is the approximate memory of an entry in addition to its value, in bytes.
const entryOverhead = 96

// Get returns the value of a key; ok is false if it is not cached.
func (b *Map[K, V]) Get(k K) (v V, ok bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	v, ok = b.all[k]
	return v, ok
}

// Put caches a value, unless it exceeds a quarter of the bytes.
func (b *Map[K, V]) Put(k K, v V) {
	size := b.sizeOf(v)
	if size > b.MaxBytes/4 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.all == nil {
		b.all = map[K]V{}
	}
	if _, known := b.all[k]; known {
		return
	}
	for other, old := range b.all {
		if b.bytes+size <= b.MaxBytes {
			break
		}
		delete(b.all, other)
		b.bytes -= b.sizeOf(old)
	}
	b.all[k] = v
	b.bytes += size
}

func (b *Map[K, V]) sizeOf(v V) int {
	if b.Size == nil {
		return entryOverhead
	}
	return entryOverhead + b.Size(v)
}
