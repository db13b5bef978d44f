package wallet

import (
	"crypto/sha256"

	"birthmark/model"
)

// pair returns the parent of two nodes of a Merkle tree: the double SHA-256 of both.
func pair(left, right *model.Hash) model.Hash {
	var both [2 * len(left)]byte
	copy(both[:], left[:])
	copy(both[len(left):], right[:])
	once := sha256.Sum256(both[:])
	return sha256.Sum256(once[:])
}

// above returns the parents of the nodes of one level. The last of an odd number is paired with itself.
func above(nodes []model.Hash) []model.Hash {
	parents := make([]model.Hash, (len(nodes)+1)/2)
	for i := range parents {
		parents[i] = pair(&nodes[2*i], &nodes[min(2*i+1, len(nodes)-1)])
	}
	return parents
}

// wholeTree is a number of levels for climb: up to the root.
const wholeTree = -1

// climb appends to branch the siblings of node at on the way up some levels, or to the root, and returns the nodes of
// the level that it reaches. A single node is paired with itself unless the whole tree is climbed.
func climb(branch, nodes []model.Hash, at, levels int) (siblings, top []model.Hash) {
	for ; levels > 0 || levels == wholeTree && len(nodes) > 1; at /= 2 {
		branch = append(branch, nodes[min(at^1, len(nodes)-1)])
		nodes = above(nodes)
		if levels > 0 {
			levels--
		}
	}
	return branch, nodes
}

// blockTree is the Merkle tree of a block above the level of its groups: the lower levels are quickly made of the ids
// of one group.
type blockTree struct {
	levels [][]model.Hash // from the roots of the groups up, without the root of the tree; none if there is one group
}

// groupLevels is the number of levels that a [blockTree] leaves out; a group has 2^groupLevels transactions.
const groupLevels = 3

func newBlockTree(ids []model.Hash) *blockTree {
	t := new(blockTree)
	if len(ids) <= 1<<groupLevels {
		return t
	}
	_, nodes := climb(nil, ids, 0, groupLevels)
	for ; len(nodes) > 1; nodes = above(nodes) {
		t.levels = append(t.levels, nodes)
	}
	return t
}

func (t *blockTree) bytes() (n int) {
	for _, nodes := range t.levels {
		n += len(nodes) * len(model.Hash{})
	}
	return n
}

// branch returns the siblings of a transaction, bottom-up. group has the ids of its group.
func (t *blockTree) branch(group []model.Hash, position int) []model.Hash {
	levels := groupLevels
	if len(t.levels) == 0 {
		levels = wholeTree
	}
	siblings, _ := climb(nil, group, position%(1<<groupLevels), levels)
	at := position >> groupLevels
	for _, nodes := range t.levels {
		siblings = append(siblings, nodes[min(at^1, len(nodes)-1)])
		at /= 2
	}
	return siblings
}

// MerkleBranch returns the siblings of a transaction of a block, bottom-up. The error is of kind NotFound
// (unknown_block, unknown_tx) if there is no such block or position.
func (v *View) MerkleBranch(height uint32, position int) ([]model.Hash, error) {
	row, err := v.blockRow(height)
	if err != nil {
		return nil, err
	}
	if position < 0 || position >= row.TxCount {
		return nil, model.Errorf(model.NotFound, "unknown_tx", "no transaction at position %d of block %d: it has %d",
			position, height, row.TxCount)
	}
	h := model.HeightPk(height)
	t, known := v.chain.trees.Get(row.Hash)
	if !known {
		ids, err := v.q.BlockTxIDs(h, 0, row.TxCount)
		if err != nil {
			return nil, err
		}
		t = newBlockTree(ids)
		v.chain.trees.Put(row.Hash, t)
	}
	group, err := v.q.BlockTxIDs(h, position&^(1<<groupLevels-1), 1<<groupLevels)
	if err != nil {
		return nil, err
	}
	return t.branch(group, position), nil
}
