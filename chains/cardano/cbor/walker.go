package cbor

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
)

// The major types (RFC 8949, section 3.1): the three high bits of the first byte of an item.
const (
	Uint = iota
	Negative
	Bytes
	Text
	Array
	Map
	Tag
	Simple
)

var majorNames = [...]string{"an unsigned integer", "a negative integer", "a byte string", "a text", "an array", "a map", "a tag", "a simple value"}

// Tags in blocks.
const (
	TagBignum         = 2
	TagNegativeBignum = 3
	TagEncoded        = 24 // a byte string that holds CBOR
	TagSet            = 258
)

const (
	Indefinite = -1   // the length of an array or map that ends with a break
	Break      = 0xff //
)

// Walker reads CBOR in place. After its first error Offset is at the end and methods return zero values.
type Walker struct {
	Data    []byte
	Offset  int
	Err     error
	skipper Skipper
}

// Reset starts to walk over other bytes.
func (w *Walker) Reset(b []byte) { w.Data, w.Offset, w.Err = b, 0, nil }

// Fail sets the error, unless there is one, and stops the walk.
func (w *Walker) Fail(format string, args ...any) {
	if w.Err == nil {
		w.Err = fmt.Errorf("offset %d: %w", w.Offset, fmt.Errorf(format, args...))
	}
	w.Offset = len(w.Data)
}

// failShort is Fail for data that ends too early: the error is [ErrShort].
func (w *Walker) failShort(format string, args ...any) {
	failed := w.Err != nil
	if w.Fail(format, args...); !failed {
		w.Err = shortError{w.Err}
	}
}

// shortError is [ErrShort] with a place.
type shortError struct{ error }

func (shortError) Is(target error) bool { return target == ErrShort }

// FailAt is Fail for an error at an earlier offset.
func (w *Walker) FailAt(at int, format string, args ...any) {
	if w.Err == nil {
		w.Offset = at
	}
	w.Fail(format, args...)
}

// Major returns the type of the next item without reading it; -1 at the end.
func (w *Walker) Major() int {
	if w.Offset < len(w.Data) {
		return int(w.Data[w.Offset] >> 5)
	}
	return -1
}

// Head takes the first bytes of an item: its type, and its value or length. A break is not an item. what names the
// expected item in errors.
func (w *Walker) Head(what string) (major int, n uint64, indefinite bool) {
	if w.Offset < len(w.Data) {
		switch first := w.Data[w.Offset]; {
		case first&lengthBits < 24:
			w.Offset++
			return int(first >> 5), uint64(first & lengthBits), false
		case first&lengthBits == 24 && w.Offset+1 < len(w.Data):
			w.Offset += 2
			return int(first >> 5), uint64(w.Data[w.Offset-1]), false
		}
	}
	major, n, size := head(w.Data[w.Offset:])
	switch {
	case size == 0:
		w.failShort("expected %s, found the end", what)
		return Uint, 0, false
	case size < 0:
		w.Fail("expected %s, found the byte %02x", what, w.Data[w.Offset])
		return Uint, 0, false
	}
	indefinite = w.Data[w.Offset]&lengthBits == lengthIndefinite
	w.Offset += size
	return major, n, indefinite
}

const (
	lengthBits       = 0x1f // of a first byte
	lengthIndefinite = 31
)

// head reads the first bytes of an item. size is their number; 0 if b ends before, -1 if they do not begin an item.
func head(b []byte) (major int, n uint64, size int) {
	if len(b) == 0 {
		return 0, 0, 0
	}
	major, n = int(b[0]>>5), uint64(b[0]&lengthBits)
	if n < 24 {
		return major, n, 1
	}
	rest := b[1:]
	switch {
	case n == 24 && len(rest) >= 1:
		return major, uint64(rest[0]), 2
	case n == 25 && len(rest) >= 2:
		return major, uint64(binary.BigEndian.Uint16(rest)), 3
	case n == 26 && len(rest) >= 4:
		return major, uint64(binary.BigEndian.Uint32(rest)), 5
	case n == 27 && len(rest) >= 8:
		return major, binary.BigEndian.Uint64(rest), 9
	case n == lengthIndefinite && major >= Bytes && major <= Map:
		return major, 0, 1
	case n < 28:
		return 0, 0, 0
	}
	return 0, 0, -1
}

// expect reads the head of an item of one type.
func (w *Walker) expect(major int, what string) (n uint64, endless bool) {
	at := w.Offset
	found, n, endless := w.Head(what)
	if found != major && w.Err == nil {
		w.FailAt(at, "expected %s as %s, found %s", what, majorNames[major], majorNames[found])
		return 0, false
	}
	return n, endless
}

// Array reads the head of an array, whose items follow with More, or Field and End. It returns [Indefinite], or a
// length of at most the bytes that are left.
func (w *Walker) Array(what string) int {
	return w.length(Array, 1, what)
}

// Map is Array for a map; it returns the number of pairs.
func (w *Walker) Map(what string) int {
	return w.length(Map, 2, what)
}

func (w *Walker) length(major, least int, what string) int {
	at := w.Offset
	n, endless := w.expect(major, what)
	if endless {
		return Indefinite
	}
	if left := len(w.Data) - w.Offset; n > uint64(left/least) {
		w.Offset = at
		w.failShort("%s of %d items, but only %d bytes are left", what, n, left)
		return 0
	}
	return int(n)
}

// More reports whether an array or map of *n items has another one, and decrements n. It reads the break.
func (w *Walker) More(n *int) bool {
	switch {
	case *n > 0 && w.Err == nil:
		*n--
		return true
	case *n == 0 || w.Err != nil:
		return false
	case w.Offset >= len(w.Data):
		w.failShort("expected an item or a break, found the end")
		return false
	case w.Data[w.Offset] == Break:
		w.Offset++
		*n = 0
		return false
	}
	return true
}

// Field goes to the next item of an array that must have one.
func (w *Walker) Field(n *int, what string) {
	if !w.More(n) {
		w.Fail("expected %s, found the end of its array", what)
	}
}

// End leaves an array that must have no more items.
func (w *Walker) End(n *int, what string) {
	if w.More(n) {
		w.Fail("%s has more items than expected", what)
	}
}

// Uint reads a number from 0 to 2^64-1.
func (w *Walker) Uint(what string) uint64 {
	at := w.Offset
	major, n, _ := w.Head(what)
	switch {
	case w.Err != nil || major == Uint:
		return n
	case major == Tag && n == TagBignum:
		return w.bignum(at, what)
	}
	w.FailAt(at, "expected %s as an unsigned integer, found %s", what, majorNames[major])
	return 0
}

// Int reads a signed number of 64 bits.
func (w *Walker) Int(what string) int64 {
	at := w.Offset
	major, n, _ := w.Head(what)
	negative := false
	switch {
	case w.Err != nil:
		return 0
	case major == Uint:
	case major == Negative:
		negative = true
	case major == Tag && (n == TagBignum || n == TagNegativeBignum):
		negative = n == TagNegativeBignum
		n = w.bignum(at, what)
	default:
		w.FailAt(at, "expected %s as an integer, found %s", what, majorNames[major])
		return 0
	}
	if n > math.MaxInt64 {
		w.FailAt(at, "%s does not fit in 64 bits with a sign", what)
		return 0
	}
	if negative {
		return -1 - int64(n)
	}
	return int64(n)
}

// Integer reads a number of any size.
func (w *Walker) Integer(what string) *big.Int {
	at := w.Offset
	major, n, _ := w.Head(what)
	v := new(big.Int).SetUint64(n)
	switch {
	case w.Err != nil || major == Uint:
	case major == Negative:
		v.Not(v)
	case major == Tag && n == TagBignum:
		v.SetBytes(w.Bytes(what))
	case major == Tag && n == TagNegativeBignum:
		v.Not(v.SetBytes(w.Bytes(what)))
	default:
		w.FailAt(at, "expected %s as an integer, found %s", what, majorNames[major])
	}
	return v
}

// bignum reads the bytes of a number whose tag is at an offset.
func (w *Walker) bignum(at int, what string) (n uint64) {
	for _, c := range w.Bytes(what) {
		if n>>56 != 0 {
			w.FailAt(at, "%s does not fit in 64 bits", what)
			return 0
		}
		n = n<<8 | uint64(c)
	}
	return n
}

// Bytes reads a byte string. It copies a string of indefinite length.
func (w *Walker) Bytes(what string) []byte { return w.str(Bytes, what) }

// Text reads a text string without checking that it is UTF-8.
func (w *Walker) Text(what string) []byte { return w.str(Text, what) }

func (w *Walker) str(major int, what string) []byte {
	n, endless := w.expect(major, what)
	if !endless {
		return w.take(n, what)
	}
	var whole []byte
	for pieces := Indefinite; w.More(&pieces); {
		n, endless := w.expect(major, what)
		if endless {
			w.Fail("a piece of %s is in pieces", what)
		}
		whole = append(whole, w.take(n, what)...)
	}
	return whole
}

func (w *Walker) take(n uint64, what string) []byte {
	if n > uint64(len(w.Data)-w.Offset) {
		w.failShort("%s of %d bytes, but only %d are left", what, n, len(w.Data)-w.Offset)
		return nil
	}
	end := w.Offset + int(n)
	b := w.Data[w.Offset:end:end]
	w.Offset = end
	return b
}

// BytesOf reads a byte string of this size; it returns nil for any other size.
func (w *Walker) BytesOf(size int, what string) []byte {
	at := w.Offset
	b := w.Bytes(what)
	if len(b) != size && w.Err == nil {
		w.FailAt(at, "expected %s of %d bytes, found %d", what, size, len(b))
	}
	if w.Err != nil {
		return nil
	}
	return b
}

// Encoded reads a byte string with the tag for embedded CBOR.
func (w *Walker) Encoded(what string) []byte {
	at := w.Offset
	if n, _ := w.expect(Tag, what); n != TagEncoded && w.Err == nil {
		w.FailAt(at, "expected %s tagged %d, found tag %d", what, TagEncoded, n)
	}
	return w.Bytes(what)
}

// Set reads the head of an array that may have the tag of a set (Conway).
func (w *Walker) Set(what string) int {
	if w.Major() == Tag {
		at := w.Offset
		if _, n, _ := w.Head(what); n != TagSet && w.Err == nil {
			w.FailAt(at, "expected %s as an array or tagged %d, found tag %d", what, TagSet, n)
		}
	}
	return w.Array(what)
}

// Hash reads a byte string of 32 bytes.
func (w *Walker) Hash(what string) (h [32]byte) {
	copy(h[:], w.BytesOf(len(h), what))
	return h
}

// Lookup returns the bytes of the value of a numeric key in the next map, or nil if the key is absent.
func (w *Walker) Lookup(key uint64) []byte {
	for n := w.Map("map"); w.More(&n); {
		if w.Major() != Uint {
			w.Skip("key")
			w.Skip("value")
			continue
		}
		k := w.Uint("key")
		if item := w.Item("value"); k == key {
			return item
		}
	}
	return nil
}

// Item returns the bytes of an item of any type.
func (w *Walker) Item(what string) []byte {
	start := w.Offset
	w.Skip(what)
	if w.Err != nil {
		return nil
	}
	return w.Data[start:w.Offset:w.Offset]
}

// Skip passes an item of any depth.
func (w *Walker) Skip(what string) {
	if w.Err != nil {
		return
	}
	w.skipper.start(w.Offset)
	err := w.skipper.skip(w.Data)
	switch {
	case err == ErrShort:
		w.failShort("expected %s, found the end", what)
	case err != nil:
		w.FailAt(w.skipper.at, "expected %s: %w", what, err)
	default:
		w.Offset = w.skipper.at
	}
}

// Element goes to an element of the array that is next.
func (w *Walker) Element(index int, what string) {
	n := w.Array(what)
	for range index {
		w.Field(&n, what)
		w.Skip(what)
	}
	w.Field(&n, what)
}
