package script

import (
	"encoding/binary"
	"fmt"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// AppendMerkleBlock appends the merkleblock message (BIP 37) that proves the transaction at a position of a block: the
// header, the number of transactions, the hashes of the partial tree and its flag bits. ids has the id of every
// transaction of the block.
func AppendMerkleBlock(to, header []byte, ids []model.Hash, position int) ([]byte, error) {
	if len(header) < block.HeaderSize || position < 0 || position >= len(ids) {
		return nil, fmt.Errorf("merkle block: a header of %d bytes and transaction %d of %d: expected at least %d bytes and "+
			"a transaction of the block", len(header), position, len(ids), block.HeaderSize)
	}
	levels := [][]model.Hash{ids}
	for level := ids; len(level) > 1; {
		above := make([]model.Hash, (len(level)+1)/2)
		for i := range above {
			var pair [64]byte
			copy(pair[:32], level[2*i][:])
			copy(pair[32:], level[min(2*i+1, len(level)-1)][:])
			above[i] = block.DoubleHash(pair[:])
		}
		levels, level = append(levels, above), above
	}
	tree := partialTree{levels: levels, position: position}
	tree.visit(len(levels)-1, 0)

	to = append(to, header...)
	to = binary.LittleEndian.AppendUint32(to, uint32(len(ids)))
	to = block.AppendCompactSize(to, uint64(len(tree.hashes)))
	for _, h := range tree.hashes {
		to = append(to, h[:]...)
	}
	flags := make([]byte, (len(tree.bits)+7)/8)
	for i, bit := range tree.bits {
		if bit {
			flags[i/8] |= 1 << (i % 8)
		}
	}
	to = block.AppendCompactSize(to, uint64(len(flags)))
	return append(to, flags...), nil
}

// partialTree is the part of a Merkle tree that leads to one leaf, in the order of a depth-first walk.
type partialTree struct {
	levels   [][]model.Hash // from the leaves to the root
	position int            // of the leaf
	bits     []bool         // true: the node is on the path to the leaf
	hashes   []model.Hash   // of the nodes that are not, and of the leaf
}

func (t *partialTree) visit(height, at int) {
	onPath := t.position>>height == at
	t.bits = append(t.bits, onPath)
	if height == 0 || !onPath {
		t.hashes = append(t.hashes, t.levels[height][at])
		return
	}
	for child := 2 * at; child <= 2*at+1 && child < len(t.levels[height-1]); child++ {
		t.visit(height-1, child)
	}
}
