package descriptor

import "strings"

// Character sets of BIP 380: of descriptors, in three groups of 32 so that changed case and hardened markers stay
// detectable, and of checksums.
const (
	descriptorChars = "0123456789()[],'/*abcdefgh@:$%{}" +
		"IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~" +
		"ijklmnopqrstuvwxyzABCDEFGH`#\"\\ "
	checksumChars = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
	checksumSize  = 8 // characters
)

// generator are the coefficients of the checksum's polynomial (BIP 380).
var generator = [5]uint64{0xf5dee51989, 0xa9fdca3312, 0x1bab10e32d, 0x3706b1677a, 0x644d626ffd}

// Checksum returns the checksum of a descriptor without one (BIP 380). It is not ok if the descriptor has characters
// that descriptors do not have.
func Checksum(descriptor string) (sum string, ok bool) {
	state, groups, inGroup := uint64(1), 0, 0
	add := func(value int) {
		top := state >> 35
		state = state&0x7ffffffff<<5 ^ uint64(value)
		for i, g := range generator {
			if top>>i&1 == 1 {
				state ^= g
			}
		}
	}
	for _, c := range descriptor {
		at := strings.IndexRune(descriptorChars, c)
		if at < 0 {
			return "", false
		}
		add(at & 31)
		groups = 3*groups + at>>5
		if inGroup++; inGroup == 3 {
			add(groups)
			groups, inGroup = 0, 0
		}
	}
	if inGroup > 0 {
		add(groups)
	}
	for range checksumSize {
		add(0)
	}
	state ^= 1
	text := make([]byte, checksumSize)
	for i := range text {
		text[i] = checksumChars[state>>(5*(checksumSize-1-i))&31]
	}
	return string(text), true
}
