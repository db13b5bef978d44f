package jsonstream

import (
	"bytes"
	"fmt"
)

// extent finds the end of a value whose bytes arrive in pieces.
type extent struct {
	closers []byte // closing characters of the open arrays and objects
	text    bool   // in a string
	escaped bool   // after a backslash in a string
	scalar  bool   // in a number, true, false or null at the top level
}

// maxDepth is larger than the depth of any block.
const maxDepth = 200

// feed scans the next bytes and returns how many of them belong to the value, and whether it ends with them.
func (e *extent) feed(b []byte) (n int, whole bool, err error) {
	for n < len(b) {
		if e.text {
			n += e.string(b[n:])
			if !e.text && len(e.closers) == 0 {
				return n, true, nil
			}
			continue
		}
		c := b[n]
		if e.scalar {
			if !bare(c) {
				return n, true, nil
			}
			n++
			continue
		}
		switch c {
		case '"':
			e.text = true
		case '{', '[':
			if len(e.closers) == maxDepth {
				return n, false, fmt.Errorf("more than %d nested objects and arrays", maxDepth)
			}
			e.closers = append(e.closers, c+2) // ']' and '}' are the opening character plus 2
		case '}', ']':
			if len(e.closers) == 0 || e.closers[len(e.closers)-1] != c {
				return n, false, fmt.Errorf("%q has no opening bracket", c)
			}
			e.closers = e.closers[:len(e.closers)-1]
			if len(e.closers) == 0 {
				return n + 1, true, nil
			}
		default:
			if len(e.closers) == 0 {
				if !bare(c) {
					return n, false, fmt.Errorf("unexpected %q, expected a value", c)
				}
				e.scalar = true
			}
		}
		n++
	}
	return n, false, nil
}

// string continues in a string and returns how many bytes of b belong to it.
func (e *extent) string(b []byte) (n int) {
	end := -1 // position of the next quote; searched once, however many escapes precede it
	for n < len(b) {
		if e.escaped {
			e.escaped = false
			n++
			continue
		}
		if end < n {
			if end = bytes.IndexByte(b[n:], '"'); end < 0 {
				end = len(b)
			} else {
				end += n
			}
		}
		if i := bytes.IndexByte(b[n:end], '\\'); i >= 0 {
			n += i + 1
			e.escaped = true
			continue
		}
		if end == len(b) {
			return end
		}
		e.text = false
		return end + 1
	}
	return n
}
