package core

import (
	"math/big"
	"math/bits"
)

// residue is a number modulo the prime 2^61-1.
type residue uint64

const prime = 1<<61 - 1

func residueOf(n uint64) residue { return residue(n % prime) }

func residueOfWide(w wide) residue {
	// 2^64 is 8 modulo the prime.
	return residueOf(uint64(w.hi)).times(8).plus(residueOf(w.lo))
}

// residueOfBig is that of a number's magnitude.
func residueOfBig(n *big.Int) (r residue) {
	for _, b := range n.Bytes() {
		r = r.times(256).plus(residue(b))
	}
	return r
}

func (r residue) plus(s residue) residue { return (r + s) % prime }

func (r residue) less(s residue) residue { return (r + prime - s) % prime }

func (r residue) times(s residue) residue {
	hi, lo := bits.Mul64(uint64(r), uint64(s))
	return residue(bits.Rem64(hi, lo, prime))
}
