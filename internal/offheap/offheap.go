// Package offheap is memory beside Go's heap: the collector neither looks through it nor waits for twice as much, it grows
// without being copied, and only what was written to takes any. It must not hold pointers into the heap.
package offheap

import "unsafe"

// least is how many bytes a slice begins with.
const least = 64 << 10

// Room is s, which is in m, with room for n more elements.
func Room[T any](m *Memory, s []T, n int) []T {
	if n <= cap(s)-len(s) {
		return s
	}
	size := int(unsafe.Sizeof(*new(T)))
	places := max(len(s)+n, 2*cap(s), least/size)
	return unsafe.Slice((*T)(m.Resize(places*size)), places)[:len(s)]
}
