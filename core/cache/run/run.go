package run

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"sync/atomic"

	"birthmark/internal/offheap"
)

// ErrDamaged is the error of a file that is not a complete run, or was changed. The file can be deleted.
var ErrDamaged = errors.New("damaged cache file")

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
	filter  Filter
	index   []uint32           // high half of the last tag of each page
	mapping []byte             // of the filter, if it is mapped
	memory  [2]*offheap.Memory // of the filter, unless it is mapped, and of the index
	dead    atomic.Pointer[deadBits]
	limit   atomic.Uint64
	synced  bool
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
	r.memory[0], r.filter = NewFilter(r.layout.blocks)
	r.memory[1] = offheap.New(pages * indexSize)
	r.index = offheap.Room(r.memory[1], r.index, pages)
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

// Memory returns the memory in use in bytes: page index, dead bits, and the filter if it is not mapped.
func (r *Run) Memory() int64 {
	n := int64(len(r.index)) * indexSize
	if r.mapping == nil {
		n += int64(len(r.filter)) * FilterBlockSize
	}
	if d := r.dead.Load(); d != nil {
		n += int64(len(d.words)) * 8
	}
	return n
}

// Mapped returns the size of the filter in bytes if it is mapped, otherwise 0.
func (r *Run) Mapped() int64 {
	if r.mapping == nil {
		return 0
	}
	return int64(len(r.filter)) * FilterBlockSize
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
