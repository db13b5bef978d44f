package core

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"
)

// wide is a signed number of 128 bits: what one holder has of an asset, which is the sum of any number of outputs with
// 64 bits each.
type wide struct {
	hi int64
	lo uint64
}

const wideSize = 16

// wideOf is n, or -n where sign is -1, or 0.
func wideOf(n uint64, sign int64) wide {
	switch {
	case sign == 0 || n == 0:
		return wide{}
	case sign < 0:
		return wide{-1, -n}
	}
	return wide{0, n}
}

func (w wide) plus(v wide) wide {
	lo, carry := bits.Add64(w.lo, v.lo, 0)
	return wide{w.hi + v.hi + int64(carry), lo}
}

func (w wide) minus(v wide) wide {
	lo, borrow := bits.Sub64(w.lo, v.lo, 0)
	return wide{w.hi - v.hi - int64(borrow), lo}
}

func (w wide) compare(v wide) int { return cmp.Or(cmp.Compare(w.hi, v.hi), cmp.Compare(w.lo, v.lo)) }

func (w wide) negative() bool { return w.hi < 0 }

// appendTo appends the bytes of a number that is not negative, big-endian, as few as it has.
func (w wide) appendTo(b []byte) []byte {
	var all [wideSize]byte
	binary.BigEndian.PutUint64(all[:], uint64(w.hi))
	binary.BigEndian.PutUint64(all[8:], w.lo)
	i := 0
	for i < wideSize && all[i] == 0 {
		i++
	}
	return append(b, all[i:]...)
}

func parseWide(b []byte) (wide, error) {
	if len(b) > wideSize || len(b) == wideSize && b[0] > 127 || len(b) > 0 && b[0] == 0 {
		return wide{}, fmt.Errorf("%w: %x is no amount", errRow, b)
	}
	var all [wideSize]byte
	copy(all[wideSize-len(b):], b)
	return wide{int64(binary.BigEndian.Uint64(all[:])), binary.BigEndian.Uint64(all[8:])}, nil
}

func (w wide) big() *big.Int {
	n := new(big.Int).Lsh(big.NewInt(w.hi), 64)
	return n.Add(n, new(big.Int).SetUint64(w.lo))
}

func (w wide) String() string { return w.big().String() }
