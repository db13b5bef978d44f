package proof

import "crypto/sha256"

// MerkleRoot hashes the ids of a block's transactions in pairs until one is left; at an odd end the last is paired with
// itself. repeats: two that are a pair of their own are equal, so that the list without the second has the same root
// (CVE-2012-2459). ids, at least one, is overwritten.
func MerkleRoot[Hash ~[32]byte](ids []Hash) (root Hash, repeats bool) {
	var pair [64]byte
	for len(ids) > 1 {
		above := ids[:0]
		for i := 0; i < len(ids); i += 2 {
			left, right := ids[i], ids[min(i+1, len(ids)-1)]
			repeats = repeats || i+1 < len(ids) && left == right
			copy(pair[:32], left[:])
			copy(pair[32:], right[:])
			once := sha256.Sum256(pair[:])
			above = append(above, sha256.Sum256(once[:]))
		}
		ids = above
	}
	return ids[0], repeats
}
