package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/envelope"
	"birthmark/model"
)

// maxEnvelopes is the largest number of inscriptions of a transaction or output script; real ones have up to about a thousand.
const maxEnvelopes = 1 << 14

// appendInscriptions appends the inscriptions in a script, up to maxEnvelopes. whole: a script that ends inside a push has
// none, as in ord for witnesses.
func appendInscriptions(to []inscriptionFields, script []byte, input int, whole bool) []inscriptionFields {
	for _, e := range envelope.Read(script, maxEnvelopes-len(to), whole) {
		in := fieldsOf(&e)
		in.Input, in.Number = input, len(to)
		to = append(to, in)
	}
	return to
}

// fieldsOf reads the content of an envelope.
func fieldsOf(e *envelope.Envelope) (in inscriptionFields) {
	in.Pointer, in.Body, in.Metadata = -1, e.Content(), []byte{}
	seen := [envelope.TagDelegate + 1]bool{}
	for tag, value := range e.Fields() {
		switch {
		case len(tag) != 1 || int(tag[0]) >= len(seen):
		case tag[0] == envelope.TagMetadata: // it can be split into several fields
			in.Metadata = append(in.Metadata, value...)
		case tag[0] == envelope.TagParent:
			if id := inscriptionID(value); id != "" {
				in.Parents = append(in.Parents, id)
				in.Parent = in.Parents[0]
			}
		case !seen[tag[0]]: // the first of repeated fields counts
			in.set(tag[0], value)
			seen[tag[0]] = true
		}
	}
	return in
}

func (in *inscriptionFields) set(tag byte, value []byte) {
	switch tag {
	case envelope.TagContentType:
		in.ContentType = validText(value)
	case envelope.TagPointer:
		in.Pointer = pointer(value)
	case envelope.TagMetaprotocol:
		in.Metaprotocol = validText(value)
	case envelope.TagContentEncoding:
		in.ContentEncoding = headerText(value)
	case envelope.TagDelegate:
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
