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

// An inscription is an envelope in a script: OP_FALSE OP_IF "ord", data and OP_ENDIF; it is never executed. Fields come
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

var envelopeMark = []byte{block.Op0, opIf, 3, 'o', 'r', 'd'}

// appendInscriptions appends the inscriptions in a script, up to maxEnvelopes.
func appendInscriptions(to []inscriptionFields, script []byte, input int) []inscriptionFields {
	next := bytes.Index(script, envelopeMark)
	for at := 0; next >= 0 && len(to) < maxEnvelopes; {
		if at == next {
			if in, rest, ok := readEnvelope(script[at+len(envelopeMark):]); ok {
				in.Input, in.Number = input, len(to)
				to = append(to, in)
				at = len(script) - len(rest)
			} else {
				at++
			}
		} else {
			_, _, rest, ok := block.NextOp(script[at:])
			if !ok {
				break
			}
			at = len(script) - len(rest)
		}
		// A mark that began inside a push is data and not an envelope.
		if at > next {
			if next = bytes.Index(script[at:], envelopeMark); next >= 0 {
				next += at
			}
		}
	}
	return to
}

// readEnvelope reads the content of an envelope; rest is the script after it. ok is false if the envelope has an
// operation that is not a push, or has no end.
func readEnvelope(script []byte) (in inscriptionFields, rest []byte, ok bool) {
	in.Pointer = -1
	var parts, metadata [][]byte
	body := false
	seen := [tagDelegate + 1]bool{}
	for {
		op, data, next, ok := block.NextOp(script)
		if !ok {
			return in, nil, false
		}
		script = next
		if op == opEndIf {
			in.Body, in.Metadata = joined(parts), joined(metadata)
			return in, script, true
		}
		data, ok = pushed(op, data)
		switch {
		case !ok:
			return in, nil, false
		case body:
			parts = append(parts, data)
			continue
		case len(data) == 0:
			body = true
			continue
		}
		op, value, next, ok := block.NextOp(script)
		if !ok {
			return in, nil, false
		}
		if op == opEndIf {
			continue // a tag without a value: the next iteration reads the end
		}
		if value, ok = pushed(op, value); !ok {
			return in, nil, false
		}
		script = next
		switch {
		case len(data) != 1 || int(data[0]) >= len(seen):
		case data[0] == tagMetadata: // metadata can be split into several fields
			metadata = append(metadata, value)
		case !seen[data[0]]: // the first of repeated fields counts
			in.set(data[0], value)
			seen[data[0]] = true
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
	case tagParent:
		in.Parent = inscriptionID(value)
	case tagMetaprotocol:
		in.Metaprotocol = validText(value)
	case tagContentEncoding:
		in.ContentEncoding = validText(value)
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
// of at most 4 bytes without trailing zeros. It returns "" if b is invalid.
func inscriptionID(b []byte) string {
	const most = 4
	if len(b) < sha256.Size || len(b) > sha256.Size+most || len(b) > sha256.Size && b[len(b)-1] == 0 {
		return ""
	}
	var number [most]byte
	copy(number[:], b[sha256.Size:])
	hash := model.Hash(b)
	return fmt.Sprintf("%si%d", block.FormatHash(hash), binary.LittleEndian.Uint32(number[:]))
}
