package run

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"

	"birthmark/internal/offheap"
)

// writeBuffer is the number of bytes that are written at once.
const writeBuffer = 256 << 10

// Writer writes a run.
type Writer struct {
	r       *Run
	buffer  []byte // pages that are not written yet; the last one is incomplete
	page    []byte // the incomplete page: the end of buffer; nil before the first entry and after a full page
	n       int    // its entries
	written int64
	last    uint64 // tag
	extra   uint16 // of the last entry
	err     error
}

// Create creates the file of a run, or truncates it. Payload is the number of bytes of each payload. Expected is an
// upper bound of the number of entries, which determines the size of the filter; if there are more, the filter is less
// selective.
func Create(path string, payload, expected int) (*Writer, error) {
	if payload < 0 || payload > MaxPayload {
		return nil, fmt.Errorf("create cache file %s: payload of %d bytes, the maximum is %d", path, payload, MaxPayload)
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create cache file: %w", err)
	}
	r := &Run{path: path, file: file, layout: layout{payload: payload, perPage: entriesPerPage(payload), blocks: blocksFor(expected)}}
	r.allocate(expected/r.layout.perPage + 1)
	r.limit.Store(math.MaxUint64)
	return &Writer{r: r, buffer: make([]byte, 0, writeBuffer), written: headerSize}, nil
}

// Add adds an entry. Entries must be in ascending order of tag and extra; equal ones are allowed. After an error all
// later calls return it.
func (w *Writer) Add(tag uint64, extra uint16, pk uint64, payload []byte) error {
	if len(payload) != w.r.layout.payload {
		return w.fail(fmt.Errorf("a payload has %d bytes, expected %d", len(payload), w.r.layout.payload))
	}
	rest, err := w.place(tag, extra)
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(rest[2:], pk)
	copy(rest[restSize:], payload)
	return nil
}

// place adds an entry without its pointer and payload, and returns its place in the page.
func (w *Writer) place(tag uint64, extra uint16) ([]byte, error) {
	if tag <= w.last && (tag != w.last || extra < w.extra || tag == 0) || w.err != nil {
		return nil, w.fail(fmt.Errorf("entry %x %x is not after %x %x", tag, extra, w.last, w.extra))
	}
	if w.page == nil {
		if err := w.begin(); err != nil {
			return nil, err
		}
	}
	w.last, w.extra = tag, extra
	w.r.filter.Add(tag)
	i := w.n
	binary.LittleEndian.PutUint64(w.page[i*tagSize:], tag)
	rest := w.r.layout.rest(w.page, i)
	binary.LittleEndian.PutUint16(rest, extra)
	if w.n++; w.n == w.r.layout.perPage {
		w.n, w.page = 0, nil // the caller still completes the entry
	}
	return rest, nil
}

// begin begins a page. The one before, if any, is complete.
func (w *Writer) begin() error {
	w.seal()
	if len(w.buffer) == cap(w.buffer) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	l := &w.r.layout
	if l.pages >= math.MaxInt32/l.perPage {
		return w.fail(fmt.Errorf("more than %d entries", l.pages*l.perPage))
	}
	at := len(w.buffer)
	w.buffer = w.buffer[:at+pageSize]
	w.page = w.buffer[at:]
	clear(w.page)
	w.r.index = append(offheap.Room(w.r.memory[1], w.r.index, 1), 0)
	l.pages++
	return nil
}

// seal completes the last page in the buffer.
func (w *Writer) seal() {
	if n := len(w.buffer); n > 0 {
		page := w.buffer[n-pageSize:]
		w.r.index[len(w.r.index)-1] = uint32(w.last >> 32)
		binary.LittleEndian.PutUint32(page[pageData:], checksum(uint32(w.r.layout.pages-1), page[:pageData]))
	}
}

func (w *Writer) flush() error {
	if err := w.write(w.buffer, w.written); err != nil {
		return err
	}
	w.written += int64(len(w.buffer))
	w.buffer = w.buffer[:0]
	return nil
}

func (w *Writer) write(b []byte, at int64) error {
	if w.err == nil {
		if _, err := w.r.file.WriteAt(b, at); err != nil {
			w.err = fmt.Errorf("write cache file: %w", err)
		}
	}
	return w.err
}

func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = fmt.Errorf("write cache file %s: %w", w.r.path, err)
	}
	return w.err
}

// Finish completes the file and returns the run. It does not sync the file: see [Run.Sync]. After an error the file is
// deleted.
func (w *Writer) Finish() (*Run, error) {
	l := &w.r.layout
	if l.pages > 0 {
		l.entries = l.pages * l.perPage
		if w.page != nil {
			l.entries -= l.perPage - w.n
		}
		w.seal()
	}
	_ = w.flush() // write returns the first error
	filter, index := bytesOf(w.r.filter), bytesOf(w.r.index)
	l.sum = checksum(checksum(0, filter), index)
	_ = w.write(filter, l.filterAt())
	_ = w.write(index, l.indexAt())
	if err := w.write(l.header(), 0); err != nil {
		w.Abort()
		return nil, err
	}
	r := w.r
	w.r = nil
	prepareLookups(r.file)
	return r, nil
}

// Abort deletes the file. It does nothing after Finish.
func (w *Writer) Abort() {
	if w.r != nil {
		_ = w.r.Remove() // a file that remains is not named anywhere, and is truncated if its path is used again
		w.r = nil
	}
}
