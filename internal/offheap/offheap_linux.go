package offheap

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Memory is a range of addresses, with huge pages if it is large and the system has them, which makes random access
// fast. It is released when the Memory is garbage-collected.
type Memory struct{ mapping *mapping }

// mapping is a range of addresses; written pages have memory.
type mapping struct {
	all  []byte
	from int // offset of the memory: at the boundary of a huge page until it is moved
	size int // bytes, set by the last Resize
	room int // the expected maximum
	huge bool
}

const (
	hugePage = 2 << 20

	// Smaller ranges use small pages: a small chain must not use huge ones.
	leastHuge = 2 * hugePage
)

// New reserves addresses for room bytes.
func New(room int) *Memory {
	m := &Memory{&mapping{room: room}}
	runtime.AddCleanup(m, (*mapping).free, m.mapping)
	return m
}

// Resize grows or shrinks the memory to n bytes; new bytes are zero, and cut ones are returned to the system. It
// invalidates earlier pointers.
func (p *Memory) Resize(bytes int) unsafe.Pointer {
	at := p.mapping.resize(bytes)
	runtime.KeepAlive(p) // if this is the last use of p, its cleanup must not run at the same time
	return at
}

func (m *mapping) resize(bytes int) unsafe.Pointer {
	if bytes == 0 {
		m.free()
		return nil
	}
	if m.from+bytes > len(m.all) {
		m.reserve(max(m.room, bytes+bytes/2))
	}
	if bytes >= leastHuge && !m.huge {
		m.huge = true
		_ = unix.Madvise(m.all, unix.MADV_HUGEPAGE) // if this fails, pages are small
	}
	if bytes < m.size {
		m.cut(bytes)
	}
	m.size = bytes
	return unsafe.Pointer(&m.all[m.from])
}

// cut releases the memory after n bytes. It is zero if it is used again.
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

// reserve reserves addresses. The content is remapped, not copied.
func (m *mapping) reserve(bytes int) {
	page := unix.Getpagesize()
	bytes = (bytes + page - 1) / page * page // cut releases whole pages
	var err error
	if m.all != nil {
		m.all, err = unix.Mremap(m.all, m.from+bytes, unix.MREMAP_MAYMOVE)
	} else {
		m.all, err = unix.Mmap(-1, 0, bytes+hugePage, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
		m.from = int(-uintptr(unsafe.Pointer(unsafe.SliceData(m.all))) % hugePage)
	}
	if err != nil {
		panic("out of memory: " + err.Error()) // like Go if its heap cannot grow
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
