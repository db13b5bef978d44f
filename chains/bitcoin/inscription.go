package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// An inscription is an envelope in a script: an empty push, OP_IF, a push of "ord", data and OP_ENDIF; it is never executed. Fields come
// first: each is a push of a tag and a push of its value. An empty push in place of a tag starts the body, which is the
// concatenation of the remaining pushes. Opcodes of small numbers count as pushes of one byte.
const (
	opIf         = 0x63
	opEndIf      = 0x68
	op1Negate    = 0x4f
	maxEnvelopes = 1 << 14 // per transaction or output script; real ones have up to about a thousand
)

// Tags of the fields that are read.
const (
	tagContentType     = 1
	tagPointer         = 2
	tagParent          = 3
	tagMetadata        = 5
	tagMetaprotocol    = 7
	tagContentEncoding = 9
	tagDelegate        = 11
)

// protocolID is pushed at the start of an envelope.
var protocolID = []byte("ord")

// appendInscriptions appends the inscriptions in a script, up to maxEnvelopes. It reads a script as ord does
// (src/inscriptions/envelope.rs): pushes have any form, and what follows the operation that ends an invalid envelope is
// read on. whole: a script that ends inside a push has no inscriptions, as in ord for witnesses.
func appendInscriptions(to []inscriptionFields, script []byte, input int, whole bool) []inscriptionFields {
	if !bytes.Contains(script, protocolID) {
		return to
	}
	first := len(to)
	accept := func(is func(op byte, data []byte) bool) bool {
		op, data, rest, ok := block.NextOp(script)
		if ok = ok && is(op, data); ok {
			script = rest
		}
		return ok
	}
	empty := func(_ byte, data []byte) bool { return data != nil && len(data) == 0 }
	begins := func(op byte, _ []byte) bool { return op == opIf }
	named := func(_ byte, data []byte) bool { return bytes.Equal(data, protocolID) }
	for len(script) > 0 {
		if !accept(empty) {
			if !accept(func(byte, []byte) bool { return true }) {
				break
			}
			continue
		}
		if !accept(begins) || !accept(named) {
			continue
		}
		in, rest, ok := readEnvelope(script)
		if script = rest; ok && len(to) < maxEnvelopes {
			in.Input, in.Number = input, len(to)
			to = append(to, in)
		}
	}
	if len(script) > 0 && whole {
		return to[:first]
	}
	return to
}

// readEnvelope reads the content of an envelope; rest is the script after it. ok is false if the envelope has an
// operation that is not a push, which is not part of rest, or has no end.
func readEnvelope(script []byte) (in inscriptionFields, rest []byte, ok bool) {
	in.Pointer = -1
	var parts, metadata [][]byte
	var tag []byte // nil: the next push is a tag
	body := false
	seen := [tagDelegate + 1]bool{}
	for {
		op, data, next, ok := block.NextOp(script)
		if !ok {
			return in, script, false
		}
		script = next
		if op == opEndIf {
			in.Body, in.Metadata = joined(parts), joined(metadata)
			return in, script, true
		}
		data, ok = pushed(op, data)
		switch {
		case !ok:
			return in, script, false
		case body:
			parts = append(parts, data)
		case tag == nil:
			tag, body = data, len(data) == 0
		default:
			switch {
			case len(tag) != 1 || int(tag[0]) >= len(seen):
			case tag[0] == tagMetadata: // metadata can be split into several fields
				metadata = append(metadata, data)
			case tag[0] == tagParent:
				if id := inscriptionID(data); id != "" {
					in.Parents = append(in.Parents, id)
					in.Parent = in.Parents[0]
				}
			case !seen[tag[0]]: // the first of repeated fields counts
				in.set(tag[0], data)
				seen[tag[0]] = true
			}
			tag = nil
		}
	}
}

// pushed returns the data that an opcode pushes, small numbers as one byte. ok is false for other opcodes.
func pushed(op byte, data []byte) ([]byte, bool) {
	switch {
	case data != nil:
		return data, true
	case op == op1Negate:
		return []byte{0x81}, true
	case op >= block.Op1 && op <= block.Op16:
		return []byte{op - block.Op1 + 1}, true
	}
	return nil, false
}

func (in *inscriptionFields) set(tag byte, value []byte) {
	switch tag {
	case tagContentType:
		in.ContentType = validText(value)
	case tagPointer:
		in.Pointer = pointer(value)
	case tagMetaprotocol:
		in.Metaprotocol = validText(value)
	case tagContentEncoding:
		in.ContentEncoding = headerText(value)
	case tagDelegate:
		in.Delegate = inscriptionID(value)
	}
}

func validText(b []byte) string {
	if !utf8.Valid(b) {
		return ""
	}
	return string(b)
}

// headerText returns a text that can be the value of an HTTP header, else "".
func headerText(b []byte) string {
	if bytes.ContainsFunc(b, func(r rune) bool { return r != '\t' && (r < ' ' || r > '~') }) {
		return ""
	}
	return string(b)
}

// pointer reads a little-endian number of any length. It returns -1 if the number does not fit into 63 bits.
func pointer(b []byte) int {
	b = bytes.TrimRight(b, "\x00")
	if len(b) > 8 || len(b) == 8 && b[7] >= 0x80 {
		return -1
	}
	var number [8]byte
	copy(number[:], b)
	return int(binary.LittleEndian.Uint64(number[:]))
}

func joined(parts [][]byte) []byte {
	if len(parts) == 1 {
		return parts[0]
	}
	return bytes.Join(parts, nil)
}

// inscriptionID formats the serialized id of an inscription: the transaction's hash followed by a little-endian number
// of at most 4 bytes: all 4, or fewer without trailing zeros. It returns "" if b is invalid.
func inscriptionID(b []byte) string {
	const most = 4
	if len(b) < sha256.Size || len(b) > sha256.Size+most ||
		len(b) > sha256.Size && len(b) < sha256.Size+most && b[len(b)-1] == 0 {
		return ""
	}
	var number [most]byte
	copy(number[:], b[sha256.Size:])
	hash := model.Hash(b)
	return fmt.Sprintf("%si%d", block.FormatHash(hash), binary.LittleEndian.Uint32(number[:]))
}
