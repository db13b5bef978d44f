package sha256x2

import (
	"crypto/sha256"
	"encoding/binary"
)

// state is the eight words of a hash under way, in the order blocksNI has them in its registers: f, e, b, a, h, g, d, c.
type state [8]uint32

// initial is the state before the first block (FIPS 180-4, 5.3.3).
var initial = state{
	0x9b05688c, 0x510e527f, 0xbb67ae85, 0x6a09e667, 0x5be0cd19, 0x1f83d9ab, 0xa54ff53a, 0x3c6ef372,
}

// put is the hash once all blocks are in.
func (s *state) put(to *[sha256.Size]byte) {
	binary.BigEndian.PutUint32(to[0:], s[3])
	binary.BigEndian.PutUint32(to[4:], s[2])
	binary.BigEndian.PutUint32(to[8:], s[7])
	binary.BigEndian.PutUint32(to[12:], s[6])
	binary.BigEndian.PutUint32(to[16:], s[1])
	binary.BigEndian.PutUint32(to[20:], s[0])
	binary.BigEndian.PutUint32(to[24:], s[5])
	binary.BigEndian.PutUint32(to[28:], s[4])
}

// putBlock is the hash as the only block of a message.
func (s *state) putBlock(to *[blockSize]byte) {
	s.put((*[sha256.Size]byte)(to[:]))
	copy(to[sha256.Size:], padding[:])
	to[blockSize-2] = 8 * sha256.Size >> 8
}
