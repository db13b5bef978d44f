package run

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"unsafe"
)

const (
	magic      = "birthrun"
	version    = 1
	headerSize = 4096

	// Smaller pages cost less to copy from the page cache and to verify, larger ones need less memory for the index.
	pageSize = 1024
	pageData = pageSize - 4 // the checksum follows

	tagSize   = 8
	restSize  = 10 // of an entry without tag and payload
	indexSize = 4  // bytes per page in the page index

	// MaxPayload is the maximum number of bytes of a payload: four entries in a page.
	MaxPayload = pageData/4 - tagSize - restSize
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(initial uint32, b []byte) uint32 { return crc32.Update(initial, castagnoli, b) }

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
func (l *layout) indexAt() int64        { return l.filterAt() + int64(l.blocks)*FilterBlockSize }
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
	if string(b[:8]) != magic {
		return l, errors.New("it does not begin with " + magic)
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != version {
		return l, fmt.Errorf("its version is %d, expected %d", v, version)
	}
	payload, entries, blocks := binary.LittleEndian.Uint32(b[12:]), binary.LittleEndian.Uint64(b[16:]), binary.LittleEndian.Uint64(b[32:])
	if payload > MaxPayload || entries > math.MaxInt32 || blocks == 0 || blocks > math.MaxInt32 {
		return l, errors.New("its header is damaged")
	}
	l = layout{payload: int(payload), perPage: entriesPerPage(int(payload)), entries: int(entries), blocks: int(blocks)}
	l.pages = (l.entries + l.perPage - 1) / l.perPage
	if l.sum = binary.LittleEndian.Uint32(b[64:]); !bytes.Equal(l.header(), b) {
		return l, errors.New("its header is damaged")
	}
	if l.size() != size {
		return l, fmt.Errorf("it has %d bytes, expected %d", size, l.size())
	}
	return l, nil
}

// bytesOf returns the memory of a slice of numbers. They are little-endian: the supported processors are.
func bytesOf[T uint32 | FilterBlock](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(*new(T))))
}
