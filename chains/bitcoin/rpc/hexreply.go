package rpc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"sync"

	"birthmark/chains/bitcoin/block"
)

// notJSON is the error of a response with blocks that is not JSON.
type notJSON string

func (e notJSON) Error() string { return string(e) }

func unexpected(b byte, where string) error {
	return notJSON(fmt.Sprintf("invalid character %q %s", b, where))
}

// blockReplies reads a batch response with blocks in hex. Unlike a JSON decoder it does not hold the hex of a block in
// memory: that of a large one would be several times the block.
func blockReplies(a *answer, calls []call, got *collection) error {
	c := a.client
	in := bufio.NewReaderSize(a, readAtOnce)
	if isBatch, err := begin(a, in, calls); !isBatch {
		return err
	}
	_, _ = in.ReadByte() // the bracket
	r := &hexReader{a: a, in: in, got: got}
	for first := true; ; first = false {
		b, err := r.next()
		switch {
		case err != nil:
			return c.garbled(a, err)
		case b == ']':
			return nil
		case first:
		case b != ',':
			return c.garbled(a, unexpected(b, "after array element"))
		default:
			if b, err = r.next(); err != nil {
				return c.garbled(a, err)
			}
		}
		a.allow(c.maxReply())
		reply, err := r.reply(b)
		if err != nil {
			return c.garbled(a, err)
		}
		e := c.parseError(reply.Error)
		i, err := c.position(reply.ID, e, calls)
		if err != nil {
			return err
		}
		if got.add(i, r.block, e) {
			return nil
		}
	}
}

// hexReader reads replies whose results are blocks in hex.
type hexReader struct {
	a   *answer
	in  *bufio.Reader
	got *collection

	scratch []byte        // the bytes of a small block
	block   *block.Buffer // the result of the last reply; nil: it was not hex
}

// next returns the next byte that is not white space.
func (r *hexReader) next() (byte, error) {
	if _, err := firstByte(r.in); err != nil {
		return 0, err
	}
	return r.in.ReadByte()
}

// reply reads a reply that begins with b, and its result into r.block.
func (r *hexReader) reply(b byte) (reply reply[struct{}], err error) {
	r.block = nil
	if b != '{' {
		_, err := r.value(b, nil)
		return reply, err
	}
	for first := true; ; first = false {
		b, err := r.next()
		switch {
		case err != nil:
			return reply, err
		case b == '}':
			return reply, nil
		case !first && b != ',':
			return reply, unexpected(b, "after object key:value pair")
		case !first:
			if b, err = r.next(); err != nil {
				return reply, err
			}
		}
		if b != '"' {
			return reply, unexpected(b, "looking for the name of a member")
		}
		name, err := r.value(b, nil)
		if err != nil {
			return reply, err
		}
		if b, err = r.next(); err == nil && b != ':' {
			err = unexpected(b, "after object key")
		}
		if err == nil {
			b, err = r.next()
		}
		if err != nil {
			return reply, err
		}
		switch string(name) {
		case `"result"`:
			if r.block = nil; b == '"' {
				err = r.hex()
			} else {
				_, err = r.value(b, nil)
			}
		case `"id"`:
			reply.ID, err = r.value(b, nil)
		case `"error"`:
			reply.Error, err = r.value(b, nil)
		default:
			_, err = r.value(b, nil)
		}
		if err != nil {
			return reply, err
		}
	}
}

// value reads a JSON value that begins with b, and appends it to text. It has at most smallAnswer bytes.
func (r *hexReader) value(b byte, text []byte) (json.RawMessage, error) {
	for depth, quoted := 0, false; ; {
		if text = append(text, b); len(text) > smallAnswer {
			return nil, errTooLarge
		}
		switch {
		case quoted && b == '\\':
			if b, err := r.in.ReadByte(); err != nil {
				return nil, err
			} else {
				text = append(text, b)
			}
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			depth++
		case b == '}' || b == ']':
			depth--
		}
		if depth < 0 {
			return nil, unexpected(b, "looking for a value")
		}
		if depth == 0 && !quoted {
			ahead, err := r.in.Peek(1)
			if err == io.EOF {
				return nil, io.ErrUnexpectedEOF
			}
			if err != nil {
				return nil, err
			}
			if b == '"' || b == '}' || b == ']' || bytes.IndexByte([]byte(",]} \t\r\n"), ahead[0]) >= 0 {
				if !json.Valid(text) {
					return nil, unexpected(text[0], "looking for a value")
				}
				return text, nil
			}
		}
		var err error
		if b, err = r.in.ReadByte(); err != nil {
			return nil, err
		}
	}
}

// hex reads a string after its first quote. If it is hex, r.block has its bytes.
func (r *hexReader) hex() error {
	body := blockBody{Buffer: block.Buffer{Bytes: r.scratch[:0]}, c: r.a.client, point: r.got.points[0], limit: r.got.limit}
	if size := r.a.response.ContentLength / 2; size > block.Large && len(r.got.points) == 1 {
		if err := body.check(size); err != nil {
			return err
		}
		body.Grow(int(size))
	}
	valid, half := true, false
	var digit [2]byte
	for {
		if _, err := r.in.Peek(1); err != nil {
			body.Free()
			return err
		}
		part, _ := r.in.Peek(r.in.Buffered())
		end := -1
		if valid {
			end = endOfDigits(part)
		} else { // may have many escapes, and endOfDigits would search them all each time
			end = bytes.IndexAny(part, `"\`)
		}
		whole := end >= 0
		if whole {
			part = part[:end]
		}
		read := len(part)
		if valid && half && len(part) > 0 {
			digit[1], part, half = part[0], part[1:], false
			valid = body.decode(digit[:])
		}
		if valid {
			even := len(part) &^ 1
			if valid = body.decode(part[:even]); even < len(part) {
				digit[0], half = part[even], true
			}
		}
		_, _ = r.in.Discard(read)
		if whole {
			b, _ := r.in.ReadByte()
			if b == '"' {
				break
			}
			valid = false
			if _, err := r.in.ReadByte(); err != nil {
				body.Free()
				return err
			}
		}
		if err := body.arrived(untilQuote{r.in}, 2); err != nil {
			body.Free()
			return err
		}
	}
	switch {
	case !valid || half:
		body.Free()
	case len(body.Bytes) > block.Large:
		r.block = &body.Buffer
	default:
		r.scratch = body.Bytes
		r.block = &block.Buffer{Bytes: bytes.Clone(body.Bytes)}
	}
	return nil
}

// endOfDigits returns the position of the first quote or backslash, or -1. bytes.IndexAny takes longer than decoding the
// digits.
func endOfDigits(part []byte) int {
	end := bytes.IndexByte(part, '"')
	if end >= 0 {
		part = part[:end]
	}
	if escape := bytes.IndexByte(part, '\\'); escape >= 0 {
		return escape
	}
	return end
}

// untilQuote reads up to the end of a string.
type untilQuote struct{ in *bufio.Reader }

func (r untilQuote) Read(b []byte) (int, error) {
	if _, err := r.in.Peek(1); err != nil {
		return 0, err
	}
	part, _ := r.in.Peek(min(r.in.Buffered(), len(b)))
	if end := bytes.IndexByte(part, '"'); end == 0 {
		return 0, io.EOF
	} else if end > 0 {
		part = part[:end]
	}
	n := copy(b, part)
	return r.in.Discard(n)
}

// bytesOfDigits returns the byte of each pair of hex digits, by the pair as a little-endian number, and notDigits for
// other pairs. A block touches 3 KB of it.
var bytesOfDigits = sync.OnceValue(func() *[1 << 16]uint16 {
	table := new([1 << 16]uint16)
	for i := range table {
		table[i] = notDigits
	}
	const lower, upper = "0123456789abcdef", "0123456789ABCDEF"
	for v := range 256 {
		for _, high := range []byte{lower[v>>4], upper[v>>4]} {
			for _, low := range []byte{lower[v&15], upper[v&15]} {
				table[int(low)<<8|int(high)] = uint16(v)
			}
		}
	}
	return table
})

const notDigits = 1 << 8

// decode appends the bytes of an even number of hex digits, and reports whether they are valid. Decoding takes most of
// the time of a response, and a table of pairs half the time of encoding/hex.
func (b *blockBody) decode(digits []byte) bool {
	n := len(digits) / 2
	b.Grow(n)
	room := b.Bytes[len(b.Bytes):cap(b.Bytes)][:n]
	table, seen := bytesOfDigits(), uint16(0)
	for i := range room {
		v := table[binary.LittleEndian.Uint16(digits[2*i:])]
		room[i] = byte(v)
		seen |= v
	}
	b.Bytes = b.Bytes[:len(b.Bytes)+n]
	return seen < notDigits
}
