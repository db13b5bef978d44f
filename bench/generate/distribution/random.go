package distribution

import (
	"encoding/binary"
	"iter"
	"math/rand/v2"
)

// Random draws numbers. A copy continues with the same source.
type Random struct{ *rand.Rand }

// NewRandom returns a source for a seed; the streams of one seed are independent.
func NewRandom(seed, stream uint64) Random { return Random{rand.New(rand.NewPCG(seed, stream))} }

// Chance is true for a share of the draws, from 0 to 1.
func (r Random) Chance(share float64) bool { return r.Float64() < share }

// Around returns a number from 0.6 to 1.4 of a mean, uniformly distributed.
func (r Random) Around(mean float64) int { return int(mean * (0.6 + 0.8*r.Float64())) }

// Share returns a part of an amount, at least 1 and, if possible, less than all of it.
func (r Random) Share(amount uint64) uint64 { return 1 + uint64(r.Float64()*0.5*float64(amount-1)) }

// Parts splits an amount into n parts, or fewer if the mean would be below least, but at least one. Each is from a
// quarter of the mean to all of it, the last is the rest. A part is drawn when it is requested.
func (r Random) Parts(amount, least uint64, n int) iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		n := max(1, min(uint64(n), amount/least))
		each := amount / n
		for range n - 1 {
			part := each/4 + uint64(0.75*r.Float64()*float64(each))
			amount -= part
			if !yield(part) {
				return
			}
		}
		yield(amount)
	}
}

// Filler appends n filler bytes.
func (r Random) Filler(b []byte, n int) []byte {
	b = append(b, make([]byte, n)...)
	Fill(b[len(b)-n:], r.Uint64())
	return b
}

// Fill writes bytes that look random and depend on the number only.
func Fill(b []byte, number uint64) {
	x := number
	for len(b) >= 8 {
		x = Mix(x)
		binary.LittleEndian.PutUint64(b, x)
		b = b[8:]
	}
	if len(b) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], Mix(x))
		copy(b, last[:])
	}
}

// Mix is splitmix64 (Steele, Lea, Flood 2014), a bijection.
func Mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
