// Package bounded caches values within a sum of their sizes.
package bounded

import (
	"cmp"
	"container/list"
	"sync"
)

// Cache keeps the values that were used last, within a sum of sizes. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	Max     int         // bytes, or values if Size is nil
	Largest int         // size of the largest value that is kept; 0: a quarter of Max
	Size    func(V) int // bytes of a value; nil: values are counted

	mu   sync.Mutex
	sum  int
	by   map[K]*list.Element
	used list.List // of *entry[K, V], the one used last first
}

type entry[K comparable, V any] struct {
	key   K
	value V
	size  int
}

// overhead is the approximate memory of an entry in addition to its value, in bytes.
const overhead = 160

// Get returns the value of a key; ok is false if it is not kept.
func (c *Cache[K, V]) Get(k K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.by[k]
	if at == nil {
		return v, false
	}
	c.used.MoveToFront(at)
	return at.Value.(*entry[K, V]).value, true
}

// Put keeps a value in place of the one that its key had, unless it is too large.
func (c *Cache[K, V]) Put(k K, v V) {
	size := 1
	if c.Size != nil {
		size = overhead + c.Size(v)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.by[k])
	if size > cmp.Or(c.Largest, c.Max/4) {
		return
	}
	if c.by == nil {
		c.by = map[K]*list.Element{}
	}
	c.by[k] = c.used.PushFront(&entry[K, V]{k, v, size})
	c.sum += size
	for c.sum > c.Max {
		c.remove(c.used.Back())
	}
}

// Remove drops the value of a key. It returns false if it was not kept.
func (c *Cache[K, V]) Remove(k K) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.remove(c.by[k])
}

// Used returns the sum of the sizes of all values.
func (c *Cache[K, V]) Used() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sum
}

func (c *Cache[K, V]) remove(at *list.Element) bool {
	if at == nil {
		return false
	}
	e := c.used.Remove(at).(*entry[K, V])
	delete(c.by, e.key)
	c.sum -= e.size
	return true
}
