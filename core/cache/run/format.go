package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"sync/atomic"
	"unsafe"

	"birthmark/internal/offheap"
)

const (
	magic      = "birthrun"
	version    = 1
	headerSize = 4096
	headerData = 72 // bytes of the header that are used

	// Smaller pages cost less to copy from the page cache and to verify, larger ones need less memory for the index.
	pageSize = 1024
	pageData = pageSize - 4 // the checksum follows

	tagSize   = 8
	restSize  = 10 // of an entry without tag and payload
	indexSize = 4  // bytes per page in the page index

	// MaxPayload is the maximum number of bytes of a payload: four entries in a page.
	MaxPayload = pageData/4 - tagSize - restSize
)

// ErrDamaged is the error of a file that is not a complete run, or was changed. The file can be deleted.
var ErrDamaged = errors.New("damaged cache file")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(initial uint32, b []byte) uint32 { return crc32.Update(initial, castagnoli, b) }

// Entry is an entry of a run.
type Entry struct {
	Tag     uint64 // sort key, not 0; its high bits must be uniformly distributed
	Extra   uint16 // further bits of the fingerprint
	Pk      uint64 // pointer
	Slot    int32  // number of the entry in its run: see MarkDead
	Payload []byte // of the size that Create received
}

// Run is an immutable sorted file of entries: see the package comment for its use by several goroutines.
type Run struct {
	path    string
	file    *os.File
	layout  layout
	filter  filter
	index   []uint32           // high half of the last tag of each page
	mapping []byte             // of the filter, if it is mapped
	memory  [2]*offheap.Memory // of the filter, unless it is mapped, and of the index
	dead    atomic.Pointer[deadBits]
	limit   atomic.Uint64
	synced  bool
}

// layout is the content of the header.
type layout struct {
	payload int
	perPage int // entries of a page, derived from payload
	entries int
	pages   int
	blocks  int // of the filter
	sum     uint32
}

func entriesPerPage(payload int) int { return pageData / (tagSize + restSize + payload) }

func (l *layout) pageAt(page int) int64 { return headerSize + pageSize*int64(page) }
func (l *layout) filterAt() int64       { return l.pageAt(l.pages) }
func (l *layout) indexAt() int64        { return l.filterAt() + int64(l.blocks)*blockSize }
func (l *layout) size() int64           { return l.indexAt() + int64(l.pages)*indexSize }

// entriesOf returns the number of entries of a page.
func (l *layout) entriesOf(page int) int { return min(l.perPage, l.entries-page*l.perPage) }

// rest returns an entry of a page without its tag.
func (l *layout) rest(page []byte, i int) []byte {
	size := restSize + l.payload
	at := l.perPage*tagSize + i*size
	return page[at : at+size : at+size]
}

func tagOf(page []byte, i int) uint64 { return binary.LittleEndian.Uint64(page[i*tagSize:]) }
func extraOf(rest []byte) uint16      { return binary.LittleEndian.Uint16(rest) }
func pkOf(rest []byte) uint64         { return binary.LittleEndian.Uint64(rest[2:]) }

func (l *layout) header() []byte {
	b := make([]byte, 0, headerSize)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, version)
	b = binary.LittleEndian.AppendUint32(b, uint32(l.payload))
	for _, n := range []int64{int64(l.entries), int64(l.pages), int64(l.blocks), l.filterAt(), l.indexAt(), l.size()} {
		b = binary.LittleEndian.AppendUint64(b, uint64(n))
	}
	b = binary.LittleEndian.AppendUint32(b, l.sum)
	b = binary.LittleEndian.AppendUint32(b, checksum(0, b))
	return b[:headerSize]
}

// parseHeader reads the header of a file of the given size. It rejects headers that do not describe such a file, so the
// caller may allocate memory by it.
func parseHeader(b []byte, size int64) (l layout, err error) {
	number := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	if string(b[:8]) != magic {
		return l, errors.New("it does not begin with " + magic)
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != version {
		return l, fmt.Errorf("its version is %d, expected %d", v, version)
	}
	if sum, want := checksum(0, b[:68]), binary.LittleEndian.Uint32(b[68:]); sum != want {
		return l, fmt.Errorf("the checksum of its header is %08x, expected %08x", sum, want)
	}
	payload, entries, pages, blocks := binary.LittleEndian.Uint32(b[12:]), number(16), number(24), number(32)
	if payload > MaxPayload || entries > math.MaxInt32 || pages > math.MaxInt32 || blocks == 0 || blocks > math.MaxInt32 {
		return l, errors.New("its header is invalid")
	}
	l = layout{payload: int(payload), perPage: entriesPerPage(int(payload)), entries: int(entries), pages: int(pages), blocks: int(blocks)}
	if l.sum = binary.LittleEndian.Uint32(b[64:]); l.pages != (l.entries+l.perPage-1)/l.perPage {
		return l, errors.New("its header is invalid")
	}
	if l.size() != size || number(56) != uint64(size) {
		return l, fmt.Errorf("it has %d bytes, expected %d", size, l.size())
	}
	return l, nil
}

// Open opens a finished run. It verifies the header, the size, the page index and the filter; pages are verified when
// they are read. The error is ErrDamaged if the file is not a complete run.
func Open(path string) (*Run, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open cache file: %w", err)
	}
	r := &Run{path: path, file: file}
	if err := r.load(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

func (r *Run) load() error {
	info, err := r.file.Stat()
	if err != nil {
		return fmt.Errorf("open cache file: %w", err)
	}
	header := make([]byte, headerSize)
	if _, err := r.file.ReadAt(header, 0); errors.Is(err, io.EOF) {
		return r.damaged("it has %d bytes, a header needs %d", info.Size(), headerSize)
	} else if err != nil {
		return fmt.Errorf("read cache file: %w", err)
	}
	if r.layout, err = parseHeader(header, info.Size()); err != nil {
		return r.damaged("%v", err)
	}
	r.allocate(r.layout.pages)
	r.index = r.index[:r.layout.pages]
	sum := uint32(0)
	for _, part := range []struct {
		at int64
		to []byte
	}{{r.layout.filterAt(), bytesOf(r.filter)}, {r.layout.indexAt(), bytesOf(r.index)}} {
		if _, err := r.file.ReadAt(part.to, part.at); err != nil {
			return fmt.Errorf("read cache file: %w", err)
		}
		sum = checksum(sum, part.to)
	}
	if sum != r.layout.sum {
		return r.damaged("the checksum of its filter and index is %08x, expected %08x", sum, r.layout.sum)
	}
	r.limit.Store(math.MaxUint64)
	prepareLookups(r.file)
	return nil
}

// allocate allocates the filter, and the index for a number of pages.
func (r *Run) allocate(pages int) {
	r.memory[0], r.filter = newFilter(r.layout.blocks)
	r.memory[1] = offheap.New(pages * indexSize)
	r.index = offheap.Room(r.memory[1], r.index, pages)
}

// bytesOf returns the memory of a slice of numbers. They are little-endian: the supported processors are.
func bytesOf[T uint32 | block](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}

func (r *Run) damaged(format string, args ...any) error {
	return fmt.Errorf("%w %s: %s; delete the file, it is rebuilt from the database", ErrDamaged, r.path, fmt.Sprintf(format, args...))
}

// verify compares the checksum of a page.
func (r *Run) verify(page int, b []byte) error {
	sum, want := checksum(uint32(page), b[:pageData]), binary.LittleEndian.Uint32(b[pageData:])
	if sum != want {
		return r.damaged("the checksum of page %d is %08x, expected %08x", page, sum, want)
	}
	return nil
}

// Len returns the number of entries, including dead ones.
func (r *Run) Len() int { return r.layout.entries }

// Bytes returns the size of the file.
func (r *Run) Bytes() int64 { return r.layout.size() }

// Payload returns the number of bytes of each payload.
func (r *Run) Payload() int { return r.layout.payload }

// Memory returns the memory in use in bytes: page index, dead bits, and the filter if it is not mapped.
func (r *Run) Memory() int64 {
	n := int64(len(r.index)) * indexSize
	if r.mapping == nil {
		n += int64(len(r.filter)) * blockSize
	}
	if d := r.dead.Load(); d != nil {
		n += int64(len(d.words)) * 8
	}
	return n
}

// Path returns the path of the file.
func (r *Run) Path() string { return r.path }

// Limit returns the pointer from which on entries are ignored, because they belong to orphaned blocks.
func (r *Run) Limit() uint64 { return r.limit.Load() }

// SetLimit lowers the limit to pk; a higher pk has no effect.
func (r *Run) SetLimit(pk uint64) { r.limit.Store(min(pk, r.limit.Load())) }

// Sync writes the file to the disk; later calls do nothing.
func (r *Run) Sync() error {
	if !r.synced {
		if err := r.file.Sync(); err != nil {
			return fmt.Errorf("write cache file: %w", err)
		}
		r.synced = true
	}
	return nil
}

// Close releases the memory and the file. The run must not be used after it.
func (r *Run) Close() error {
	err := r.unmap()
	for _, m := range r.memory {
		if m != nil {
			m.Resize(0)
		}
	}
	if d := r.dead.Swap(nil); d != nil {
		d.memory.Resize(0)
	}
	r.filter, r.index = nil, nil
	return errors.Join(err, r.file.Close())
}

// Remove closes the run and deletes the file.
func (r *Run) Remove() error {
	return errors.Join(r.Close(), os.Remove(r.path))
}
