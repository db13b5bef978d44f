package ouroboros

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The major types of CBOR (RFC 8949, section 3.1).
const (
	majorUint  = 0
	majorBytes = 2
	majorText  = 3
	majorArray = 4
	majorMap   = 5
	majorTag   = 6
	majorOther = 7

	tagEncoded = 24 // a byte string that holds CBOR
	endless    = 31 // in the place of a length: up to a break
	breakByte  = 0xff
)

const (
	// maxDepth is how deep messages are nested at most; what they carry is in byte strings.
	maxDepth = 8
	// maxMessage is more than any message has: a block has at most 2 MB, in Byron.
	maxMessage = 4 << 20
)

var (
	errShort = errors.New("it ends too early")
	errDeep  = errors.New("it is nested too deep")
	errLarge = fmt.Errorf("it has more than %d bytes", maxMessage)
)

// head reads an item's first bytes: its type, the number that goes with it, and how many bytes they are. errShort where
// there are too few.
func head(b []byte) (major byte, n uint64, size int, indefinite bool, err error) {
	if len(b) == 0 {
		return 0, 0, 0, false, errShort
	}
	major = b[0] >> 5
	switch info := b[0] & 0x1f; {
	case info < 24:
		return major, uint64(info), 1, false, nil
	case info == endless && (major >= majorBytes && major <= majorMap || major == majorOther):
		return major, 0, 1, true, nil
	case info > 27:
		return 0, 0, 0, false, fmt.Errorf("the byte %02x begins no item", b[0])
	default:
		size = 1 << (info - 24)
	}
	if len(b) < 1+size {
		return 0, 0, 0, false, errShort
	}
	var wide [8]byte
	copy(wide[8-size:], b[1:])
	return major, binary.BigEndian.Uint64(wide[:]), 1 + size, false, nil
}

// item finds the end of the item at the beginning of bytes that come in pieces. The zero value is ready for one item.
type item struct {
	open   [maxDepth]uint64 // items that are still to come, by depth; forever where a break ends them
	depth  int
	at     int // bytes that were walked over
	opened bool
	heads  int // that were read
}

const forever = ^uint64(0)

// itemSize is the bytes of the item at the beginning of b. errShort where it is not all there; it then has at least need.
func itemSize(b []byte) (size, need int, err error) { return new(item).size(b) }

// size is that of the item at the beginning of b. errShort where it is not all there: it then has at least need bytes,
// and size goes on from where it was, with the same bytes and more.
func (t *item) size(b []byte) (size, need int, err error) {
	if !t.opened {
		t.open[0], t.opened = 1, true
	}
	for {
		if t.at > len(b) {
			return 0, t.at, errShort
		}
		for t.open[t.depth] == 0 {
			if t.depth == 0 {
				return t.at, t.at, nil
			}
			t.depth--
		}
		t.heads++
		major, n, width, indefinite, err := head(b[t.at:])
		if err != nil {
			return 0, len(b) + 1, err
		}
		if t.at += width; t.at > maxMessage {
			return 0, 0, errLarge
		}
		if major == majorOther && indefinite {
			if t.open[t.depth] != forever {
				return 0, 0, errors.New("it has a break where none can be")
			}
			t.open[t.depth] = 0
			continue
		}
		if t.open[t.depth] != forever {
			t.open[t.depth]--
		}
		switch major {
		case majorBytes, majorText:
			if indefinite {
				n = forever
				break
			}
			if n > maxMessage || t.at+int(n) > maxMessage {
				return 0, 0, errLarge
			}
			t.at += int(n)
			continue
		case majorArray, majorMap:
			if indefinite {
				n = forever
			} else if n > maxMessage {
				return 0, 0, errLarge
			} else if major == majorMap {
				n *= 2
			}
		case majorTag:
			n = 1
		default:
			continue
		}
		if t.depth++; t.depth == maxDepth {
			return 0, 0, errDeep
		}
		t.open[t.depth] = n
	}
}

// reader reads a message that is all there. After its first fault it gives zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) expect(major byte, what string) (n uint64, indefinite bool) {
	if r.err != nil {
		return 0, false
	}
	found, n, size, indefinite, err := head(r.b)
	if err == nil && found != major {
		err = fmt.Errorf("found the byte %02x", r.b[0])
	}
	if err != nil {
		r.err = fmt.Errorf("%s: %w", what, err)
		return 0, false
	}
	r.b = r.b[size:]
	return n, indefinite
}

func (r *reader) uint(what string) uint64 {
	n, _ := r.expect(majorUint, what)
	return n
}

// array opens an array of one of the lengths, which it returns; -1 where the length is not told: end then takes the
// break. No lengths: any.
func (r *reader) array(what string, lengths ...int) int {
	n, indefinite := r.expect(majorArray, what)
	if indefinite {
		return -1
	}
	for _, want := range lengths {
		if n == uint64(want) {
			return want
		}
	}
	if r.err == nil && len(lengths) > 0 {
		r.err = fmt.Errorf("%s has %d items, expected %d", what, n, lengths[len(lengths)-1])
	}
	return int(min(n, maxMessage))
}

// end closes an array whose length was not told.
func (r *reader) end(length int, what string) {
	if length != -1 || r.err != nil {
		return
	}
	if !r.atBreak() {
		r.err = fmt.Errorf("%s has more items than expected", what)
		return
	}
	r.b = r.b[1:]
}

func (r *reader) atBreak() bool { return len(r.b) > 0 && r.b[0] == breakByte }

// bytes is a byte string, in place where it is in one piece.
func (r *reader) bytes(what string) []byte {
	n, indefinite := r.expect(majorBytes, what)
	if indefinite {
		var all []byte
		for r.err == nil && !r.atBreak() {
			all = append(all, r.bytes(what)...)
		}
		r.end(-1, what)
		return all
	}
	if r.err == nil && n > uint64(len(r.b)) {
		r.err = fmt.Errorf("%s: %w", what, errShort)
	}
	if r.err != nil {
		return nil
	}
	s := r.b[:n:n]
	r.b = r.b[n:]
	return s
}

// encoded is the content of a byte string that holds CBOR and says so.
func (r *reader) encoded(what string) []byte {
	if tag, _ := r.expect(majorTag, what); r.err == nil && tag != tagEncoded {
		r.err = fmt.Errorf("%s has the tag %d, expected %d", what, tag, tagEncoded)
	}
	return r.bytes(what)
}

func appendHead(b []byte, major byte, n uint64) []byte {
	major <<= 5
	switch {
	case n < 24:
		return append(b, major|byte(n))
	case n < 1<<8:
		return append(b, major|24, byte(n))
	case n < 1<<16:
		return binary.BigEndian.AppendUint16(append(b, major|25), uint16(n))
	case n < 1<<32:
		return binary.BigEndian.AppendUint32(append(b, major|26), uint32(n))
	}
	return binary.BigEndian.AppendUint64(append(b, major|27), n)
}
