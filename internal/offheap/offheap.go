// Package offheap provides memory outside Go's heap: the garbage collector ignores it, it grows without being copied,
// and only written pages use physical memory. It must not contain pointers into the heap.
package offheap

import "unsafe"

// least is the initial size of a slice in bytes.
const least = 64 << 10

// Room returns s, which is in m, with capacity for n more elements.
func Room[T any](m *Memory, s []T, n int) []T {
	if n <= cap(s)-len(s) {
		return s
	}
	size := int(unsafe.Sizeof(*new(T)))
	places := max(len(s)+n, 2*cap(s), least/size)
	return unsafe.Slice((*T)(m.Resize(places*size)), places)[:len(s)]
}
