package runes

import (
	"encoding/binary"
	"math/bits"
	"strings"

	"birthmark/model"
)

// Name is the name of a rune as a number: A is 0, Z 25, AA 26, and so on (bijective base 26). Spacers are no part of
// it.
type Name model.Uint128

const (
	letters    = 26
	maxLetters = 28 // of a number of 128 bits

	longest  = 12     // from the first rune height on, names of longest letters are unlocked, then shorter ones
	interval = 17_500 // blocks in which the names of one length are unlocked

	// MaxSpacers has a bit after each letter of the longest name but the last one.
	MaxSpacers = 1<<(maxLetters-1) - 1

	// spacer is written after a letter whose bit is set.
	spacer = '•'
)

// Reserved is the first name that only runes without a chosen name have: 27 letters A.
var Reserved = first(maxLetters - 2)

// first returns the first name of n+1 letters.
func first(n int) Name {
	var a model.Uint128
	for range n {
		a, _ = a.Add(model.Uint128Of(1))
		a, _ = a.Mul(model.Uint128Of(letters))
	}
	return Name(a)
}

// NameOf returns the name with a small number.
func NameOf(n uint64) Name { return Name(model.Uint128Of(n)) }

// Compare orders names by their numbers: by length, then by letters.
func (n Name) Compare(other Name) int { return model.Uint128(n).Cmp(model.Uint128(other)) }

// String returns the letters.
func (n Name) String() string {
	var b [maxLetters]byte
	at, rest := len(b), model.Uint128(n)
	for {
		var digit uint64
		rest, digit = rest.DivMod(letters)
		at--
		b[at] = 'A' + byte(digit)
		if rest.IsZero() {
			return string(b[at:])
		}
		rest, _ = rest.Sub(model.Uint128Of(1))
	}
}

// ParseName parses 1 to 28 letters, without spacers. ok is false for other texts, and for a number above 128 bits.
func ParseName(text string) (n Name, ok bool) {
	var a model.Uint128
	for i := range len(text) {
		digit := text[i] - 'A'
		if digit >= letters {
			return Name{}, false
		}
		one := model.Uint128Of(1)
		if i == 0 {
			one = model.Uint128{}
		}
		next, ok1 := a.Add(one)
		next, ok2 := next.Mul(model.Uint128Of(letters))
		next, ok3 := next.Add(model.Uint128Of(uint64(digit)))
		if !ok1 || !ok2 || !ok3 {
			return Name{}, false
		}
		a = next
	}
	return Name(a), text != ""
}

// Spaced returns the name with a • after each letter whose bit is set in spacers: bit 0 is that of the first letter.
// The last letter has none.
func (n Name) Spaced(spacers uint32) string {
	text := n.String()
	var b strings.Builder
	for i := range len(text) {
		b.WriteByte(text[i])
		if i < len(text)-1 && spacers&(1<<i) != 0 {
			b.WriteRune(spacer)
		}
	}
	return b.String()
}

// ParseSpaced parses a name with spacers, • or a full stop, between letters.
func ParseSpaced(text string) (n Name, spacers uint32, ok bool) {
	var b []byte
	for _, r := range text {
		switch {
		case r >= 'A' && r <= 'Z' && len(b) < maxLetters:
			b = append(b, byte(r))
		case (r == spacer || r == '.') && len(b) > 0 && spacers&(1<<(len(b)-1)) == 0:
			spacers |= 1 << (len(b) - 1)
		default:
			return Name{}, 0, false
		}
	}
	if bits.Len32(spacers) >= len(b) {
		return Name{}, 0, false
	}
	n, ok = ParseName(string(b))
	return n, spacers, ok
}

// IsReserved reports whether the name cannot be chosen.
func (n Name) IsReserved() bool { return n.Compare(Reserved) >= 0 }

// ReservedFor returns the name of the rune with an id that an etching without a name creates.
func ReservedFor(id ID) Name {
	sum, _ := model.Uint128(Reserved).Add(model.Uint128{Hi: id.Block >> 32, Lo: id.Block<<32 | uint64(id.Tx)})
	return Name(sum)
}

// Bytes returns the number, 16 bytes big-endian.
func (n Name) Bytes() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, n.Hi), n.Lo)
}

// NameFrom is the inverse of [Name.Bytes].
func NameFrom(b []byte) (Name, bool) {
	if len(b) != 16 {
		return Name{}, false
	}
	return Name{Hi: binary.BigEndian.Uint64(b), Lo: binary.BigEndian.Uint64(b[8:])}, true
}

// Commitment returns the data that an input of the etching must reveal: the number in little-endian bytes, without zeros
// at the end.
func (n Name) Commitment() []byte {
	b := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, n.Lo), n.Hi)
	for len(b) > 0 && b[len(b)-1] == 0 {
		b = b[:len(b)-1]
	}
	return b
}

// minimum returns the lowest name that an etching in a block can choose. The names of each length are unlocked in steps
// of one block during 17,500 blocks, longer names first. start is the first height of the network's runes.
func minimum(start, height model.HeightPk) Name {
	offset := uint64(height) + 1
	switch {
	case offset < uint64(start):
		return first(longest)
	case offset >= uint64(start)+longest*interval:
		return Name{}
	}
	progress := offset - uint64(start)
	length := longest - int(progress/interval)
	high, low := first(length).Lo, first(length-1).Lo // of at most 13 letters: 57 bits
	over, product := bits.Mul64(high-low, progress%interval)
	less, _ := bits.Div64(over, product, interval)
	return NameOf(high - less)
}
