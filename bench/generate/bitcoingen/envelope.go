package bitcoingen

import (
	"encoding/binary"
	"slices"

	"github.com/btcsuite/btcd/txscript/v2"

	"birthmark/model"
)

// Inscription is one that the chain has written, as a program that reads it should find it. An absent field is empty.
type Inscription struct {
	Tx          model.Hash
	ContentType string
	Body        []byte
	Parents     int
	Delegate    bool
}

// Inscriptions returns the inscriptions of a chain with [Options.AllParts] so far.
func (c *Chain) Inscriptions() []Inscription { return c.inscriptions }

// The tags of fields.
const (
	tagContentType  = 1
	tagPointer      = 2
	tagParent       = 3
	tagMetadata     = 5
	tagMetaprotocol = 7
	tagEncoding     = 9
	tagDelegate     = 11
	tagNote         = 15
	tagUnbound      = 66
)

// push appends a push of data in a form that its length allows: mostly the shortest.
func (c *Chain) push(b, data []byte) []byte {
	n := len(data)
	switch form := c.rng.IntN(10); {
	case n > 255 || form == 0:
		b = binary.LittleEndian.AppendUint16(append(b, txscript.OP_PUSHDATA2), uint16(n))
	case n >= txscript.OP_PUSHDATA1 || form == 1:
		b = append(b, txscript.OP_PUSHDATA1, byte(n))
	case n == 1 && data[0] >= 1 && data[0] <= 16 && form < 6:
		return append(b, txscript.OP_1-1+data[0])
	default:
		b = append(b, byte(n))
	}
	return append(b, data...)
}

// contents are the types and bodies of inscriptions.
var contents = []struct{ kind, body string }{
	{"text/plain;charset=utf-8", "hello"}, {"application/json", `{"p":"brc-20","op":"mint","tick":"ordi","amt":"1000"}`},
	{"text/html", "<b>&amp;</b><script>alert(1)</script>"}, {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg"/>`}, {"", ""},
	{"text/plain", ""}, {"image/png", "\x89PNG\r\n\x1a\n\x00\xff"}, {"text/plain;charset=utf-8", "\xff\xfe"}, {"\xff", "x"},
}

// appendEnvelopes appends one or more envelopes of inscriptions (the ord handbook, chapter Inscriptions), some of them in
// forms that are rare or that count as none: repeated fields, fields of unknown tags, without a value, or without end.
func (c *Chain) appendEnvelopes(b []byte) []byte {
	for range 1 + c.rng.IntN(2) {
		b = c.appendEnvelope(b)
	}
	return b
}

func (c *Chain) appendEnvelope(b []byte) []byte {
	of := contents[c.rng.IntN(len(contents))]
	in := Inscription{ContentType: of.kind}
	if in.ContentType == "\xff" {
		in.ContentType = "" // no UTF-8
	}
	b = c.push(append(b, txscript.OP_FALSE, txscript.OP_IF), []byte("ord"))
	field := func(tag byte, value []byte) { b = c.push(c.push(b, []byte{tag}), value) }
	if of.kind != "" {
		field(tagContentType, []byte(of.kind))
	}
	earlier := func() []byte {
		if len(c.inscriptions) == 0 {
			return nil
		}
		tx := c.inscriptions[c.rng.IntN(len(c.inscriptions))].Tx
		return slices.Clone(tx[:])
	}
	switch c.rng.IntN(8) {
	case 0:
		for range 1 + c.rng.IntN(3) {
			if id := earlier(); id != nil {
				in.Parents++
				field(tagParent, append(id, [][]byte{{}, {1}, {0, 0, 0, 0}}[c.rng.IntN(3)]...))
			}
		}
	case 1:
		field(tagPointer, []byte{byte(c.rng.IntN(4)), 0})
	case 2:
		field(tagMetadata, []byte{0xa1, 0x61, 'a'}) // a map in two parts
		field(tagMetadata, []byte{0x01})
	case 3:
		field(tagMetaprotocol, []byte("brc-20"))
		field(tagEncoding, []byte("br"))
	case 4:
		if id := earlier(); id != nil {
			in.Delegate = true
			field(tagDelegate, id)
		}
	case 5:
		field(tagNote, c.rng.Filler(nil, 80))
		field(tagUnbound, []byte{1})
		field(tagContentType, []byte("a/repetition"))
		if of.kind == "" {
			in.ContentType = "a/repetition"
		}
	case 6:
		if of.body == "" {
			b = c.push(b, []byte{tagNote}) // a field without a value
		}
	case 7: // no inscription: an operation other than a push, or no end
		b = append(b, txscript.OP_DUP)
		return append(b, txscript.OP_ENDIF)
	}
	if of.body != "" {
		b = append(b, txscript.OP_0)
		in.Body = []byte(of.body)
		for rest := in.Body; len(rest) > 0; {
			n := min(len(rest), 1+c.rng.IntN(520))
			b = c.push(b, rest[:n])
			rest = rest[n:]
		}
	}
	c.inscribing = append(c.inscribing, in)
	return append(b, txscript.OP_ENDIF)
}

// appendInscribed appends the witness of an input with a script of inscriptions, and now and then an annex (BIP 341).
func (c *Chain) appendInscribed(w []byte) []byte {
	code := append(c.rng.Filler([]byte{32}, 32), txscript.OP_CHECKSIG)
	code = c.appendEnvelopes(code)
	annex := c.rng.Chance(0.1)
	items := byte(3)
	if annex {
		items++
	}
	w = c.rng.Filler(append(w, items, schnorrSize), schnorrSize)
	w = append(appendCompact(w, uint64(len(code))), code...)
	const control = 33
	w = c.rng.Filler(append(w, control, 0xc0|byte(c.rng.IntN(2))), control-1)
	if annex {
		w = append(w, 2, 0x50, 1)
	}
	return w
}
