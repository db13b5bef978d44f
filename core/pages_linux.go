package core

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pages is memory of the size of tables: beside the heap, so that the collector leaves it alone, and in large pages where
// the system has them, so that a place anywhere in it is found at once. It can grow without being copied.
type pages struct{ mapping *mapping }

type mapping struct{ b []byte }

func newPages() *pages {
	p := &pages{&mapping{}}
	runtime.AddCleanup(p, func(m *mapping) { m.resize(0) }, p.mapping)
	return p
}

// resize makes the memory so many bytes large: what is new is zero. The pointer before is not good any more.
func (p *pages) resize(bytes int) unsafe.Pointer {
	p.mapping.resize(bytes)
	return unsafe.Pointer(unsafe.SliceData(p.mapping.b))
}

func (m *mapping) resize(bytes int) {
	var err error
	switch {
	case bytes == 0 && m.b == nil:
	case bytes == 0:
		err = unix.Munmap(m.b)
		m.b = nil
	case m.b == nil:
		m.b, err = unix.Mmap(-1, 0, bytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	default:
		m.b, err = unix.Mremap(m.b, bytes, unix.MREMAP_MAYMOVE)
	}
	if err != nil {
		panic("out of memory for caches: " + err.Error()) // as Go does where its own heap cannot grow
	}
	if bytes > 0 {
		_ = unix.Madvise(m.b, unix.MADV_HUGEPAGE) // where it cannot, pages are small
	}
}
