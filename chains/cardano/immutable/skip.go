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

// elements reads the head of an array and returns what stands behind it.
func elements(b []byte) ([]byte, error) {
	h, err := readHead(b)
	if err != nil {
		return nil, err
	}
	if h.major != majorArray {
		return nil, fmt.Errorf("byte 0x%02x where an array must begin", b[0])
	}
	return b[h.size:], nil
}

// unsigned reads an unsigned number and returns what stands behind it.
func unsigned(b []byte) (uint64, []byte, error) {
	h, err := readHead(b)
	if err != nil {
		return 0, nil, err
	}
	if h.major != majorUint {
		return 0, nil, fmt.Errorf("byte 0x%02x where a number must begin", b[0])
	}
	return h.argument, b[h.size:], nil
}

// after is what stands behind the first n items of b.
func after(b []byte, n int) ([]byte, error) {
	for range n {
		size, err := skip(b)
		if err != nil {
			return nil, err
		}
		b = b[size:]
	}
	return b, nil
}
