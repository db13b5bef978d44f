package boxes

import (
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/ergo/sigma"
)

// Step is one step of a Merkle proof: the hash of the sibling and the side of the node that was computed.
type Step struct {
	Sibling []byte // nil: the node has no sibling
	Right   bool
}

// Proof returns the Merkle proof of a leaf of the transactions of a block: see [sigma.TransactionsRoot].
func Proof(leaves [][]byte, at int) (steps []Step) {
	level := make([][]byte, len(leaves))
	for i, leaf := range leaves {
		sum := blake2b.Sum256(append([]byte{0}, leaf...))
		level[i] = sum[:]
	}
	for first := true; first || len(level) > 1; first = false {
		s := Step{Right: at%2 == 1}
		if sibling := at ^ 1; sibling < len(level) {
			s.Sibling = level[sibling]
		}
		steps = append(steps, s)
		var next [][]byte
		for i := 0; i < len(level); i += 2 {
			node := append([]byte{1}, level[i]...)
			if i+1 < len(level) {
				node = append(node, level[i+1]...)
			}
			sum := blake2b.Sum256(node)
			next = append(next, sum[:])
		}
		level, at = next, at/2
	}
	return steps
}

// Leaves returns the values that the root of the transactions of a block commits to.
func Leaves(version byte, txs []*Tx) [][]byte {
	var e sigma.Encoder
	leaves := make([][]byte, 0, 2*len(txs))
	for _, t := range txs {
		leaves = append(leaves, t.ID[:])
	}
	if version > 1 {
		for _, t := range txs {
			id := e.WitnessID(t.Tx)
			leaves = append(leaves, id[:])
		}
	}
	return leaves
}
