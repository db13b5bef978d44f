package immutable

import (
	"errors"
	"fmt"
)

// maxNesting bounds how deep items may stand in one another. Real blocks keep well under it; damaged ones may not.
const maxNesting = 512

// errShort says that the bytes end before the item does.
var errShort = errors.New("the bytes end inside an item")

const (
	majorUint  = 0
	majorBytes = 2
	majorText  = 3
	majorArray = 4
	majorMap   = 5
	majorTag   = 6
	majorOther = 7

	breakByte = 0xff
)

// head is the first bytes of an item (RFC 8949, 3): what it is, its argument, and how many bytes say so.
type head struct {
	major      byte
	indefinite bool
	argument   uint64
	size       int
}

func readHead(b []byte) (head, error) {
	if len(b) == 0 {
		return head{}, errShort
	}
	h := head{major: b[0] >> 5, size: 1}
	switch info := b[0] & 31; {
	case info < 24:
		h.argument = uint64(info)
	case info < 28:
		h.size += 1 << (info - 24)
		if len(b) < h.size {
			return head{}, errShort
		}
		for _, c := range b[1:h.size] {
			h.argument = h.argument<<8 | uint64(c)
		}
	case info == 31 && h.major >= majorBytes && h.major <= majorMap:
		h.indefinite = true
	default:
		return head{}, fmt.Errorf("byte 0x%02x begins no CBOR item", b[0])
	}
	return h, nil
}

// skip is how many bytes the CBOR item at the start of b has. The error is [errShort] where b ends inside it.
func skip(b []byte) (int, error) { return skipNested(b, maxNesting) }

func skipNested(b []byte, nesting int) (int, error) {
	if nesting == 0 {
		return 0, fmt.Errorf("CBOR items nest deeper than %d", maxNesting)
	}
	h, err := readHead(b)
	if err != nil {
		return 0, err
	}
	at := h.size
	if h.indefinite {
		for {
			if at >= len(b) {
				return 0, errShort
			}
			if b[at] == breakByte {
				return at + 1, nil
			}
			if h.major <= majorText && (b[at]>>5 != h.major || b[at]&31 == 31) {
				return 0, fmt.Errorf("byte 0x%02x begins no piece of a string", b[at])
			}
			// Keys and values of a map are counted together: an odd number ends in a break where a value is due.
			for range itemsEach(h.major) {
				n, err := skipNested(b[at:], nesting-1)
				if err != nil {
					return 0, err
				}
				at += n
			}
		}
	}
	items := uint64(0)
	switch h.major {
	case majorBytes, majorText:
		if h.argument > uint64(len(b)-at) {
			return 0, errShort
		}
		return at + int(h.argument), nil
	case majorTag:
		items = 1
	case majorArray, majorMap:
		// Every item has a byte at least.
		if h.argument > uint64(len(b)-at) {
			return 0, errShort
		}
		items = h.argument * uint64(itemsEach(h.major))
	}
	for ; items > 0; items-- {
		n, err := skipNested(b[at:], nesting-1)
		if err != nil {
			return 0, err
		}
		at += n
	}
	return at, nil
}

// itemsEach is how many items make one element of an array or a map, or one piece of a string.
func itemsEach(major byte) int {
	if major == majorMap {
		return 2
	}
	return 1
}

// element is what stands from the element with an index on in the array at the start of b. The element begins there, but may
// not be whole.
func element(b []byte, index int) ([]byte, error) {
	h, err := readHead(b)
	if err != nil {
		return nil, err
	}
	if h.major != majorArray || !h.indefinite && h.argument <= uint64(index) {
		return nil, fmt.Errorf("byte 0x%02x where an array of %d or more must begin", b[0], index+1)
	}
	b = b[h.size:]
	for range index {
		size, err := skip(b)
		if err != nil {
			return nil, err
		}
		b = b[size:]
	}
	if len(b) > 0 && b[0] == breakByte {
		return nil, fmt.Errorf("an array ends before its element %d", index)
	}
	return b, nil
}

// unsigned is the number at the start of b.
func unsigned(b []byte) (uint64, error) {
	h, err := readHead(b)
	if err != nil {
		return 0, err
	}
	if h.major != majorUint {
		return 0, fmt.Errorf("byte 0x%02x where a number must begin", b[0])
	}
	return h.argument, nil
}
