package sigma

import "golang.org/x/crypto/blake2b"

// Prefixes of the hashes of leaves and inner nodes.
const (
	leafPrefix = 0
	nodePrefix = 1
)

// MerkleRoot returns the root of a tree of leaves. A node without a sibling is hashed alone, also a single leaf;
// without leaves the root is the hash of nothing.
func MerkleRoot(leaves [][]byte) ID {
	if len(leaves) == 0 {
		return blake2b.Sum256(nil)
	}
	buf := make([]byte, 0, 1+2*len(ID{}))
	level := make([]ID, len(leaves))
	for i, leaf := range leaves {
		buf = append(append(buf[:0], leafPrefix), leaf...)
		level[i] = blake2b.Sum256(buf)
	}
	for first := true; first || len(level) > 1; first = false {
		n := 0
		for i := 0; i < len(level); i += 2 {
			buf = append(append(buf[:0], nodePrefix), level[i][:]...)
			if i+1 < len(level) {
				buf = append(buf, level[i+1][:]...)
			}
			level[n] = blake2b.Sum256(buf)
			n++
		}
		level = level[:n]
	}
	return level[0]
}

// TransactionsRoot returns the root over the ids of a block's transactions, followed from version 2 on by the ids of
// their witnesses.
func TransactionsRoot(version byte, ids []ID, witnesses [][31]byte) ID {
	leaves := make([][]byte, 0, len(ids)+len(witnesses))
	for i := range ids {
		leaves = append(leaves, ids[i][:])
	}
	if version > 1 {
		for i := range witnesses {
			leaves = append(leaves, witnesses[i][:])
		}
	}
	return MerkleRoot(leaves)
}

// Field is one field of a block's extension.
type Field struct {
	Key   [2]byte
	Value []byte
}

// ExtensionRoot returns the root over the fields of a block's extension.
func ExtensionRoot(fields []Field) ID {
	const perField = 64 // usual size in bytes
	leaves, all := make([][]byte, len(fields)), make([]byte, 0, perField*len(fields))
	for i := range fields {
		f := &fields[i]
		start := len(all)
		all = append(append(append(all, byte(len(f.Key))), f.Key[:]...), f.Value...)
		leaves[i] = all[start:]
	}
	return MerkleRoot(leaves)
}
