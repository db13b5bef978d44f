package ord

import (
	"strconv"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/jsonappend"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/envelope"
	"birthmark/chains/bitcoin/runes"
)

// decodedValue is the inscriptions and the message in a transaction, whether they have an effect or not.
type decodedValue struct {
	Inscriptions []envelopeValue `json:"inscriptions"`
	Runestone    *artifactValue  `json:"runestone"`
}

// maxDecoded is the largest number of inscriptions of an input that are decoded.
const maxDecoded = 1 << 14

// decodeTx decodes a transaction.
func decodeTx(r *request) answer {
	text, _ := r.Arg("id")
	id, ok := block.ParseHash(text)
	if !ok {
		r.Refuse(badRequest("invalid transaction id %q", text))
	}
	return func(v *view) (any, error) {
		tx, err := v.Tx(id)
		if is(err, "unknown_tx") {
			return nil, missing("transaction %s", text)
		}
		if err != nil {
			return nil, err
		}
		return decoded(tx.Msg), nil
	}
}

func decoded(tx *wire.MsgTx) *decodedValue {
	a := &decodedValue{Inscriptions: []envelopeValue{}}
	for input, in := range tx.TxIn {
		for n, e := range envelope.Read(leaf(in.Witness), maxDecoded, true) {
			a.Inscriptions = append(a.Inscriptions, envelopeValue{
				Input: uint32(input), Offset: uint32(n), Payload: inscriptionOf(e.Pushes), PushNum: e.Numbers, Stutter: e.Stutter,
			})
		}
	}
	scripts := make([][]byte, len(tx.TxOut))
	for i, out := range tx.TxOut {
		scripts[i] = out.PkScript
	}
	if stone, given := runes.DecodeGiven(scripts); stone != nil {
		a.Runestone = artifactOf(stone, given)
	}
	return a
}

// leaf returns the item in the place of the script of a taproot script-path spend: see [block.LeafScript].
func leaf(witness wire.TxWitness) []byte {
	const annex = 0x50
	n := len(witness)
	if n >= 2 && len(witness[n-1]) > 0 && witness[n-1][0] == annex {
		n--
	}
	if n < 2 {
		return nil
	}
	return witness[n-2]
}

// artifactValue has the members of one of two kinds of messages.
type artifactValue struct {
	Cenotaph  *cenotaphValue
	Runestone *runestoneValue
}

// AppendJSON appends an object whose member is named by the kind.
func (a *artifactValue) AppendJSON(b []byte) []byte {
	if a.Cenotaph != nil {
		return append(jsonappend.Append(append(b, `{"Cenotaph":`...), a.Cenotaph), '}')
	}
	return append(jsonappend.Append(append(b, `{"Runestone":`...), a.Runestone), '}')
}

type cenotaphValue struct {
	Etching *string `json:"etching"`
	Flaw    string  `json:"flaw"`
	Mint    *string `json:"mint"`
}

type runestoneValue struct {
	Edicts  []edictValue  `json:"edicts"`
	Etching *etchingValue `json:"etching"`
	Mint    *string       `json:"mint"`
	Pointer *uint32       `json:"pointer"`
}

type edictValue struct {
	ID     string `json:"id"`
	Amount amount `json:"amount"`
	Output uint32 `json:"output"`
}

type etchingValue struct {
	Divisibility *uint8      `json:"divisibility"`
	Premine      *amount     `json:"premine"`
	Rune         *string     `json:"rune"`
	Spacers      *uint32     `json:"spacers"`
	Symbol       *string     `json:"symbol"`
	Terms        *termsValue `json:"terms"`
	Turbo        bool        `json:"turbo"`
}

func artifactOf(stone *runes.Runestone, given runes.Given) *artifactValue {
	var mint, name *string
	if stone.Mint.OK {
		text := stone.Mint.Value.String()
		mint = &text
	}
	if stone.Etching != nil && stone.Etching.Name.OK {
		text := stone.Etching.Name.Value.String()
		name = &text
	}
	if stone.Flaw != runes.NoFlaw {
		return &artifactValue{Cenotaph: &cenotaphValue{name, stone.Flaw.String(), mint}}
	}
	a := &runestoneValue{Edicts: []edictValue{}, Mint: mint, Pointer: optional(stone.Pointer)}
	for _, e := range stone.Edicts {
		a.Edicts = append(a.Edicts, edictValue{e.ID.String(), amount(e.Amount), e.Output})
	}
	if e := stone.Etching; e != nil {
		a.Etching = &etchingValue{
			Divisibility: optional(runes.Option[uint8]{Value: e.Divisibility, OK: given.Divisibility}),
			Premine:      optional(runes.Option[amount]{Value: amount(e.Premine), OK: given.Premine}),
			Spacers:      optional(runes.Option[uint32]{Value: e.Spacers, OK: given.Spacers}),
			Rune:         name, Symbol: symbolOf(e.Symbol), Terms: termsOf(e.Terms), Turbo: e.Turbo,
		}
	}
	return &artifactValue{Runestone: a}
}

// envelopeValue is an inscription with its place.
type envelopeValue struct {
	Input   uint32            `json:"input"`
	Offset  uint32            `json:"offset"` // of the inscriptions of the input
	Payload *inscriptionValue `json:"payload"`
	PushNum bool              `json:"pushnum"`
	Stutter bool              `json:"stutter"`
}

type inscriptionValue struct {
	Body                  *numbers  `json:"body"`
	ContentEncoding       *numbers  `json:"content_encoding"`
	ContentType           *numbers  `json:"content_type"`
	Delegate              *numbers  `json:"delegate"`
	DuplicateField        bool      `json:"duplicate_field"`
	IncompleteField       bool      `json:"incomplete_field"`
	Metadata              *numbers  `json:"metadata"`
	Metaprotocol          *numbers  `json:"metaprotocol"`
	Parents               []numbers `json:"parents"`
	Pointer               *numbers  `json:"pointer"`
	Properties            *numbers  `json:"properties"`
	PropertyEncoding      *numbers  `json:"property_encoding"`
	Rune                  *numbers  `json:"rune"`
	UnrecognizedEvenField bool      `json:"unrecognized_even_field"`
}

// numbers are the parts of a text of bytes, which JSON has as a list of numbers.
type numbers [][]byte

// AppendJSON appends the list.
func (n numbers) AppendJSON(b []byte) []byte {
	b = append(b, '[')
	first := true
	for _, part := range n {
		for _, one := range part {
			if !first {
				b = append(b, ',')
			}
			first = false
			b = strconv.AppendUint(b, uint64(one), 10)
		}
	}
	return append(b, ']')
}

// Tags of the fields of an inscription (ord: src/inscriptions/tag.rs).
const (
	tagContentType      = 1
	tagPointer          = 2
	tagParent           = 3
	tagMetadata         = 5
	tagMetaprotocol     = 7
	tagContentEncoding  = 9
	tagDelegate         = 11
	tagRune             = 13
	tagProperties       = 17
	tagPropertyEncoding = 19
)

// inscriptionOf reads the content of an envelope. Fields come first: each is a push of a tag and a push of its value. An
// empty push in place of a tag begins the body.
func inscriptionOf(pushes [][]byte) *inscriptionValue {
	a := &inscriptionValue{Parents: []numbers{}}
	fields := map[string]numbers{}
	for len(pushes) > 0 {
		if len(pushes[0]) == 0 {
			body := numbers(pushes[1:])
			a.Body = &body
			break
		}
		if len(pushes) == 1 {
			a.IncompleteField = true
			break
		}
		tag := string(pushes[0])
		fields[tag] = append(fields[tag], pushes[1])
		pushes = pushes[2:]
	}
	for _, values := range fields {
		a.DuplicateField = a.DuplicateField || len(values) > 1
	}
	for _, of := range []struct {
		tag    byte
		to     **numbers
		joined bool
	}{
		{tagContentEncoding, &a.ContentEncoding, false},
		{tagContentType, &a.ContentType, false},
		{tagDelegate, &a.Delegate, false},
		{tagMetadata, &a.Metadata, true},
		{tagMetaprotocol, &a.Metaprotocol, false},
		{tagPointer, &a.Pointer, false},
		{tagProperties, &a.Properties, true},
		{tagPropertyEncoding, &a.PropertyEncoding, false},
		{tagRune, &a.Rune, false},
	} {
		tag := string([]byte{of.tag})
		values := fields[tag]
		switch {
		case len(values) == 0:
			continue
		case of.joined || len(values) == 1:
			delete(fields, tag)
		default: // the first value counts
			fields[tag], values = values[1:], values[:1]
		}
		*of.to = &values
	}
	for _, parent := range fields[string([]byte{tagParent})] {
		a.Parents = append(a.Parents, numbers{parent})
	}
	for tag := range fields {
		a.UnrecognizedEvenField = a.UnrecognizedEvenField || tag[0]%2 == 0
	}
	return a
}
