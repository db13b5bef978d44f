package jsonstream

import (
	"bytes"
	"fmt"
)

// extent finds where a value ends whose bytes come in pieces.
type extent struct {
	closers []byte // what is open, as what closes it
	text    bool   // within a string
	escaped bool   // behind a backslash in one
	scalar  bool   // within a number, true, false or null at the top
}

// maxDepth is more than any block has.
const maxDepth = 200

// feed looks at the next bytes and says how many of them belong to the value, and whether it ends with them.
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
				return n, false, fmt.Errorf("more than %d objects and arrays within each other", maxDepth)
			}
			e.closers = append(e.closers, c+2) // the closing one stands two places behind both
		case '}', ']':
			if len(e.closers) == 0 || e.closers[len(e.closers)-1] != c {
				return n, false, fmt.Errorf("%q closes what is not open", c)
			}
			e.closers = e.closers[:len(e.closers)-1]
			if len(e.closers) == 0 {
				return n + 1, true, nil
			}
		default:
			if len(e.closers) == 0 {
				if !bare(c) {
					return n, false, fmt.Errorf("%q where a value begins", c)
				}
				e.scalar = true
			}
		}
		n++
	}
	return n, false, nil
}

// string goes on in a string and says how many bytes of b belong to it.
func (e *extent) string(b []byte) (n int) {
	end := -1 // of the next quote; looked for once, however many escapes stand before it
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
