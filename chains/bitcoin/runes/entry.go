package runes

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"

	"birthmark/model"
)

// Entry contains the properties of a rune that do not change.
type Entry struct {
	Number       uint64 // of runes that were created before
	Name         Name
	Spacers      uint32
	Symbol       Option[rune]
	Divisibility uint8
	Premine      model.Uint128
	Terms        Option[Terms]
	Turbo        bool
	Cenotaph     bool // created by a message with a flaw: it has a name and a number only, and no supply
	Builtin      bool // a part of the protocol: no transaction created it
}

// The first byte of an encoded entry. The fields after it are:
//
//	number         uvarint
//	name           uvarint of up to 128 bits
//	spacers        uvarint
//	divisibility   1 byte
//	symbol         uvarint, if hasSymbol is set
//	premine        uvarint of up to 128 bits
//	terms          if hasTerms is set: a byte with a bit for each of the next fields, from the lowest: amount, cap, start
//	               and end height, start and end offset; then those whose bit is set, as uvarints
const (
	hasSymbol = 1 << iota
	hasTerms
	isTurbo
	isCenotaph
	isBuiltin
	entryBits = 1<<iota - 1
)

const termFields = 6

// Info returns the encoded entry, for [model.TokenBirth.Info].
func (e *Entry) Info() []byte {
	flags := byte(0)
	for i, set := range []bool{e.Symbol.OK, e.Terms.OK, e.Turbo, e.Cenotaph, e.Builtin} {
		if set {
			flags |= 1 << i
		}
	}
	b := binary.AppendUvarint([]byte{flags}, e.Number)
	b = model.Uint128(e.Name).AppendUvarint(b)
	b = append(binary.AppendUvarint(b, uint64(e.Spacers)), e.Divisibility)
	if e.Symbol.OK {
		b = binary.AppendUvarint(b, uint64(e.Symbol.Value))
	}
	b = e.Premine.AppendUvarint(b)
	if !e.Terms.OK {
		return b
	}
	at := len(b)
	b = append(b, 0)
	for i, f := range e.Terms.Value.fields() {
		if f.OK {
			b[at] |= 1 << i
			b = f.Value.AppendUvarint(b)
		}
	}
	return b
}

// fields returns the fields in the order of their bits.
func (t *Terms) fields() [termFields]Option[model.Uint128] {
	wide := func(n Option[uint64]) Option[model.Uint128] {
		return Option[model.Uint128]{model.Uint128Of(n.Value), n.OK}
	}
	return [...]Option[model.Uint128]{
		t.Amount, t.Cap, wide(t.Height.Start), wide(t.Height.End), wide(t.Offset.Start), wide(t.Offset.End),
	}
}

// termsOf is the inverse of fields; ok is false if a height exceeds 64 bits.
func termsOf(f [termFields]Option[model.Uint128]) (t Terms, ok bool) {
	ok = true
	narrow := func(n Option[model.Uint128]) Option[uint64] {
		ok = ok && fits64(n.Value)
		return Option[uint64]{n.Value.Lo, n.OK}
	}
	return Terms{f[0], f[1], Range{narrow(f[2]), narrow(f[3])}, Range{narrow(f[4]), narrow(f[5])}}, ok
}

var errEntry = errors.New("not the entry of a rune")

// ParseEntry is the inverse of [Entry.Info].
func ParseEntry(info []byte) (*Entry, error) {
	r := entryReader{b: info}
	flags := r.byte()
	e := &Entry{Turbo: flags&isTurbo != 0, Cenotaph: flags&isCenotaph != 0, Builtin: flags&isBuiltin != 0}
	e.Number = r.atMost(math.MaxUint64)
	e.Name = Name(r.uvarint())
	e.Spacers = uint32(r.atMost(MaxSpacers))
	e.Divisibility = r.byte()
	if flags&hasSymbol != 0 {
		symbol := uint32(r.atMost(math.MaxUint32))
		r.bad = r.bad || !isSymbol(symbol)
		e.Symbol = Some(rune(symbol))
	}
	e.Premine = r.uvarint()
	if flags&hasTerms != 0 {
		present := r.byte()
		var fields [termFields]Option[model.Uint128]
		for i := range fields {
			if present&(1<<i) != 0 {
				fields[i] = Some(r.uvarint())
			}
		}
		terms, ok := termsOf(fields)
		r.bad = r.bad || !ok || present>>termFields != 0
		e.Terms = Some(terms)
	}
	if r.bad || len(r.b) > 0 || flags > entryBits || e.Divisibility > MaxDivisibility {
		return nil, errEntry
	}
	return e, nil
}

// entryReader reads the fields of an entry. After an error it returns zeros.
type entryReader struct {
	b   []byte
	bad bool
}

func (r *entryReader) byte() byte {
	if len(r.b) == 0 {
		r.bad = true
		return 0
	}
	first := r.b[0]
	r.b = r.b[1:]
	return first
}

func (r *entryReader) uvarint() model.Uint128 {
	a, n, err := model.Uvarint128(r.b)
	r.b = r.b[n:]
	r.bad = r.bad || err != nil
	return a
}

func (r *entryReader) atMost(most uint64) uint64 {
	a := r.uvarint()
	r.bad = r.bad || a.Cmp(model.Uint128Of(most)) > 0
	return a.Lo
}

// Description returns the properties of the rune except its name and its divisibility, in one line.
func (e *Entry) Description() string {
	parts := []string{fmt.Sprintf("rune number %d", e.Number)}
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if e.Symbol.OK && unicode.IsGraphic(e.Symbol.Value) {
		add("symbol %c", e.Symbol.Value)
	}
	if e.Cenotaph {
		add("created by an invalid message, without supply")
		return strings.Join(parts, "; ")
	}
	if !e.Premine.IsZero() {
		add("premine %v", e.Premine)
	}
	if t := e.Terms.Value; e.Terms.OK {
		add("%v per mint, at most %v mints", t.Amount.Value, t.Cap.Value)
		for _, bound := range []struct {
			what string
			at   Option[uint64]
		}{
			{"mints from height", t.Height.Start}, {"mints before height", t.Height.End},
			{"mints from block", t.Offset.Start}, {"mints before block", t.Offset.End},
		} {
			switch after := strings.HasSuffix(bound.what, "block"); {
			case bound.at.OK && after:
				add("%s %d after its creation", bound.what, bound.at.Value)
			case bound.at.OK:
				add("%s %d", bound.what, bound.at.Value)
			}
		}
	} else {
		add("no mints")
	}
	return strings.Join(parts, "; ")
}

// Mints returns the number of mints, from the number of transactions that changed the supply upwards
// ([model.Token.Mints]): the premine is no mint.
func (e *Entry) Mints(supplies uint64) uint64 {
	if e.Premine.IsZero() || supplies == 0 {
		return supplies
	}
	return supplies - 1
}

// Mintable returns the amount that a transaction in a block mints, after a number of mints; ok is false if the rune
// cannot be minted. created is the height at which it was created.
func (e *Entry) Mintable(created, height, mints uint64) (amount model.Uint128, ok bool) {
	t := &e.Terms.Value
	switch start, end := t.Start(created), t.End(created); {
	case !e.Terms.OK,
		start.OK && height < start.Value,
		end.OK && height >= end.Value,
		model.Uint128Of(mints).Cmp(t.Cap.Value) >= 0: // without a cap there are no mints
		return model.Uint128{}, false
	}
	return t.Amount.Value, true
}

// Start returns the first height at which a rune that was created at a height can be minted.
func (t *Terms) Start(created uint64) Option[uint64] {
	return limit(t.Height.Start, t.Offset.Start, created, func(a, b uint64) uint64 { return max(a, b) })
}

// End returns the height from which it cannot be minted any longer.
func (t *Terms) End(created uint64) Option[uint64] {
	return limit(t.Height.End, t.Offset.End, created, func(a, b uint64) uint64 { return min(a, b) })
}

// limit returns the stricter of two bounds.
func limit(height, offset Option[uint64], created uint64, stricter func(a, b uint64) uint64) Option[uint64] {
	if !offset.OK {
		return height
	}
	relative := created + offset.Value
	if relative < created {
		relative = math.MaxUint64
	}
	if !height.OK {
		return Some(relative)
	}
	return Some(stricter(height.Value, relative))
}
