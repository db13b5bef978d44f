package sigma

import (
	"encoding/binary"
	"fmt"
)

// reader reads serialized bytes. After the first error it returns zeros.
type reader struct {
	b   []byte
	at  int
	err error

	steps int // number of values read
	level int // of nested values
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("at byte %d: %w", r.at, fmt.Errorf(format, args...))
		r.at = len(r.b)
	}
}

// take returns the next n bytes without a copy.
func (r *reader) take(n int, what string) []byte {
	if n < 0 || n > len(r.b)-r.at {
		r.fail("%s of %d bytes, but only %d are left", what, n, len(r.b)-r.at)
		return nil
	}
	r.at += n
	return r.b[r.at-n : r.at : r.at]
}

func (r *reader) copy(dst []byte, what string) { copy(dst, r.take(len(dst), what)) }

func (r *reader) byte(what string) byte {
	if r.at >= len(r.b) {
		r.fail("%s is missing", what)
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

// uint reads an unsigned number.
func (r *reader) uint(what string) uint64 {
	v, n := binary.Uvarint(r.b[r.at:])
	if n <= 0 {
		r.fail("%s is not a number", what)
		return 0
	}
	r.at += n
	return v
}

// length reads a count of at most most items, which must not exceed the remaining bytes if each item takes at least
// one.
func (r *reader) length(most uint64, what string) int {
	v := r.uint(what)
	if v > most {
		r.fail("%s is %d, expected at most %d", what, v, most)
		return 0
	}
	return int(v)
}
