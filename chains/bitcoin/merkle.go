package bitcoin

import (
	"errors"

	"birthmark/model"
)

// errMutated is a list of transactions whose merkle root another list has as well (CVE-2012-2459).
var errMutated = errors.New("its transactions repeat: another list of them has the same merkle root")

// merkleRoot hashes the ids of transactions in pairs until one is left; at an odd end the last is paired with itself.
// Two equal neighbours that are a pair of their own are refused: without the second the root would be the same.
func (d *decoder) merkleRoot(txs []model.Tx) (model.Hash, error) {
	level := d.nodes[:0]
	for i := range txs {
		level = append(level, txs[i].Hash)
	}
	d.nodes = level
	var pair [64]byte
	for len(level) > 1 {
		above := level[:0]
		for i := 0; i < len(level); i += 2 {
			left, right := level[i], level[min(i+1, len(level)-1)]
			if i+1 < len(level) && left == right {
				return model.Hash{}, errMutated
			}
			copy(pair[:32], left[:])
			copy(pair[32:], right[:])
			above = append(above, doubleHash(pair[:]))
		}
		level = above
	}
	return level[0], nil
}
