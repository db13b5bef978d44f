package generate

import (
	"encoding/binary"
	"math/rand/v2"
)

// random is a source of numbers that can be copied.
type random struct {
	*rand.Rand
	state *rand.PCG
}

func newRandom(seed, stream uint64) random {
	state := rand.NewPCG(seed, stream)
	return random{rand.New(state), state}
}

// chance is true in a share of the draws.
func (r random) chance(share float64) bool { return r.Float64() < share }

// share is a part of an amount, at least 1 and, where it can, less than all of it.
func (r random) share(amount uint64) uint64 { return 1 + uint64(r.Float64()*0.5*float64(amount-1)) }

// filler appends n bytes that stand for what nobody looks at.
func (r random) filler(b []byte, n int) []byte {
	b = append(b, make([]byte, n)...)
	fill(b[len(b)-n:], r.Uint64())
	return b
}

// fill writes bytes that look random and depend on the number alone.
func fill(b []byte, number uint64) {
	x := number
	for len(b) >= 8 {
		x = mix(x)
		binary.LittleEndian.PutUint64(b, x)
		b = b[8:]
	}
	if len(b) > 0 {
		var last [8]byte
		binary.LittleEndian.PutUint64(last[:], mix(x))
		copy(b, last[:])
	}
}

// mix is splitmix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
