package immutable

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// readAhead is the number of bytes to read of a chunk at a time if blocks are read in order.
const readAhead = 256 << 10

// Reader reads blocks. It keeps the last chunk open, and is for one goroutine.
type Reader struct {
	db     *DB
	chunk  *chunk
	window []byte // of the chunk from at on
	at     int64
	buffer []byte
	next   int64 // end of the last block that was read
}

// Reader returns a reader, which must be closed.
func (d *DB) Reader() *Reader { return &Reader{db: d} }

// Read reads one block as [Reader.Read] does. To read more than a few, use [DB.Reader].
func (d *DB) Read(e Entry, buf []byte) ([]byte, error) {
	r := d.Reader()
	defer r.Close()
	return r.Read(e, buf)
}

// Read returns the bytes of a block: a CBOR array of the era's number and the block. It uses buf if it is large enough.
// The error is of kind [model.BadSource]: bad_checksum if they do not match the index, bad_chunk if the chunk ends
// before. It names chunk, offset, slot and hash.
func (r *Reader) Read(e Entry, buf []byte) ([]byte, error) {
	if r.chunk == nil || r.chunk.number != e.Chunk {
		r.Close()
		c, err := r.db.open(e.Chunk)
		if err != nil {
			return nil, err
		}
		r.chunk = c
	}
	raw, err := r.bytes(e)
	if err != nil {
		return nil, r.db.errorf("bad_chunk", e, "%w", err)
	}
	if got := crc32.ChecksumIEEE(raw); got != e.CRC {
		r.window = nil // the buffer may be older than the file
		return nil, r.db.errorf("bad_checksum", e, "the CRC-32 of the %d bytes is %08x, expected %08x", len(raw), got, e.CRC)
	}
	return append(buf[:0], raw...), nil
}

// bytes returns the bytes of a block, which are valid until the next call.
func (r *Reader) bytes(e Entry) ([]byte, error) {
	if e.Size < 0 || e.Size > maxBlockSize {
		return nil, fmt.Errorf("invalid block size %d", e.Size)
	}
	if e.Offset < r.at || e.Offset+int64(e.Size) > r.at+int64(len(r.window)) {
		size := e.Size
		if e.Offset == r.next {
			size = max(size, readAhead)
		}
		r.buffer = slices.Grow(r.buffer[:0], size)[:size]
		n, err := r.chunk.ReadAt(r.buffer, e.Offset)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		r.window, r.at = r.buffer[:n], e.Offset
		if n < e.Size {
			return nil, fmt.Errorf("the chunk is truncated: it has %d of the %d bytes of this block", n, e.Size)
		}
	}
	r.next = e.Offset + int64(e.Size)
	return r.window[e.Offset-r.at:][:e.Size], nil
}

// Close closes the open chunk.
func (r *Reader) Close() {
	if r.chunk != nil {
		r.chunk.close() // read only
	}
	r.chunk, r.window, r.next = nil, nil, 0
}
