// Package envelope reads envelopes of the protocol "ord" in scripts. They contain inscriptions.
//
// An envelope is an empty push, OP_IF, a push of "ord", more pushes and OP_ENDIF. It is never executed. Scripts are read
// as ord reads them (src/inscriptions/envelope.rs of github.com/ordinals/ord): pushes have any form, opcodes of small
// numbers count as pushes of one byte, and what follows the operation that ends an invalid envelope is read on.
package envelope

import (
	"bytes"

	"birthmark/chains/bitcoin/block"
)

const (
	opIf      = 0x63
	opEndIf   = 0x68
	op1Negate = 0x4f
)

// Protocol is pushed at the start of an envelope.
var Protocol = []byte("ord")

// Envelope is the content of an envelope.
type Envelope struct {
	Pushes  [][]byte // after [Protocol]; they share the memory of the script
	Numbers bool     // opcodes of small numbers are among them
	Stutter bool     // the pushes and OP_IF before it could have begun an envelope too
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
	for {
		op, data, rest, ok := block.NextOp(r.script)
		if !ok {
			return e, false
		}
		r.script = rest
		switch {
		case op == opEndIf:
			return e, true
		case data != nil:
			e.Pushes = append(e.Pushes, data)
		case op == op1Negate || op >= block.Op1 && op <= block.Op16:
			e.Pushes, e.Numbers = append(e.Pushes, numbers[op-op1Negate:][:1:1]), true
		default:
			return e, false
		}
	}
}

// numbers are the bytes that the opcodes from op1Negate to OP_16 push; the second one is reserved and pushes nothing.
var numbers = []byte{0x81, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}
