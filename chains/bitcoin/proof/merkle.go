package proof

import "birthmark/chains/bitcoin/sha256x2"

// MerkleRoot hashes the ids of a block's transactions in pairs until one is left; at an odd end the last is paired with
// itself. repeats: two that are a pair of their own are equal, so that the list without the second has the same root
// (CVE-2012-2459). ids, at least one, is overwritten.
func MerkleRoot[Hash ~[32]byte](ids []Hash) (root Hash, repeats bool) {
	for len(ids) > 1 {
		pairs := len(ids) / 2
		for i := range pairs {
			repeats = repeats || ids[2*i] == ids[2*i+1]
		}
		sha256x2.Pairs(ids[:2*pairs])
		if len(ids)%2 == 1 {
			last := [2]Hash{ids[2*pairs], ids[2*pairs]}
			sha256x2.Pairs(last[:])
			ids[pairs] = last[0]
			pairs++
		}
		ids = ids[:pairs]
	}
	return ids[0], repeats
}
