package ord

import (
	"iter"
	"slices"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/api/jsonappend"
	"birthmark/chains/bitcoin/envelope"
	"birthmark/chains/bitcoin/runes"
	"birthmark/core/meter"
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
	return ofTx(r, func(v *view, tx *wallet.Tx) (any, error) { return decoded(r, tx.Msg) })
}

func decoded(r *request, tx *wire.MsgTx) (*decodedValue, error) {
	a := &decodedValue{Inscriptions: []envelopeValue{}}
	for input, in := range tx.TxIn {
		found := envelope.Read(leaf(in.Witness), maxDecoded, true)
		if err := hold(r, len(found)*envelopeSize); err != nil {
			return nil, err
		}
		for n, e := range found {
			payload, err := inscriptionOf(r, &e)
			if err != nil {
				return nil, err
			}
			a.Inscriptions = append(a.Inscriptions, envelopeValue{uint32(input), uint32(n), payload, e.Numbers, e.Stutter})
		}
	}
	scripts := make([][]byte, len(tx.TxOut))
	for i, out := range tx.TxOut {
		scripts[i] = out.PkScript
	}
	if stone, given := runes.DecodeGiven(scripts); stone != nil {
		if err := hold(r, len(stone.Edicts)*edictSize); err != nil {
			return nil, err
		}
		a.Runestone = artifactOf(stone, given)
	}
	return a, nil
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

// numbers are bytes in parts, as a list of numbers. An inscription has millions.
type numbers = exchange.Items[byte]

func numbersOf(r *request, parts iter.Seq[[]byte]) *numbers {
	items := exchange.ItemsOf(r, func(yield func(byte, error) bool) {
		for part := range parts {
			for _, one := range part {
				if !yield(one, nil) {
					return
				}
			}
		}
	})
	return &items
}

// inscriptionOf describes an envelope.
func inscriptionOf(r *request, e *envelope.Envelope) (*inscriptionValue, error) {
	a := &inscriptionValue{Parents: []numbers{}, IncompleteField: e.Incomplete}
	if e.HasBody {
		a.Body = numbersOf(r, e.Body())
	}
	members := map[byte]**numbers{
		envelope.TagContentEncoding: &a.ContentEncoding, envelope.TagContentType: &a.ContentType, envelope.TagDelegate: &a.Delegate,
		envelope.TagMetadata: &a.Metadata, envelope.TagMetaprotocol: &a.Metaprotocol, envelope.TagPointer: &a.Pointer,
		envelope.TagProperties: &a.Properties, envelope.TagPropertyEncoding: &a.PropertyEncoding, envelope.TagRune: &a.Rune,
	}
	seen := map[string]bool{}
	for text, value := range e.Fields() {
		again := seen[string(text)]
		a.DuplicateField = a.DuplicateField || again
		if !again {
			seen[string(text)] = true
			if err := hold(r, tagSize+len(text)); err != nil {
				return nil, err
			}
		}
		tag := text[0]
		to := members[tag]
		switch {
		case len(text) > 1:
			to = nil
		case tag == envelope.TagParent:
			if err := hold(r, parentSize); err != nil {
				return nil, err
			}
			a.Parents = append(a.Parents, *numbersOf(r, slices.Values([][]byte{value})))
			continue
		case tag == envelope.TagMetadata || tag == envelope.TagProperties: // the values of all fields, one after another
			if *to == nil {
				*to = numbersOf(r, valuesOf(e, tag))
			}
			continue
		}
		if to != nil && *to == nil { // the first value counts
			*to = numbersOf(r, slices.Values([][]byte{value}))
		} else {
			a.UnrecognizedEvenField = a.UnrecognizedEvenField || tag%2 == 0
		}
	}
	return a, nil
}

// Memory of the parts of an answer in bytes: a transaction of 4 MB has room for 570,000 inscriptions, or a million of one of
// the others.
const (
	envelopeSize = 768 // an inscription, as read and as described
	tagSize      = 48  // a tag of the set, without its text
	parentSize   = 256
	edictSize    = 192
)

// hold reserves memory of the answer.
func hold(r *request, bytes int) error { return meter.Of(r.Context()).Hold(int64(bytes)) }

// valuesOf yields the values of the fields with a tag.
func valuesOf(e *envelope.Envelope, tag byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for text, value := range e.Fields() {
			if len(text) == 1 && text[0] == tag && !yield(value) {
				return
			}
		}
	}
}
