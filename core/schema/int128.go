package schema

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"

	"birthmark/model"
)

// Int128 is a signed 128-bit integer. Balances are sums of any number of 64-bit amounts.
type Int128 struct {
	Hi int64
	Lo uint64
}

const int128Size = 16

// Int128Of returns n*sign; sign is 1, 0 or -1.
func Int128Of(n uint64, sign int64) Int128 {
	switch {
	case sign == 0 || n == 0:
		return Int128{}
	case sign < 0:
		return Int128{-1, -n}
	}
	return Int128{0, n}
}

func (w Int128) Add(v Int128) Int128 {
	lo, carry := bits.Add64(w.Lo, v.Lo, 0)
	return Int128{w.Hi + v.Hi + int64(carry), lo}
}

func (w Int128) Sub(v Int128) Int128 {
	lo, borrow := bits.Sub64(w.Lo, v.Lo, 0)
	return Int128{w.Hi - v.Hi - int64(borrow), lo}
}

func (w Int128) Cmp(v Int128) int { return cmp.Or(cmp.Compare(w.Hi, v.Hi), cmp.Compare(w.Lo, v.Lo)) }

// Unsigned returns a number that is not negative.
func (w Int128) Unsigned() model.Uint128 { return model.Uint128{Hi: uint64(w.Hi), Lo: w.Lo} }

func (w Int128) Negative() bool { return w.Hi < 0 }

// appendTo appends a non-negative number, big-endian, without leading zeros.
func (w Int128) appendTo(b []byte) []byte {
	var all [int128Size]byte
	binary.BigEndian.PutUint64(all[:], uint64(w.Hi))
	binary.BigEndian.PutUint64(all[8:], w.Lo)
	i := 0
	for i < int128Size && all[i] == 0 {
		i++
	}
	return append(b, all[i:]...)
}

// size returns the bytes that appendTo appends.
func (w Int128) size() int {
	if w.Hi != 0 {
		return 8 + (bits.Len64(uint64(w.Hi))+7)/8
	}
	return (bits.Len64(w.Lo) + 7) / 8
}

func ParseInt128(b []byte) (Int128, error) {
	n, err := parseUint128(b)
	if int64(n.Hi) < 0 {
		return Int128{}, errAmount(b)
	}
	return Int128{int64(n.Hi), n.Lo}, err
}

func errAmount(b []byte) error { return fmt.Errorf("%w: %x is not an amount", ErrRow, b) }

// parseUint128 reads a number, big-endian, without leading zeros.
func parseUint128(b []byte) (model.Uint128, error) {
	if len(b) > int128Size || len(b) > 0 && b[0] == 0 {
		return model.Uint128{}, errAmount(b)
	}
	var all [int128Size]byte
	copy(all[int128Size-len(b):], b)
	return model.Uint128{Hi: binary.BigEndian.Uint64(all[:]), Lo: binary.BigEndian.Uint64(all[8:])}, nil
}

func (w Int128) Big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(w.Hi), 64)
	return n.Add(n, new(big.Int).SetUint64(w.Lo))
}

func (w Int128) String() string { return w.Big().String() }

// HeldChange is a change of an amount of 128 bits that is held: between -2^128 and 2^128, and sums of such changes.
type HeldChange struct {
	over int64 // multiples of 2^128
	low  model.Uint128
}

// HeldChangeOf returns amount*sign; sign is 1, 0 or -1.
func HeldChangeOf(amount model.Uint128, sign int64) HeldChange {
	switch {
	case sign == 0 || amount.IsZero():
		return HeldChange{}
	case sign < 0:
		low, _ := model.Uint128{}.Sub(amount)
		return HeldChange{-1, low}
	}
	return HeldChange{0, amount}
}

func (c HeldChange) Add(d HeldChange) HeldChange {
	low, ok := c.low.Add(d.low)
	sum := HeldChange{c.over + d.over, low}
	if !ok {
		sum.over++
	}
	return sum
}

// IsZero reports whether nothing changes.
func (c HeldChange) IsZero() bool { return c == HeldChange{} }

// Big returns the change as an integer of any size.
func (c HeldChange) Big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(c.over), 8*int128Size)
	return n.Add(n, c.low.Big())
}

// Apply adds the change to an amount; ok is false if the result is negative or exceeds 128 bits.
func (c HeldChange) Apply(to model.Uint128) (amount model.Uint128, ok bool) {
	sum := c.Add(HeldChange{low: to})
	return sum.low, sum.over == 0
}
