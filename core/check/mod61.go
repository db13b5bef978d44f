package check

import (
	"math/big"
	"math/bits"

	"birthmark/model"
)

// mod61 is an integer modulo the Mersenne prime 2^61-1.
type mod61 uint64

const prime61 = 1<<61 - 1

func mod61Of(n uint64) mod61 { return mod61(n % prime61) }

func mod61OfWide(w model.Uint128) mod61 {
	// 2^64 is 8 modulo the prime.
	return mod61Of(w.Hi).times(8).plus(mod61Of(w.Lo))
}

// mod61OfBig reduces the absolute value of n.
func mod61OfBig(n *big.Int) (m mod61) {
	for _, b := range n.Bytes() {
		m = m.times(256).plus(mod61(b))
	}
	return m
}

func (m mod61) plus(n mod61) mod61 { return (m + n) % prime61 }

func (m mod61) minus(n mod61) mod61 { return (m + prime61 - n) % prime61 }

func (m mod61) times(n mod61) mod61 {
	hi, lo := bits.Mul64(uint64(m), uint64(n))
	return mod61(bits.Rem64(hi, lo, prime61))
}
