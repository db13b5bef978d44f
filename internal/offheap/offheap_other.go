//go:build !linux

package offheap

import "unsafe"

// Memory is a range of addresses. On systems other than Linux it is part of the heap.
type Memory struct{ words []uint64 }

// New returns an empty memory.
func New(room int) *Memory { return &Memory{} }

// Resize grows or shrinks the memory to n bytes; new bytes are zero. It invalidates earlier pointers.
func (p *Memory) Resize(bytes int) unsafe.Pointer {
	words := make([]uint64, (bytes+7)/8)
	copy(words, p.words)
	p.words = words
	return unsafe.Pointer(unsafe.SliceData(words))
}
