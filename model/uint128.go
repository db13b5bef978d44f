package model

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math/big"
	"math/bits"
)

// Uint128 is an amount of an asset.
type Uint128 struct{ Hi, Lo uint64 }

// MaxUint128 is the largest amount.
var MaxUint128 = Uint128{^uint64(0), ^uint64(0)}

// errUint128 is the error of an encoded amount above 128 bits, or one that is cut off.
var errUint128 = errors.New("not an amount of 128 bits")

// Uint128Of returns the amount n.
func Uint128Of(n uint64) Uint128 { return Uint128{Lo: n} }

// IsZero reports whether the amount is 0.
func (a Uint128) IsZero() bool { return a == Uint128{} }

// Cmp returns -1, 0 or 1.
func (a Uint128) Cmp(b Uint128) int { return cmp.Or(cmp.Compare(a.Hi, b.Hi), cmp.Compare(a.Lo, b.Lo)) }

// Add returns the sum; ok is false if it exceeds 128 bits.
func (a Uint128) Add(b Uint128) (sum Uint128, ok bool) {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, over := bits.Add64(a.Hi, b.Hi, carry)
	return Uint128{hi, lo}, over == 0
}

// Sub returns the difference; ok is false if it is negative.
func (a Uint128) Sub(b Uint128) (rest Uint128, ok bool) {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi, under := bits.Sub64(a.Hi, b.Hi, borrow)
	return Uint128{hi, lo}, under == 0
}

// Mul returns the product; ok is false if it exceeds 128 bits.
func (a Uint128) Mul(b Uint128) (product Uint128, ok bool) {
	hi, lo := bits.Mul64(a.Lo, b.Lo)
	over1, mid1 := bits.Mul64(a.Hi, b.Lo)
	over2, mid2 := bits.Mul64(a.Lo, b.Hi)
	mid, carry1 := bits.Add64(mid1, mid2, 0)
	hi, carry2 := bits.Add64(hi, mid, 0)
	return Uint128{hi, lo}, over1|over2|carry1|carry2 == 0 && (a.Hi == 0 || b.Hi == 0)
}

// DivMod returns the quotient and the remainder of a division by n, which is not 0.
func (a Uint128) DivMod(n uint64) (Uint128, uint64) {
	hi, rest := a.Hi/n, a.Hi%n
	lo, rest := bits.Div64(rest, a.Lo, n)
	return Uint128{hi, lo}, rest
}

// Big returns the amount as an integer of any size.
func (a Uint128) Big() *big.Int {
	n := new(big.Int).Lsh(new(big.Int).SetUint64(a.Hi), 64)
	return n.Or(n, new(big.Int).SetUint64(a.Lo))
}

// String returns the amount in decimal digits.
func (a Uint128) String() string { return a.Big().String() }

// ParseUint128 reads decimal digits; ok is false for another text, and above 128 bits.
func ParseUint128(text string) (a Uint128, ok bool) {
	for i := range len(text) {
		d := text[i] - '0'
		if d > 9 {
			return Uint128{}, false
		}
		var over, more bool
		a, over = a.Mul(Uint128Of(10))
		if a, more = a.Add(Uint128Of(uint64(d))); !over || !more {
			return Uint128{}, false
		}
	}
	return a, text != ""
}

// AppendUvarint appends the amount in groups of 7 bits, the lowest first (LEB128): for amounts of 64 bits like
// [binary.AppendUvarint].
func (a Uint128) AppendUvarint(b []byte) []byte {
	for a.Hi > 0 {
		b = append(b, byte(a.Lo)|0x80)
		a = Uint128{a.Hi >> 7, a.Lo>>7 | a.Hi<<57}
	}
	return binary.AppendUvarint(b, a.Lo)
}

// Uvarint128 reads what [Uint128.AppendUvarint] appended, and also forms that are longer than necessary. n is the number
// of bytes. It fails if the amount exceeds 128 bits or 19 bytes, or if it is cut off.
func Uvarint128(b []byte) (a Uint128, n int, err error) {
	const most = 19 // bytes: the last one has 2 bits
	for i, c := range b {
		group := uint64(c & 0x7f)
		if i >= most || i == most-1 && group > 3 {
			return Uint128{}, 0, errUint128
		}
		switch shift := 7 * i; {
		case shift < 64:
			a.Lo |= group << shift
			a.Hi |= group >> (64 - shift) // 0 unless the group crosses the border: Go shifts by any number
		default:
			a.Hi |= group << (shift - 64)
		}
		if c < 0x80 {
			return a, i + 1, nil
		}
	}
	return Uint128{}, 0, errUint128
}
