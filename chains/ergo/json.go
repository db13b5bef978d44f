package ergo

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"birthmark/chains/adapter"
)

// scanner reads JSON in place: it decodes the needed values and skips the rest. After the first error it finds nothing.
type scanner struct {
	b   []byte
	at  int
	err error
}

// maxNesting of objects and arrays in a value that is stepped over.
const maxNesting = 200

func (s *scanner) fail(format string, args ...any) {
	s.failAt(s.at, fmt.Errorf(format, args...))
}

func (s *scanner) failAt(at int, err error) {
	if s.err == nil {
		s.err = fmt.Errorf("at byte %d: %w", at, err)
		s.at = len(s.b)
	}
}

// next is the first byte that is not space, 0 at the end.
func (s *scanner) next() byte {
	for s.at < len(s.b) {
		c := s.b[s.at]
		if c > ' ' {
			return c
		}
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' {
			s.fail("character %#x between values", c)
			return 0
		}
		s.at++
	}
	return 0
}

func (s *scanner) unexpected(what string) {
	if s.at >= len(s.b) {
		s.fail("unexpected end, expected %s", what)
		return
	}
	s.fail("unexpected %q, expected %s", s.b[s.at], what)
}

// null steps over a null.
func (s *scanner) null() bool {
	if s.next() != 'n' {
		return false
	}
	if !bytes.HasPrefix(s.b[s.at:], []byte("null")) {
		s.unexpected("null")
		return false
	}
	s.at += len("null")
	return true
}

// listReader reads the elements of an array. After each call of next that returns true, the caller must read one
// element.
type listReader struct {
	s      *scanner
	closer byte // 0 at the end
	n      int  // elements so far
}

// list enters an array. It has no elements if the value is null.
func (s *scanner) list(what string) listReader { return listReader{s: s, closer: s.enter('[', what)} }

// enter enters an object or an array, whose first character is c, and returns the last character; 0 for null.
func (s *scanner) enter(c byte, what string) byte {
	switch {
	case s.null():
		return 0
	case s.next() != c:
		s.unexpected(what)
		return 0
	}
	s.at++
	return c + 2 // in ASCII the closing bracket is the opening one plus 2
}

func (l *listReader) next() bool {
	s := l.s
	if l.closer == 0 {
		return false
	}
	switch got := s.next(); {
	case s.err != nil:
		return false
	case got == l.closer:
		s.at++
		l.closer = 0
		return false
	case l.n == 0:
	case got == ',':
		s.at++
		if s.next() == l.closer {
			s.unexpected("an item")
			return false
		}
	default:
		s.unexpected("a comma or the end of " + map[byte]string{'}': "an object", ']': "an array"}[l.closer])
		return false
	}
	l.n++
	return true
}

// objectReader reads the members of an object. After each call of next that returns true, the caller must read the
// value of the member name.
type objectReader struct {
	listReader
	name     []byte
	what     string
	required []string
	found    uint32 // bit set of the required members
}

// required are the members that an object must have. They are variables, because literals in calls would be allocated.
var (
	headerMembers = []string{
		"id", "version", "parentId", "adProofsRoot", "transactionsRoot", "stateRoot", "timestamp",
		"extensionHash", "nBits", "height", "votes", "powSolutions",
	}
	solutionMembers = []string{"pk", "n"}
	linkMembers     = []string{"id", "parentId", "height"} // of a header that is only read for its place
	txMembers       = []string{"id", "inputs", "outputs"}
	boxRefMembers   = []string{"boxId"} // of an input or a data input
	boxMembers      = []string{"boxId", "value", "ergoTree", "creationHeight"}
	assetMembers    = []string{"tokenId", "amount"}
)

// object enters an object. At its end it is an error if one of the required members did not occur. Only an object
// without required members may be null.
func (s *scanner) object(what string, required []string) objectReader {
	o := objectReader{listReader: listReader{s: s, closer: s.enter('{', what)}, what: what, required: required}
	if o.closer == 0 && len(required) > 0 {
		s.fail("unexpected null, expected %s", what)
	}
	return o
}

// member enters an object up to the value of a member and reports whether there is one.
func (s *scanner) member(name string) bool {
	for o := s.object("a full block", nil); o.next(); s.skip() {
		if string(o.name) == name {
			return true
		}
	}
	return false
}

func (o *objectReader) next() bool {
	s := o.s
	if !o.listReader.next() {
		o.require()
		return false
	}
	o.name = s.text("a member's name")
	if s.next() != ':' {
		s.unexpected("a colon")
	} else {
		s.at++
	}
	for i, r := range o.required {
		if string(o.name) == r {
			o.found |= 1 << i
		}
	}
	return s.err == nil
}

// require fails if a required member did not occur.
func (o *objectReader) require() {
	for i, r := range o.required {
		if o.found&(1<<i) == 0 && o.s.err == nil {
			noun := o.what
			if article, rest, ok := strings.Cut(noun, " "); ok && (article == "a" || article == "an") {
				noun = "the " + rest
			}
			o.s.fail("%s has no %s", noun, r)
		}
	}
}

// text returns a string. It points into the JSON unless it has escapes.
func (s *scanner) text(what string) []byte {
	raw, plain := s.quoted(what)
	if plain || s.err != nil {
		return raw
	}
	var text string
	if err := json.Unmarshal(s.b[s.at-len(raw)-2:s.at], &text); err != nil {
		s.fail("%s: %w", what, err)
	}
	return []byte(text)
}

// quoted returns the bytes between the quotes of a string. plain reports that they have no escapes.
func (s *scanner) quoted(what string) (raw []byte, plain bool) {
	if s.next() != '"' {
		s.unexpected(what)
		return nil, false
	}
	start := s.at + 1
	end := bytes.IndexByte(s.b[start:], '"')
	if end < 0 {
		s.at = len(s.b)
		s.unexpected("the end of a string")
		return nil, false
	}
	if bytes.IndexByte(s.b[start:start+end], '\\') < 0 {
		s.at = start + end + 1
		return s.b[start : start+end], true
	}
	for i := start; i < len(s.b); i++ {
		switch s.b[i] {
		case '\\':
			i++
		case '"':
			s.at = i + 1
			return s.b[start:i], false
		}
	}
	s.at = len(s.b)
	s.unexpected("the end of a string")
	return nil, false
}

// uint is a whole number, plain or in quotes, of at most most. It can have an exponent, as Java writes large numbers.
func (s *scanner) uint(most uint64, what string) uint64 {
	digits := s.number(what)
	v, ok := parseUint(digits)
	if !ok {
		if plain, whole := plainNumber(string(digits)); whole {
			v, ok = parseUint([]byte(plain))
		}
	}
	at := s.at - len(digits)
	switch {
	case s.err != nil:
		return 0
	case !ok:
		s.failAt(at, fmt.Errorf("%s is %s: expected a whole number up to %d", what, adapter.Truncate(string(digits)), most))
		return 0
	case v > most:
		s.failAt(at, fmt.Errorf("%s is %d, expected at most %d", what, v, most))
		return 0
	}
	return v
}

// parseUint reads digits.
func parseUint(digits []byte) (v uint64, ok bool) {
	for _, c := range digits {
		d := uint64(c - '0')
		if d > 9 || v > (1<<64-1-d)/10 {
			return 0, false
		}
		v = 10*v + d
	}
	return v, len(digits) > 0
}

// maxDigits exceeds the digits of a number of 255 bytes.
const maxDigits = 620

// plainNumber writes a whole number that is not negative without point and exponent, as in 2.56E+2. ok is false for any
// other text, and for more than [maxDigits] digits.
func plainNumber(text string) (digits string, ok bool) {
	mantissa, exponent := text, 0
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		n, err := strconv.Atoi(text[i+1:])
		if err != nil || n > maxDigits || n < -maxDigits {
			return "", false
		}
		mantissa, exponent = text[:i], n
	}
	whole, fraction, point := strings.Cut(strings.TrimPrefix(mantissa, "+"), ".")
	if whole == "" || point && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return "", false
	}
	digits = strings.TrimLeft(whole+fraction, "0")
	if exponent -= len(fraction); digits == "" {
		return "0", true
	}
	if exponent < 0 {
		kept := len(digits) + exponent
		if kept <= 0 || strings.Trim(digits[kept:], "0") != "" {
			return "", false
		}
		return digits[:kept], true
	}
	return digits + strings.Repeat("0", exponent), len(digits)+exponent <= maxDigits
}

// number is the characters of a number, plain or in quotes.
func (s *scanner) number(what string) []byte {
	if s.next() == '"' {
		text := s.text(what)
		if len(text) == 0 {
			s.unexpected(what)
		}
		return text
	}
	start := s.at
	for s.at < len(s.b) {
		if c := s.b[s.at]; c-'0' > 9 && c != '-' && c != '+' && c != '.' && c != 'e' && c != 'E' {
			break
		}
		s.at++
	}
	if s.at == start {
		s.unexpected(what)
	}
	return s.b[start:s.at]
}

// hexTo decodes hex digits to dst, two digits per byte.
func hexTo(dst, digits []byte) bool {
	if len(digits) != 2*len(dst) {
		return false
	}
	_, err := hex.Decode(dst, digits)
	return err == nil
}

// hex decodes a string of 2*len(dst) digits.
func (s *scanner) hex(dst []byte, what string) {
	digits := s.text(what)
	if s.err == nil && !hexTo(dst, digits) {
		s.failAt(s.at-len(digits)-1, fmt.Errorf("%s is %q: expected %d hex digits", what, adapter.Truncate(string(digits)), 2*len(dst)))
	}
}

// appendHex appends the bytes of a string of digits to dst.
func (s *scanner) appendHex(dst []byte, what string) []byte {
	digits := s.text(what)
	if s.err != nil {
		return dst
	}
	start, n := len(dst), len(digits)/2
	dst = grow(dst, n)
	if !hexTo(dst[start:], digits) {
		s.failAt(s.at-len(digits)-1, fmt.Errorf("%s is %q: expected an even number of hex digits", what, adapter.Truncate(string(digits))))
		return dst[:start]
	}
	return dst
}

// skip steps over a value.
func (s *scanner) skip() {
	depth := 0
	for s.err == nil {
		switch c := s.next(); c {
		case '"':
			s.quoted("a string")
		case '{', '[':
			if depth++; depth > maxNesting {
				s.fail("more than %d nested objects and arrays", maxNesting)
			}
			s.at++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				s.unexpected("a value")
			}
			s.at++
		case ',', ':':
			if depth == 0 {
				s.unexpected("a value")
			}
			s.at++
			continue
		case 't', 'f', 'n':
			s.word()
		default:
			s.number("a value")
		}
		if depth == 0 {
			return
		}
	}
}

// word steps over true, false or null.
func (s *scanner) word() {
	for _, w := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(s.b[s.at:], []byte(w)) {
			s.at += len(w)
			return
		}
	}
	s.unexpected("a value")
}

// grow makes b longer by n bytes of any value.
func grow(b []byte, n int) []byte {
	if len(b)+n <= cap(b) {
		return b[:len(b)+n]
	}
	return append(b, make([]byte, n)...)
}
