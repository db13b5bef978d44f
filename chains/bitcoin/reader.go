package bitcoin

import (
	"encoding/binary"
	"fmt"
)

// reader walks over serialized bytes. After its first fault it stands at the end and gives zeros, so callers look at
// err where it suits them and loops end by themselves.
type reader struct {
	b   []byte
	at  int
	err error
}

func (r *reader) left() int { return len(r.b) - r.at }

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("offset %d: %w", r.at, fmt.Errorf(format, args...))
	}
	r.at = len(r.b)
}

// take is the next n bytes, nil where fewer are left.
func (r *reader) take(n int, what string) []byte {
	if n > len(r.b)-r.at {
		r.fail("%s of %d bytes where %d are left", what, n, r.left())
		return nil
	}
	b := r.b[r.at : r.at+n : r.at+n]
	r.at += n
	return b
}

// count reads how many things follow, each of at least the given bytes: a number that cannot be is a fault before
// anyone makes room for it.
func (r *reader) count(least int, what string) int {
	if r.at < len(r.b) && r.b[r.at] < 0xfd {
		n := int(r.b[r.at])
		if n*least <= r.left()-1 {
			r.at++
			return n
		}
	}
	return r.wideCount(least, what)
}

// wideCount is count for the longer forms of a compact size, and for every fault.
func (r *reader) wideCount(least int, what string) int {
	at := r.at
	n, ok := r.compactSize()
	if r.err != nil {
		return 0
	}
	if !ok {
		r.at = at
		r.fail("count of %s is not in its shortest form", what)
		return 0
	}
	if n > uint64(r.left()/least) {
		left := r.left()
		r.at = at
		r.fail("%d %s where %d bytes are left", n, what, left)
		return 0
	}
	return int(n)
}

// compactSize is Bitcoin's variable length integer; not ok where a shorter form would have done.
func (r *reader) compactSize() (n uint64, ok bool) {
	first := r.take(1, "count")
	if first == nil {
		return 0, false
	}
	switch first[0] {
	case 0xfd:
		if b := r.take(2, "count"); b != nil {
			n = uint64(binary.LittleEndian.Uint16(b))
		}
		return n, n >= 0xfd
	case 0xfe:
		if b := r.take(4, "count"); b != nil {
			n = uint64(binary.LittleEndian.Uint32(b))
		}
		return n, n > 0xffff
	case 0xff:
		if b := r.take(8, "count"); b != nil {
			n = binary.LittleEndian.Uint64(b)
		}
		return n, n > 0xffffffff
	}
	return uint64(first[0]), true
}

// peek is the next byte without taking it, 0 at the end.
func (r *reader) peek(ahead int) byte {
	if r.at+ahead < len(r.b) {
		return r.b[r.at+ahead]
	}
	return 0
}

// knownCount reads a compact size that is known to be whole, in its shortest form, and to count what is there; next is
// where that begins. No block holds as much as only the longest form could say.
func knownCount(b []byte, at int) (n, next int) {
	switch first := b[at]; first {
	case 0xfd:
		return int(binary.LittleEndian.Uint16(b[at+1:])), at + 3
	case 0xfe:
		return int(binary.LittleEndian.Uint32(b[at+1:])), at + 5
	default:
		return int(first), at + 1
	}
}
