package wallet

import "sync"

// bounded is a cache of values that never change. It evicts random entries. The zero value of size counts values as
// entryOverhead bytes.
type bounded[K comparable, V any] struct {
	maxBytes int
	size     func(V) int

	mu    sync.RWMutex
	bytes int
	all   map[K]V
}

// entryOverhead is the approximate memory of an entry in addition to its value, in bytes.
const entryOverhead = 96

func (b *bounded[K, V]) get(k K) (V, bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	v, ok := b.all[k]
	return v, ok
}

func (b *bounded[K, V]) put(k K, v V) {
	size := b.sizeOf(v)
	if size > b.maxBytes/4 {
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
		if b.bytes+size <= b.maxBytes {
			break
		}
		delete(b.all, other)
		b.bytes -= b.sizeOf(old)
	}
	b.all[k] = v
	b.bytes += size
}

func (b *bounded[K, V]) sizeOf(v V) int {
	if b.size == nil {
		return entryOverhead
	}
	return entryOverhead + b.size(v)
}
