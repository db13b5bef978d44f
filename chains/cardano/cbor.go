package cardano

import (
	"encoding/binary"
	"fmt"
	"math"
)

// The major types of CBOR (RFC 8949, section 3.1), as the three high bits of an item's first byte tell them.
const (
	majorUint = iota
	majorNegative
	majorBytes
	majorText
	majorArray
	majorMap
	majorTag
	majorSimple
)

var majorNames = [...]string{"an unsigned integer", "a negative integer", "a byte string", "a text", "an array", "a map", "a tag", "a simple value"}

// Tags that occur in blocks.
const (
	tagBignum         = 2
	tagNegativeBignum = 3
	tagEncoded        = 24 // a byte string that holds CBOR
	tagSet            = 258
)

const (
	indefinite = -1   // the length of an array or map that ends with a break
	breakByte  = 0xff //
)

// walker walks over CBOR without copying. After its first fault it stands at the end and gives zeros, so callers look
// at err where it suits them and loops end by themselves.
type walker struct {
	b    []byte
	at   int
	err  error
	open []int // what skip has yet to return to; kept for its memory
}

// reset begins to walk over other bytes.
func (w *walker) reset(b []byte) { w.b, w.at, w.err = b, 0, nil }

func (w *walker) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("offset %d: %w", w.at, fmt.Errorf(format, args...))
	}
	w.at = len(w.b)
}

// failAt is fail for a fault that was noticed after it was passed.
func (w *walker) failAt(at int, format string, args ...any) {
	if w.err == nil {
		w.at = at
	}
	w.fail(format, args...)
}

// major is the type of the next item without taking it; of none at the end.
func (w *walker) major() int {
	if w.at < len(w.b) {
		return int(w.b[w.at] >> 5)
	}
	return -1
}

// head takes an item's first bytes: its type and the number that goes with it. A break is no item. Whoever expects
// an item of one type names it in what.
func (w *walker) head(what string) (major int, n uint64, endless bool) {
	if w.at >= len(w.b) {
		w.fail("expected %s, found the end", what)
		return majorUint, 0, false
	}
	first := w.b[w.at]
	major, n = int(first>>5), uint64(first&0x1f)
	if n < 24 {
		w.at++
		return major, n, false
	}
	rest := w.b[w.at+1:]
	switch {
	case n == 24 && len(rest) >= 1:
		w.at += 2
		return major, uint64(rest[0]), false
	case n == 25 && len(rest) >= 2:
		w.at += 3
		return major, uint64(binary.BigEndian.Uint16(rest)), false
	case n == 26 && len(rest) >= 4:
		w.at += 5
		return major, uint64(binary.BigEndian.Uint32(rest)), false
	case n == 27 && len(rest) >= 8:
		w.at += 9
		return major, binary.BigEndian.Uint64(rest), false
	case n == 31 && major >= majorBytes && major <= majorMap:
		w.at++
		return major, 0, true
	case n < 28:
		w.fail("expected %s, found the end", what)
	default:
		w.fail("expected %s, found the byte %02x", what, first)
	}
	return majorUint, 0, false
}

// expect takes the head of an item of one type.
func (w *walker) expect(major int, what string) (n uint64, endless bool) {
	at := w.at
	found, n, endless := w.head(what)
	if found != major && w.err == nil {
		w.failAt(at, "expected %s as %s, found %s", what, majorNames[major], majorNames[found])
		return 0, false
	}
	return n, endless
}

// array takes the head of an array; its items are walked over with more, or field and end. Its length is
// indefinite, or not above the number of bytes left.
func (w *walker) array(what string) int {
	return w.length(majorArray, 1, what)
}

// pairs is array for a map and its number of pairs.
func (w *walker) pairs(what string) int {
	return w.length(majorMap, 2, what)
}

func (w *walker) length(major, least int, what string) int {
	at := w.at
	n, endless := w.expect(major, what)
	if endless {
		return indefinite
	}
	if left := len(w.b) - w.at; n > uint64(left/least) {
		w.failAt(at, "%s of %d items where %d bytes are left", what, n, left)
		return 0
	}
	return int(n)
}

// more reports whether an array or map of *n items goes on, and counts down.
func (w *walker) more(n *int) bool {
	switch {
	case *n > 0 && w.err == nil:
		*n--
		return true
	case *n == 0 || w.err != nil:
		return false
	case w.at >= len(w.b):
		w.fail("expected an item or a break, found the end")
		return false
	case w.b[w.at] == breakByte:
		w.at++
		*n = 0
		return false
	}
	return true
}

// field goes to the next item of an array that must have one more.
func (w *walker) field(n *int, what string) {
	if !w.more(n) {
		w.fail("expected %s, found the end of its array", what)
	}
}

// end leaves an array that must have no more items.
func (w *walker) end(n *int, what string) {
	if w.more(n) {
		w.fail("%s has more items than expected", what)
	}
}

// uint takes a number from 0 to 2^64-1.
func (w *walker) uint(what string) uint64 {
	at := w.at
	major, n, _ := w.head(what)
	switch {
	case w.err != nil || major == majorUint:
		return n
	case major == majorTag && n == tagBignum:
		return w.bignum(at, what)
	}
	w.failAt(at, "expected %s as an unsigned integer, found %s", what, majorNames[major])
	return 0
}

// int takes a number of 64 bits with a sign.
func (w *walker) int(what string) int64 {
	at := w.at
	major, n, _ := w.head(what)
	negative := false
	switch {
	case w.err != nil:
		return 0
	case major == majorUint:
	case major == majorNegative:
		negative = true
	case major == majorTag && (n == tagBignum || n == tagNegativeBignum):
		negative = n == tagNegativeBignum
		n = w.bignum(at, what)
	default:
		w.failAt(at, "expected %s as an integer, found %s", what, majorNames[major])
		return 0
	}
	if n > math.MaxInt64 {
		w.failAt(at, "%s does not fit in 64 bits with a sign", what)
		return 0
	}
	if negative {
		return -1 - int64(n)
	}
	return int64(n)
}

// bignum takes the bytes of a number whose tag stands at at.
func (w *walker) bignum(at int, what string) (n uint64) {
	for _, c := range w.bytes(what) {
		if n>>56 != 0 {
			w.failAt(at, "%s does not fit in 64 bits", what)
			return 0
		}
		n = n<<8 | uint64(c)
	}
	return n
}

// bytes takes a byte string. One in pieces is put together in memory of its own.
func (w *walker) bytes(what string) []byte { return w.str(majorBytes, what) }

// text takes a text, which may not be UTF-8.
func (w *walker) text(what string) []byte { return w.str(majorText, what) }

func (w *walker) str(major int, what string) []byte {
	n, endless := w.expect(major, what)
	if !endless {
		return w.take(n, what)
	}
	var whole []byte
	for pieces := indefinite; w.more(&pieces); {
		n, endless := w.expect(major, what)
		if endless {
			w.fail("a piece of %s is in pieces", what)
		}
		whole = append(whole, w.take(n, what)...)
	}
	return whole
}

func (w *walker) take(n uint64, what string) []byte {
	if n > uint64(len(w.b)-w.at) {
		w.fail("%s of %d bytes where %d are left", what, n, len(w.b)-w.at)
		return nil
	}
	end := w.at + int(n)
	b := w.b[w.at:end:end]
	w.at = end
	return b
}

// sized takes a byte string of so many bytes; nil where it has another number.
func (w *walker) sized(size int, what string) []byte {
	at := w.at
	b := w.bytes(what)
	if len(b) != size && w.err == nil {
		w.failAt(at, "expected %s of %d bytes, found %d", what, size, len(b))
	}
	if w.err != nil {
		return nil
	}
	return b
}

// encoded takes a byte string that holds CBOR and is tagged so.
func (w *walker) encoded(what string) []byte {
	at := w.at
	if n, _ := w.expect(majorTag, what); n != tagEncoded && w.err == nil {
		w.failAt(at, "expected %s tagged %d, found tag %d", what, tagEncoded, n)
	}
	return w.bytes(what)
}

// set takes the head of an array that Conway may tag as a set.
func (w *walker) set(what string) int {
	if w.major() == majorTag {
		at := w.at
		if _, n, _ := w.head(what); n != tagSet && w.err == nil {
			w.failAt(at, "expected %s as an array or tagged %d, found tag %d", what, tagSet, n)
		}
	}
	return w.array(what)
}

// null takes a null if it is next.
func (w *walker) null() bool {
	if w.at < len(w.b) && w.b[w.at] == 0xf6 {
		w.at++
		return true
	}
	return false
}

// hash takes a byte string of 32 bytes; zero if it has another number of bytes.
func (w *walker) hash(what string) (h [32]byte) {
	copy(h[:], w.sized(len(h), what))
	return h
}

// lookup is the bytes of the value under a number in the map that is next; nil if there is none.
func (w *walker) lookup(key uint64) []byte {
	for n := w.pairs("map"); w.more(&n); {
		if w.major() != majorUint {
			w.skip("key")
			w.skip("value")
			continue
		}
		k := w.uint("key")
		if item := w.item("value"); k == key {
			return item
		}
	}
	return nil
}

// item takes an item of any type and is its bytes.
func (w *walker) item(what string) []byte {
	start := w.at
	w.skip(what)
	if w.err != nil {
		return nil
	}
	return w.b[start:w.at:w.at]
}

// skip passes an item, however deep: arrays of known length are a count of items to come, and only those that end
// with a break need to be remembered.
func (w *walker) skip(what string) {
	w.open = w.open[:0]
	for left := 1; ; {
		for left == 0 {
			if len(w.open) == 0 {
				return
			}
			left = w.open[len(w.open)-1]
			w.open = w.open[:len(w.open)-1]
		}
		if w.err != nil {
			return
		}
		if left == indefinite {
			if w.at < len(w.b) && w.b[w.at] == breakByte {
				w.at++
				left = 0
				continue
			}
		} else {
			left--
		}
		at := w.at
		major, n, endless := w.head(what)
		items := 0
		switch major {
		case majorBytes, majorText:
			if endless {
				w.skipPieces(major, what)
			} else {
				w.take(n, what)
			}
		case majorArray, majorMap:
			if endless {
				items = indefinite
				break
			}
			if n > uint64(len(w.b)-w.at) {
				w.failAt(at, "%d items where %d bytes are left", n, len(w.b)-w.at)
				break
			}
			items = int(n) << (major - majorArray)
		case majorTag:
			items = 1
		}
		switch {
		case items == 0:
		case items != indefinite && left != indefinite:
			left += items
		default:
			w.open = append(w.open, left)
			left = items
		}
	}
}

// skipPieces passes what follows the head of a string in pieces.
func (w *walker) skipPieces(major int, what string) {
	for pieces := indefinite; w.more(&pieces); {
		n, endless := w.expect(major, what)
		if endless {
			w.fail("a piece of a string is in pieces")
		}
		w.take(n, what)
	}
}
