// Package envelope reads envelopes of the protocol "ord" in scripts. They contain inscriptions.
//
// An envelope is an empty push, OP_IF, a push of "ord", more pushes and OP_ENDIF. It is never executed. Scripts are read
// as ord reads them (src/inscriptions/envelope.rs of github.com/ordinals/ord): pushes have any form, opcodes of small
// numbers count as pushes of one byte, and what follows the operation that ends an invalid envelope is read on.
package envelope

import (
	"bytes"
	"iter"

	"birthmark/chains/bitcoin/block"
)

const (
	opIf      = 0x63
	opEndIf   = 0x68
	op1Negate = 0x4f
)

// Protocol is pushed at the start of an envelope.
var Protocol = []byte("ord")

// Tags of fields (src/inscriptions/tag.rs). A reader ignores others, but an unknown even tag makes an inscription unbound.
const (
	TagContentType      = 1
	TagPointer          = 2
	TagParent           = 3
	TagMetadata         = 5
	TagMetaprotocol     = 7
	TagContentEncoding  = 9
	TagDelegate         = 11
	TagRune             = 13
	TagProperties       = 17
	TagPropertyEncoding = 19
)

// Envelope is the content of an envelope: fields, and the body if there is one. It shares the memory of the script, and
// pushes are read again each time, because a list of those of one byte takes 24 times the memory of the script.
type Envelope struct {
	Numbers    bool // opcodes of small numbers are among the pushes
	Stutter    bool // the pushes and OP_IF before it could have begun an envelope too
	Incomplete bool // the last field has a tag and no value
	HasBody    bool

	fields, body []byte // operations
}

// Fields yields the tag and the value of each field, in order.
func (e *Envelope) Fields() iter.Seq2[[]byte, []byte] {
	return func(yield func(tag, value []byte) bool) {
		var tag []byte
		for push := range pushes(e.fields) {
			if tag == nil {
				tag = push
			} else if !yield(tag, push) {
				return
			} else {
				tag = nil
			}
		}
	}
}

// Body yields the parts of the body.
func (e *Envelope) Body() iter.Seq[[]byte] { return pushes(e.body) }

// Content returns the body; empty without one. A body of one part shares the memory of the script.
func (e *Envelope) Content() []byte {
	n, only, size := 0, []byte{}, 0
	for part := range e.Body() {
		n, only, size = n+1, part, size+len(part)
	}
	if n <= 1 {
		return only
	}
	content := make([]byte, 0, size)
	for part := range e.Body() {
		content = append(content, part...)
	}
	return content
}

// pushes yields what operations push; all of them push something.
func pushes(operations []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for len(operations) > 0 {
			op, data, rest, _ := block.NextOp(operations)
			if operations = rest; data == nil {
				data = numberOf(op)
			}
			if !yield(data) {
				return
			}
		}
	}
}

// Read returns the envelopes in a script, at most that many. whole: a script that ends inside a push has none, as in ord
// for witnesses.
func Read(script []byte, most int, whole bool) (found []Envelope) {
	if !bytes.Contains(script, Protocol) {
		return nil
	}
	r := reader{script}
	stutter := false
	for len(r.script) > 0 {
		if !r.accept(isEmpty) {
			if !r.accept(func(byte, []byte) bool { return true }) {
				break
			}
			continue
		}
		if !r.accept(func(op byte, _ []byte) bool { return op == opIf }) ||
			!r.accept(func(_ byte, data []byte) bool { return bytes.Equal(data, Protocol) }) {
			_, data, _, ok := block.NextOp(r.script)
			stutter = ok && isEmpty(0, data)
			continue
		}
		e, ok := r.envelope()
		switch {
		case !ok:
			stutter = false
		case len(found) < most:
			e.Stutter = stutter
			found = append(found, e)
		}
	}
	if len(r.script) > 0 && whole {
		return nil
	}
	return found
}

func isEmpty(_ byte, data []byte) bool { return data != nil && len(data) == 0 }

// reader has the rest of a script.
type reader struct{ script []byte }

// accept reads the next operation if is returns true for it.
func (r *reader) accept(is func(op byte, data []byte) bool) bool {
	op, data, rest, ok := block.NextOp(r.script)
	if ok = ok && is(op, data); ok {
		r.script = rest
	}
	return ok
}

// envelope reads the content of an envelope. ok is false if it has an operation that is not a push, which is read too, or
// no end.
func (r *reader) envelope() (e Envelope, ok bool) {
	e.fields = r.script
	atTag := true
	for {
		before := r.script
		op, data, rest, ok := block.NextOp(before)
		if !ok {
			return e, false
		}
		r.script = rest
		switch {
		case op == opEndIf:
			if e.HasBody {
				e.body = e.body[:len(e.body)-len(before)]
			} else {
				e.fields, e.Incomplete = e.fields[:len(e.fields)-len(before)], !atTag
			}
			return e, true
		case data != nil:
			if !e.HasBody && atTag && len(data) == 0 {
				e.HasBody, e.fields, e.body = true, e.fields[:len(e.fields)-len(before)], rest
			}
		case numberOf(op) != nil:
			e.Numbers = true
		default:
			return e, false
		}
		atTag = !atTag
	}
}

// numberOf returns the byte that an opcode of a small number pushes; nil for other opcodes.
func numberOf(op byte) []byte {
	if op == op1Negate || op >= block.Op1 && op <= block.Op16 {
		return numbers[op-op1Negate:][:1:1]
	}
	return nil
}

// numbers are the bytes that the opcodes from op1Negate to OP_16 push; the second one is reserved and pushes nothing.
var numbers = []byte{0x81, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
