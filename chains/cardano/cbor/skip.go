package cbor

import (
	"errors"
	"fmt"
	"math"
)

// ErrShort is the error of data that ends inside an item.
var ErrShort = errors.New("the data ends inside an item")

// maxOpen is the most items of indefinite length that may be nested. Transactions have at most 16 KiB, so blocks stay
// far below it.
const maxOpen = 1 << 17

// Values of Skipper.left for items of indefinite length, which end with a break.
const (
	inArray  = -1
	inKeys   = -2 // of a map: a key or the break is next
	inValues = -3 // of a map: a value is next
	inBytes  = -4 // definite pieces of a byte string
	inText   = -5
)

// Skipper finds the end of an item in data that may arrive in pieces, without recursion. The zero value is ready for an
// item, and so is one that found an end.
type Skipper struct {
	at    int   // offset of the next head
	left  int   // items to come at this level, or one of the constants above
	open  []int // left of the levels around it; kept for its memory
	begun bool
}

// Skip returns the size of the item at the start of b. If b ends inside it the error is [ErrShort], and size is the least
// that the item has; the next call continues with the same bytes and more. Any other error is malformed CBOR.
func (s *Skipper) Skip(b []byte) (size int, err error) {
	if !s.begun {
		s.start(0)
	}
	if err = s.skip(b); err == ErrShort {
		return max(s.at, len(b)+1), err
	}
	s.begun = false
	return s.at, err
}

func (s *Skipper) start(at int) {
	s.at, s.left, s.open, s.begun = at, 1, s.open[:0], true
}

func (s *Skipper) skip(b []byte) error {
	for {
		for s.left == 0 {
			if len(s.open) == 0 {
				if s.at > len(b) {
					return ErrShort
				}
				return nil
			}
			s.left = s.open[len(s.open)-1]
			s.open = s.open[:len(s.open)-1]
		}
		if s.at >= len(b) {
			return ErrShort
		}
		first := b[s.at]
		major, n, size := int(first>>5), uint64(first&lengthBits), 1
		if n >= 24 {
			major, n, size = head(b[s.at:])
		}
		if size <= 0 {
			if size == 0 {
				return ErrShort
			}
			if first != Break || s.left >= 0 || s.left == inValues {
				return malformed(first)
			}
			s.at++
			s.left = 0
			continue
		}
		indefinite := first&lengthBits == lengthIndefinite
		switch s.left {
		case inArray:
		case inKeys:
			s.left = inValues
		case inValues:
			s.left = inKeys
		case inBytes, inText:
			if major != Bytes+inBytes-s.left || indefinite {
				return malformed(first)
			}
		default:
			s.left--
		}
		s.at += size
		items := 0
		switch major {
		case Bytes, Text:
			switch {
			case indefinite:
				items = inBytes - (major - Bytes)
			case n > uint64(math.MaxInt-s.at):
				s.at = math.MaxInt
				return ErrShort
			default:
				s.at += int(n)
			}
		case Array, Map:
			switch {
			case indefinite:
				items = inArray - (major - Array)
			case n > math.MaxInt32: // more than any data has
				s.at = math.MaxInt
				return ErrShort
			default:
				items = int(n) << (major - Array)
			}
		case Tag:
			items = 1
		}
		switch {
		case items == 0:
		case items > 0 && s.left >= 0:
			s.left += items
		case len(s.open) == maxOpen:
			return fmt.Errorf("more than %d nested items of indefinite length", maxOpen)
		default:
			s.open = append(s.open, s.left)
			s.left = items
		}
	}
}

func malformed(b byte) error { return fmt.Errorf("the byte %02x does not begin an item", b) }
