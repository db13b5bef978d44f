package sha256x2

import "crypto/sha256"

// Pairs hashes pairs of neighbours, SHA-256 of SHA-256 of the two, as merkle trees do. The hashes take the places of the
// first half of level. The number of neighbours must be even.
func Pairs[Hash ~[sha256.Size]byte](level []Hash) {
	if twoLanes {
		pairsSide(level)
	} else {
		pairsOne(level)
	}
}

// pairsOne hashes pair by pair.
func pairsOne[Hash ~[sha256.Size]byte](level []Hash) {
	var pair [2 * sha256.Size]byte
	for i := range len(level) / 2 {
		copy(pair[:], level[2*i][:])
		copy(pair[sha256.Size:], level[2*i+1][:])
		once := sha256.Sum256(pair[:])
		level[i] = sha256.Sum256(once[:])
	}
}

// pairsSide hashes two pairs side by side. Neighbours stand one behind the other in memory, so a pair is a block as it
// is, and the block that ends the message is the same for all.
func pairsSide[Hash ~[sha256.Size]byte](level []Hash) {
	var blocks [2][blockSize]byte
	pairs := len(level) / 2
	for i := 0; i < pairs; i += 2 {
		j := min(i+1, pairs-1)
		one, other := initial, initial
		blocksNI(&one, &other, &level[2*i][0], &level[2*j][0], 1)
		blocksNI(&one, &other, &pairEnd[0], &pairEnd[0], 1)
		one.putBlock(&blocks[0])
		other.putBlock(&blocks[1])
		one, other = initial, initial
		blocksNI(&one, &other, &blocks[0][0], &blocks[1][0], 1)
		one.put((*[sha256.Size]byte)(level[i][:]))
		other.put((*[sha256.Size]byte)(level[j][:]))
	}
}

// pairEnd is the padding of a message of one block.
var pairEnd = [blockSize]byte{0: 0x80, blockSize - 2: 8 * blockSize >> 8}
