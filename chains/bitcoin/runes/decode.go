package runes

import (
	"unicode/utf8"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// Decode reads the message of a transaction from its output scripts; nil: it has none. Only the first script with the
// beginning of a message counts.
func Decode(scripts [][]byte) *Runestone {
	stone, _ := DecodeGiven(scripts)
	return stone
}

// Given are the optional fields of an etching that a message contains. The others are zero in [Etching].
type Given struct{ Divisibility, Premine, Spacers bool }

// DecodeGiven is [Decode], with the optional fields that the message contains.
func DecodeGiven(scripts [][]byte) (*Runestone, Given) {
	for _, script := range scripts {
		if hasMessage(script) {
			stone := new(Runestone)
			return stone, stone.decode(script, len(scripts))
		}
	}
	return nil, Given{}
}

// isReturn reports whether an output can hold no runes.
func isReturn(script []byte) bool { return len(script) > 0 && script[0] == block.OpReturn }

func hasMessage(script []byte) bool {
	return len(script) > 1 && isReturn(script) && script[1] == block.OpRunestone
}

// decode sets s, which is zero, to the message in a script, of a transaction with that many outputs.
func (s *Runestone) decode(script []byte, outputs int) (given Given) {
	payload, flaw := payloadOf(script)
	if flaw != NoFlaw {
		s.Flaw = flaw
		return given
	}
	total, ok := countIntegers(payload)
	if !ok {
		s.Flaw = Varint
		return given
	}
	m := message{integers: integers{payload, total}, outputs: outputs}
	m.read()
	m.take(s)
	if s.Flaw = m.flaw; m.flaw == NoFlaw {
		s.Edicts = m.edicts
		return m.given
	}
	s.Pointer = Option[uint32]{}
	switch e := s.Etching; {
	case e == nil:
	case e.Name.OK:
		*e = Etching{Name: e.Name}
	default:
		s.Etching = nil // a cenotaph creates no rune with a reserved name
	}
	return given
}

// payloadOf joins the pushes after the beginning of a message. It returns a part of the script if there is one push.
func payloadOf(script []byte) (payload []byte, flaw Flaw) {
	for rest := script[2:]; len(rest) > 0; {
		_, data, next, ok := block.NextOp(rest)
		switch {
		case !ok:
			return nil, InvalidScript
		case data == nil:
			return nil, Opcode
		case payload == nil:
			payload = data[:len(data):len(data)]
		default:
			payload = append(payload, data...)
		}
		rest = next
	}
	return payload, NoFlaw
}

// integers are integers of at most 128 bits in groups of 7 bits (LEB128).
type integers struct {
	b    []byte
	left int
}

// countIntegers returns the number of integers; ok is false if one is invalid.
func countIntegers(b []byte) (n int, ok bool) {
	for ; len(b) > 0; n++ {
		_, size, err := model.Uvarint128(b)
		if err != nil {
			return n, false
		}
		b = b[size:]
	}
	return n, true
}

// next returns the next integer. There is one, and it is valid.
func (r *integers) next() model.Uint128 {
	a, size, _ := model.Uvarint128(r.b)
	r.b = r.b[size:]
	r.left--
	return a
}

// message is a message as tags with their values. Which values count is known after the last one was read.
type message struct {
	integers
	outputs int
	flaw    Flaw // the first one
	fields  [tags]field
	mintTx  model.Uint128 // the second value of tagMint
	unknown bool          // a tag with an even number is not known
	edicts  []Edict
	given   Given
}

// field has the first value of a tag, and how many there are.
type field struct {
	value model.Uint128
	count int
}

func (m *message) fail(flaw Flaw) {
	if m.flaw == NoFlaw {
		m.flaw = flaw
	}
}

// read reads the tags and the edicts.
func (m *message) read() {
	for m.left > 0 {
		tag := m.next()
		if tag.IsZero() {
			m.readEdicts()
			return
		}
		if m.left == 0 {
			m.fail(TruncatedField)
			return
		}
		value := m.next()
		if tag.Hi > 0 || tag.Lo >= tags || !known(tag.Lo) {
			m.unknown = m.unknown || tag.Lo%2 == 0
			continue
		}
		f := &m.fields[tag.Lo]
		switch {
		case f.count == 0:
			f.value = value
		case f.count == 1 && tag.Lo == tagMint:
			m.mintTx = value
		}
		f.count++
	}
}

// known reports whether a tag below tags has a meaning.
func known(tag uint64) bool { return tag%2 == 0 || tag <= tagSymbol }

func (m *message) readEdicts() {
	const parts = 4 // integers of an edict
	m.edicts = make([]Edict, 0, m.left/parts)
	var id ID
	for m.left > 0 {
		if m.left < parts {
			m.fail(TrailingIntegers)
			return
		}
		next, ok := id.next(m.next(), m.next())
		amount, output := m.next(), m.next()
		switch {
		case !ok:
			m.fail(EdictID)
			return
		case !fits32(output) || output.Lo > uint64(m.outputs):
			m.fail(EdictOutput)
			return
		}
		id = next
		m.edicts = append(m.edicts, Edict{id, amount, uint32(output.Lo)})
	}
}

// takeField takes the first value of a tag, unless ok refuses it. A value that is left is a flaw if the tag is even.
func (m *message) takeField(tag int, ok func(model.Uint128) bool) (value model.Uint128, taken bool) {
	f := &m.fields[tag]
	if f.count == 0 || !ok(f.value) {
		return model.Uint128{}, false
	}
	f.count--
	return f.value, true
}

func (m *message) takeHeight(tag int) Option[uint64] {
	value, ok := m.takeField(tag, fits64)
	return Option[uint64]{value.Lo, ok}
}

func anyAmount(model.Uint128) bool { return true }

func fits64(a model.Uint128) bool { return a.Hi == 0 }

func fits32(a model.Uint128) bool { return a.Hi == 0 && a.Lo>>32 == 0 }

// take sets the fields of s and checks the values that remain.
func (m *message) take(s *Runestone) {
	flags, _ := m.takeField(tagFlags, anyAmount)
	if flags.Lo&flagEtching != 0 {
		flags.Lo &^= flagEtching
		s.Etching = new(Etching)
		m.takeEtching(s.Etching, &flags.Lo)
		if _, ok := s.Etching.supply(); !ok {
			m.fail(SupplyOverflow)
		}
	}
	if mint := &m.fields[tagMint]; mint.count >= 2 && fits64(mint.value) && fits32(m.mintTx) {
		if id := (ID{mint.value.Lo, uint32(m.mintTx.Lo)}); id.valid() {
			mint.count -= 2
			s.Mint = Some(id)
		}
	}
	outputs := model.Uint128Of(uint64(m.outputs))
	pointer, ok := m.takeField(tagPointer, func(a model.Uint128) bool { return fits32(a) && a.Cmp(outputs) < 0 })
	s.Pointer = Option[uint32]{uint32(pointer.Lo), ok}

	if !flags.IsZero() {
		m.fail(UnrecognizedFlag)
	}
	for tag := 0; tag < tags; tag += 2 {
		m.unknown = m.unknown || m.fields[tag].count > 0
	}
	if m.unknown {
		m.fail(UnrecognizedEvenTag)
	}
}

// takeEtching sets the fields of an etching, and removes its flags.
func (m *message) takeEtching(e *Etching, flags *uint64) {
	below := func(most uint64) func(model.Uint128) bool {
		return func(a model.Uint128) bool { return a.Hi == 0 && a.Lo <= most }
	}
	divisibility, ok := m.takeField(tagDivisibility, below(MaxDivisibility))
	m.given.Divisibility = ok
	e.Divisibility = uint8(divisibility.Lo)
	e.Premine, m.given.Premine = m.takeField(tagPremine, anyAmount)
	name, ok := m.takeField(tagName, anyAmount)
	e.Name = Option[Name]{Name(name), ok}
	spacers, ok := m.takeField(tagSpacers, below(MaxSpacers))
	m.given.Spacers = ok
	e.Spacers = uint32(spacers.Lo)
	symbol, ok := m.takeField(tagSymbol, func(a model.Uint128) bool { return fits32(a) && isSymbol(uint32(a.Lo)) })
	e.Symbol = Option[rune]{rune(symbol.Lo), ok}
	if *flags&flagTerms != 0 {
		*flags &^= flagTerms
		e.Terms.OK = true
		t := &e.Terms.Value
		t.Cap.Value, t.Cap.OK = m.takeField(tagCap, anyAmount)
		t.Amount.Value, t.Amount.OK = m.takeField(tagAmount, anyAmount)
		t.Height = Range{m.takeHeight(tagHeightStart), m.takeHeight(tagHeightEnd)}
		t.Offset = Range{m.takeHeight(tagOffsetStart), m.takeHeight(tagOffsetEnd)}
	}
	e.Turbo = *flags&flagTurbo != 0
	*flags &^= flagTurbo
}

// isSymbol reports whether a number is a Unicode scalar value.
func isSymbol(n uint32) bool { return n <= utf8.MaxRune && utf8.ValidRune(rune(n)) }
