package jsonstream

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// firstRead is how many bytes are read at once before a value was too large for that.
const firstRead = 64 << 10

// ErrTooLarge says that a value, or the white space before one, has more bytes than the splitter was told to hold.
var ErrTooLarge = errors.New("a JSON value is too large")

// SyntaxError says what stands where no value can.
type SyntaxError struct {
	Line int // from 1
	Msg  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

// Splitter hands out the values of a stream. An array at the top is not a value itself: its elements are.
type Splitter struct {
	r    io.Reader
	most int

	buf     []byte
	at      int   // where the next byte to be looked at stands in buf
	base    int64 // offset of buf[0] in the stream
	line    int   // of buf[at]
	inArray bool
	comma   bool // an element has ended and no comma has come since
	after   bool // a comma has come and no element since
	gap     int  // bytes since the last value

	value     extent // the one under way, from buf[begin] on
	begin     int
	beginLine int
	begun     bool
}

// New splits r into values of at most so many bytes each.
func New(r io.Reader, most int) *Splitter { return &Splitter{r: r, most: most, line: 1} }

// Position is where a value begins in a stream: from there on the stream can be split by itself.
type Position struct {
	Offset  int64
	Line    int // from 1
	inArray bool
}

// Resume splits what begins at a position of a stream, from which r reads.
func Resume(r io.Reader, most int, p Position) *Splitter {
	return &Splitter{r: r, most: most, base: p.Offset, line: max(p.Line, 1), inArray: p.inArray}
}

// Position is where the value last handed out begins.
func (s *Splitter) Position() Position {
	return Position{s.base + int64(s.begin), s.beginLine, s.inArray}
}

// Line is where the value last handed out begins, counted from 1; after an error, where what is wrong begins.
func (s *Splitter) Line() int { return s.beginLine }

// Next is the next value, good until Next is called again. The error is [io.EOF] where the stream ends between two
// values, [io.ErrUnexpectedEOF] where it ends within one or within an array, and what else the reader says. A stream
// that has grown since may be asked for more after either of the two.
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

// skip goes to the beginning of the next value.
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
			return &SyntaxError{s.line, fmt.Sprintf("%q where a value begins", c)}
		default:
			return nil
		}
		s.at++
		s.gap++
	}
}

// space goes to the next byte that is no white space, which it returns. [ErrTooLarge] where more stands between two
// values than a value can have.
func (s *Splitter) space() (byte, error) {
	for {
		for s.at < len(s.buf) {
			switch c := s.buf[s.at]; c {
			case '\n':
				s.line++
			case ' ', '\t', '\r':
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

// fill reads more, and makes room for it where there is none.
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
			return nil // a lasting error comes again
		}
		if err != nil {
			return err
		}
	}
	return io.ErrNoProgress
}

// Begins is the first byte of the stream that is no space, without taking it; it is asked before [Splitter.Next].
func (s *Splitter) Begins() (byte, error) { return s.space() }

// Buffered is at most n bytes of what was read and not handed out, for messages about a stream that is none of values.
func (s *Splitter) Buffered(n int) []byte { return s.buf[s.at:][:min(n, len(s.buf)-s.at)] }

// bare reports whether c may stand in a number, true, false or null.
func bare(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '-' || c == '+' || c == '.'
}
