package jsonstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// firstRead is the number of bytes of a read before the first large value.
const firstRead = 64 << 10

// ErrTooLarge reports that a value, or the white space before it, exceeds the limit of the splitter.
var ErrTooLarge = errors.New("a JSON value is too large")

// SyntaxError reports unexpected bytes where a value should begin.
type SyntaxError struct {
	Line int // from 1
	Msg  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// Splitter returns the values of a stream. An array at the top level is not a value itself: its elements are.
type Splitter struct {
	r    io.Reader
	most int

	buf     []byte
	at      int   // position of the next byte in buf
	base    int64 // offset of buf[0] in the stream
	line    int   // of buf[at]
	inArray bool
	comma   bool // an element has ended, and no comma followed yet
	after   bool // a comma followed, and no element yet
	gap     int  // bytes since the last value

	value     extent // the current value, from buf[begin] on
	begin     int
	beginLine int
	begun     bool
}

// New splits r into values of at most max bytes each.
func New(r io.Reader, most int) *Splitter { return &Splitter{r: r, most: most, line: 1} }

// Position is the position of a value in a stream; [Resume] can split the stream from there.
type Position struct {
	Offset  int64
	Line    int // from 1
	inArray bool
}

// Resume splits a stream that r reads from a position.
func Resume(r io.Reader, most int, p Position) *Splitter {
	return &Splitter{r: r, most: most, base: p.Offset, line: max(p.Line, 1), inArray: p.inArray}
}

// Position returns the position of the last value.
func (s *Splitter) Position() Position {
	return Position{s.base + int64(s.begin), s.beginLine, s.inArray}
}

// Line returns the line of the last value, counted from 1; after an error, the line of the error.
func (s *Splitter) Line() int { return s.beginLine }

// Next returns the next value, valid until the next call. The error is [io.EOF] if the stream ends between two values,
// [io.ErrUnexpectedEOF] if it ends within one or within an array, or an error of the reader. After either EOF, Next may
// be called again if the stream has grown.
func (s *Splitter) Next() ([]byte, error) {
	if !s.begun {
		if err := s.skip(); err != nil {
			return nil, err
		}
		s.begin, s.beginLine, s.begun = s.at, s.line, true
		s.value = extent{}
	}
	for {
		n, whole, err := s.value.feed(s.buf[s.at:])
		s.at += n
		if err != nil {
			return nil, &SyntaxError{s.line, err.Error()}
		}
		if whole {
			break
		}
		if s.at-s.begin > s.most {
			return nil, ErrTooLarge
		}
		if err := s.fill(); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return nil, err
		}
	}
	value := s.buf[s.begin:s.at:s.at]
	if len(value) > s.most {
		return nil, ErrTooLarge
	}
	s.line += bytes.Count(value, newline)
	s.begun, s.gap = false, 0
	s.comma, s.after = s.inArray, false
	return value, nil
}

var newline = []byte{'\n'}

// skip moves to the beginning of the next value.
func (s *Splitter) skip() error {
	for {
		c, err := s.space()
		if err != nil {
			s.beginLine = s.line
			if err == io.EOF && s.inArray {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		switch {
		case c == '[' && !s.inArray:
			s.inArray, s.comma = true, false
		case c == ']' && s.inArray && !s.after:
			s.inArray, s.comma = false, false
		case c == ',' && s.comma:
			s.comma, s.after = false, true
		case c != '{' && c != '"' && !bare(c) && !(c == '[' && s.inArray), s.comma:
			s.beginLine = s.line
			return &SyntaxError{s.line, fmt.Sprintf("unexpected %q, expected a value", c)}
		default:
			return nil
		}
		s.at++
		s.gap++
	}
}

// space moves to the next byte that is not white space and returns it. The error is [ErrTooLarge] if the white space
// between two values exceeds the maximum size of a value.
func (s *Splitter) space() (byte, error) {
	const mark = "\ufeff" // a byte order mark, which editors and shells of Windows put first
	for {
		for s.at < len(s.buf) {
			c, offset := s.buf[s.at], s.base+int64(s.at)
			switch {
			case c == '\n':
				s.line++
			case c == ' ', c == '\t', c == '\r':
			case offset < int64(len(mark)) && c == mark[offset]:
			default:
				return c, nil
			}
			s.at++
			s.gap++
		}
		if s.gap > s.most {
			return 0, ErrTooLarge
		}
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
}

// fill reads more, and grows the buffer if it is full.
func (s *Splitter) fill() error {
	keep := s.at
	if s.begun {
		keep = s.begin
	}
	if keep > 0 && cap(s.buf)-len(s.buf) < firstRead/2 {
		n := copy(s.buf, s.buf[keep:])
		s.buf = s.buf[:n]
		s.base += int64(keep)
		s.at -= keep
		s.begin -= keep
	}
	if cap(s.buf)-len(s.buf) < firstRead/2 {
		grown := make([]byte, len(s.buf), max(firstRead, 2*cap(s.buf)))
		copy(grown, s.buf)
		s.buf = grown
	}
	for range 100 {
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if n > 0 {
			return nil // a lasting error is returned again
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// Begins returns the first byte of the stream that is not white space, without consuming it. Call it before
// [Splitter.Next].
func (s *Splitter) Begins() (byte, error) { return s.space() }

// Buffered returns at most n bytes that were read but not returned, for error messages.
func (s *Splitter) Buffered(n int) []byte { return s.buf[s.at:][:min(n, len(s.buf)-s.at)] }

// bare reports whether c can be part of a number, true, false or null.
func bare(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '+' || c == '.'
}
