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

// appendInscriptions appends the inscriptions in a script, up to maxEnvelopes. whole: a script that ends inside a push has
// none, as in ord for witnesses.
func appendInscriptions(to []inscriptionFields, script []byte, input int, whole bool) []inscriptionFields {
	for _, e := range envelope.Read(script, maxEnvelopes-len(to), whole) {
		in := fieldsOf(e.Pushes)
		in.Input, in.Number = input, len(to)
		to = append(to, in)
	}
	return to
}

// fieldsOf reads the content of an envelope. Fields come first: each is a push of a tag and a push of its value. An empty
// push in place of a tag starts the body, which is the concatenation of the remaining pushes.
func fieldsOf(pushes [][]byte) (in inscriptionFields) {
	in.Pointer, in.Body = -1, []byte{}
	var metadata [][]byte
	seen := [tagDelegate + 1]bool{}
	for len(pushes) > 0 {
		tag := pushes[0]
		if len(tag) == 0 {
			in.Body = joined(pushes[1:])
			break
		}
		if len(pushes) == 1 {
			break
		}
		value := pushes[1]
		pushes = pushes[2:]
		switch {
		case len(tag) != 1 || int(tag[0]) >= len(seen):
		case tag[0] == tagMetadata: // metadata can be split into several fields
			metadata = append(metadata, value)
		case tag[0] == tagParent:
			if id := inscriptionID(value); id != "" {
				in.Parents = append(in.Parents, id)
				in.Parent = in.Parents[0]
			}
		case !seen[tag[0]]: // the first of repeated fields counts
			in.set(tag[0], value)
			seen[tag[0]] = true
		}
	}
	in.Metadata = joined(metadata)
	return in
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
