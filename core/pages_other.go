//go:build !linux

package core

import "unsafe"

// pages is memory of the size of tables. Elsewhere than on Linux it is the heap's.
type pages struct{ words []uint64 }

func newPages(int) *pages { return &pages{} }

// resize makes the memory so many bytes large: what is new is zero. The pointer before is not good any more.
func (p *pages) resize(bytes int) unsafe.Pointer {
	words := make([]uint64, bytes/8)
	copy(words, p.words)
	p.words = words
	return unsafe.Pointer(unsafe.SliceData(words))
}
