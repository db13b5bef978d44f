//go:build !linux

package offheap

import "unsafe"

// Memory is a range of addresses. Elsewhere than on Linux it is the heap's.
type Memory struct{ words []uint64 }

// New makes a memory of no bytes.
func New(room int) *Memory { return &Memory{} }

// Resize makes the memory so many bytes large: what is new is zero. The pointer before is not good any more.
func (p *Memory) Resize(bytes int) unsafe.Pointer {
	words := make([]uint64, (bytes+7)/8)
	copy(words, p.words)
	p.words = words
	return unsafe.Pointer(unsafe.SliceData(words))
}
