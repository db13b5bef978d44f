package offheap

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Memory is a range of addresses, in large pages where it is large and the system has them, so that a place anywhere in it
// is found at once. It is given back when the Memory is not used any more.
type Memory struct{ mapping *mapping }

// mapping is a range of addresses, with memory behind those that were written to.
type mapping struct {
	all  []byte
	from int // where the memory begins: on the bound of a large page, while it was not moved
	size int // bytes, as Resize was called last
	room int // the most it was thought to become
	huge bool
}

const (
	hugePage = 2 << 20

	// Less than this stays in small pages: a small chain must not cost large ones.
	leastHuge = 2 * hugePage
)

// New reserves addresses for so many bytes.
func New(room int) *Memory {
	m := &Memory{&mapping{room: room}}
	runtime.AddCleanup(m, (*mapping).free, m.mapping)
	return m
}

// Resize makes the memory so many bytes large: what is new is zero. The pointer before is not good any more. What is cut off
// is given back to the system.
func (p *Memory) Resize(bytes int) unsafe.Pointer {
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
	if bytes < m.size {
		m.cut(bytes)
	}
	m.size = bytes
	return unsafe.Pointer(&m.all[m.from])
}

// cut gives back what is behind so many bytes. It is zero if it is used again.
func (m *mapping) cut(bytes int) {
	page := unix.Getpagesize()
	end := m.from + m.size
	whole, stop := (m.from+bytes+page-1)/page*page, (end+page-1)/page*page
	clear(m.all[m.from+bytes : min(whole, end)])
	if whole == stop {
		return
	}
	if err := unix.Madvise(m.all[whole:stop], unix.MADV_DONTNEED); err != nil {
		panic("give back memory: " + err.Error())
	}
}

// reserve takes addresses. What the memory holds moves along, and is not copied.
func (m *mapping) reserve(bytes int) {
	var err error
	if m.all != nil {
		m.all, err = unix.Mremap(m.all, m.from+bytes, unix.MREMAP_MAYMOVE)
	} else {
		m.all, err = unix.Mmap(-1, 0, bytes+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
		m.from = int(-uintptr(unsafe.Pointer(unsafe.SliceData(m.all))) % hugePage)
	}
	if err != nil {
		panic("out of memory: " + err.Error()) // as Go does where its own heap cannot grow
	}
	m.room = bytes
}

func (m *mapping) free() {
	if m.all != nil {
		if err := unix.Munmap(m.all); err != nil {
			panic("give back memory: " + err.Error())
		}
	}
	m.all, m.from, m.size, m.huge = nil, 0, 0, false
}
