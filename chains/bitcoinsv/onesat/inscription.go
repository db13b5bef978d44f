package onesat

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// Inscription is a file in an output script, in an envelope that is not executed:
//
//	OP_FALSE OP_IF "ord" OP_1 TYPE OP_0 CONTENT OP_ENDIF
//
// The script that locks the output precedes or follows the envelope.
type Inscription struct {
	Type    string // media type; empty: none, or not UTF-8
	Content []byte
	Parent  []byte // outpoint of 36 bytes, index little-endian, or transaction of 32; nil: none
	Prefix  []byte // the script before the envelope
	Suffix  []byte // the script after it; nil: the envelope has no end
}

// ParentOutpoint returns the parent; ok is false without one that has an index.
func (in *Inscription) ParentOutpoint() (o Outpoint, ok bool) {
	if len(in.Parent) != len(o) {
		return o, false
	}
	tx := model.Hash(in.Parent)
	return NewOutpoint(tx, int(binary.LittleEndian.Uint32(in.Parent[len(tx):]))), true
}

const (
	opIf         = 0x63
	opEndIf      = 0x68
	opPushData4  = 0x4e
	op16         = 0x60
	smallInteger = 80 // OP_N less N

	maxType = 255 // bytes
)

// Tags of fields.
const (
	tagContent = 0
	tagType    = 1
	tagParent  = 3
)

var protocolID = []byte("ord")

// ReadInscription returns the first inscription of a script; nil if it has none. Its parts are parts of the script.
func ReadInscription(script []byte) *Inscription {
	if !bytes.Contains(script, protocolID) {
		return nil
	}
	for at := 0; at < len(script); {
		op, data, rest, ok := block.NextOp(script[at:])
		if !ok {
			return nil
		}
		start := at
		at = len(script) - len(rest)
		if start < 2 || int(op) != len(protocolID) || !bytes.Equal(data, protocolID) || script[start-2] != 0 || script[start-1] != opIf {
			continue
		}
		in, end, complete := readEnvelope(script, at)
		in.Prefix = script[:start-2]
		if complete {
			return in
		}
		at = end
	}
	return nil
}

// readEnvelope reads the fields of an envelope from an offset on. complete is false if an operation other than OP_ENDIF
// follows the content; end is the offset after it.
func readEnvelope(script []byte, at int) (in *Inscription, end int, complete bool) {
	in = &Inscription{}
	next := func() (op byte, data []byte, ok bool) {
		if at >= len(script) {
			return 0, nil, false
		}
		var rest []byte
		op, data, rest, ok = block.NextOp(script[at:])
		if ok {
			at = len(script) - len(rest)
		}
		return op, data, ok
	}
	for {
		op, tag, ok := next()
		if !ok || op > op16 {
			return in, at, true
		}
		valueOp, value, ok := next()
		if !ok || valueOp > op16 {
			return in, at, true
		}
		field := tagContent
		switch {
		case op > opPushData4:
			field = int(op) - smallInteger
		case len(tag) == 1:
			field = int(tag[0])
		case len(tag) > 1:
			continue
		}
		switch field {
		case tagType:
			if len(value) <= maxType && utf8.Valid(value) {
				in.Type = string(value)
			}
		case tagParent:
			if len(value) == 36 || len(value) == 32 {
				in.Parent = value
			}
		case tagContent:
			in.Content = value
			if op, _, ok := next(); ok && op != opEndIf {
				return in, at, false
			} else if ok {
				in.Suffix = script[at:]
			}
			return in, at, true
		}
	}
}
