package block

import (
	"encoding/binary"
	"fmt"

	"birthmark/model"
)

const unknownVersion = "unknown_version"

// Reader reads serialized bytes. After the first error it is at the end and returns zeros, so callers can check err
// after several reads.
type Reader struct {
	b   []byte
	at  int
	err error
}

// NewReader returns a reader of b.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Left returns the number of bytes that are left.
func (r *Reader) Left() int { return len(r.b) - r.at }

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Fail sets the error, unless there is one already.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("offset %d: %w", r.at, fmt.Errorf(format, args...))
	}
	r.at = len(r.b)
}

// Newer sets the error to that of [model.Newer], with the code unknown_version.
func (r *Reader) Newer(format string, args ...any) {
	r.Fail("%w", model.Newer(unknownVersion, format, args...))
}

// Take returns the next n bytes, nil if fewer are left.
func (r *Reader) Take(n int, what string) []byte {
	if n > len(r.b)-r.at {
		r.Fail("%s of %d bytes, but only %d are left", what, n, r.Left())
		return nil
	}
	b := r.b[r.at : r.at+n : r.at+n]
	r.at += n
	return b
}

// Count reads the number of items that follow. Each has at least the given number of bytes, so a count that does not
// fit into the rest is an error before memory is allocated for it.
func (r *Reader) Count(least int, what string) int {
	if r.at < len(r.b) && r.b[r.at] < 0xfd {
		n := int(r.b[r.at])
		if n*least <= r.Left()-1 {
			r.at++
			return n
		}
	}
	return r.wideCount(least, what)
}

// wideCount is Count for the longer forms of a compact size, and for errors.
func (r *Reader) wideCount(least int, what string) int {
	at := r.at
	n, ok := r.CompactSize()
	if r.err != nil {
		return 0
	}
	if !ok {
		r.at = at
		r.Fail("count of %s is not in its shortest form", what)
		return 0
	}
	if n > uint64(r.Left()/least) {
		left := r.Left()
		r.at = at
		r.Fail("%d %s, but only %d bytes are left", n, what, left)
		return 0
	}
	return int(n)
}

// CompactSize reads a variable-length integer; ok is false if it is not in its shortest form.
func (r *Reader) CompactSize() (n uint64, ok bool) {
	first := r.Take(1, "count")
	if first == nil {
		return 0, false
	}
	switch first[0] {
	case 0xfd:
		if b := r.Take(2, "count"); b != nil {
			n = uint64(binary.LittleEndian.Uint16(b))
		}
		return n, n >= 0xfd
	case 0xfe:
		if b := r.Take(4, "count"); b != nil {
			n = uint64(binary.LittleEndian.Uint32(b))
		}
		return n, n > 0xffff
	case 0xff:
		if b := r.Take(8, "count"); b != nil {
			n = binary.LittleEndian.Uint64(b)
		}
		return n, n > 0xffffffff
	}
	return uint64(first[0]), true
}

// peek returns a byte without taking it, 0 at the end.
func (r *Reader) peek(ahead int) byte {
	if r.at+ahead < len(r.b) {
		return r.b[r.at+ahead]
	}
	return 0
}

// Count reads a compact size from well-formed bytes; next is the offset after it. Counts of the longest form do not fit
// into a block.
func Count(b []byte, at int) (n, next int) {
	switch first := b[at]; first {
	case 0xfd:
		return int(binary.LittleEndian.Uint16(b[at+1:])), at + 3
	case 0xfe:
		return int(binary.LittleEndian.Uint32(b[at+1:])), at + 5
	default:
		return int(first), at + 1
	}
}

// Output reads an output of well-formed bytes; next is the offset after it.
func Output(raw []byte, at int) (value uint64, script []byte, next int) {
	size, begin := Count(raw, at+8)
	return binary.LittleEndian.Uint64(raw[at:]), raw[begin : begin+size : begin+size], begin + size
}

// SkipOutputs returns the offset after the outputs that begin at an offset of well-formed bytes.
func SkipOutputs(raw []byte, at int) int {
	count, at := Count(raw, at)
	for range count {
		var size int
		size, at = Count(raw, at+8)
		at += size
	}
	return at
}

// AppendCompactSize appends a count in its shortest form.
func AppendCompactSize(b []byte, n uint64) []byte {
	switch {
	case n < 0xfd:
		return append(b, byte(n))
	case n <= 0xffff:
		return binary.LittleEndian.AppendUint16(append(b, 0xfd), uint16(n))
	default:
		return binary.LittleEndian.AppendUint32(append(b, 0xfe), uint32(n))
	}
}
