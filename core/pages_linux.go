package core

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// pages is memory of the size of tables: beside the heap, so that the collector leaves it alone, and in large pages where
// the system has them, so that a place anywhere in it is found at once. It grows where it is.
type pages struct{ mapping *mapping }

// mapping is a range of addresses, with memory behind those that were written to.
type mapping struct {
	all  []byte
	from int // where the memory begins: on the bound of a large page
	room int // the most it was thought to become
	huge bool
}

const (
	hugePage = 2 << 20

	// Less than this stays in small pages: a small chain must not cost large ones.
	leastHuge = 2 * hugePage
)

// newPages reserves addresses for so many bytes.
func newPages(room int) *pages {
	p := &pages{&mapping{room: room}}
	runtime.AddCleanup(p, (*mapping).free, p.mapping)
	return p
}

// resize makes the memory so many bytes large: what is new is zero. The pointer before is not good any more.
func (p *pages) resize(bytes int) unsafe.Pointer {
	m := p.mapping
	if bytes == 0 {
		m.free()
		return nil
	}
	if m.from+bytes > len(m.all) {
		m.reserve(max(m.room, bytes+bytes/2))
	}
	if bytes >= leastHuge && !m.huge {
		m.huge = true
		_ = unix.Madvise(m.all, unix.MADV_HUGEPAGE) // where it cannot, pages are small
	}
	return unsafe.Pointer(&m.all[m.from])
}

// reserve takes addresses, and along what the memory holds.
func (m *mapping) reserve(bytes int) {
	all, err := unix.Mmap(-1, 0, bytes+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		panic("out of memory for caches: " + err.Error()) // as Go does where its own heap cannot grow
	}
	from := int(-uintptr(unsafe.Pointer(unsafe.SliceData(all))) % hugePage)
	if m.all != nil {
		copy(all[from:], m.all[m.from:])
		m.free()
	}
	m.all, m.from, m.room = all, from, bytes
}

func (m *mapping) free() {
	if m.all != nil {
		if err := unix.Munmap(m.all); err != nil {
			panic("give back memory of caches: " + err.Error())
		}
	}
	m.all, m.from, m.huge = nil, 0, false
}
