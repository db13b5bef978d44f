package ergo

import (
	"bytes"

	"birthmark/chains/ergo/sigma"
)

// AddressTree returns the ErgoTree that payments to a stored address have. Other trees can have the same address.
func AddressTree(address []byte) []byte {
	switch address[0] {
	case typeP2PK:
		return sigma.PublicKeyTree([sigma.PointSize]byte(address[1:]))
	case typeP2SH:
		return sigma.ScriptHashTree([sigma.ScriptHashSize]byte(address[1:]))
	}
	return address[1:]
}

// maxTreeHead is the largest number of bytes in front of the script of a tree without constants: header and size.
const maxTreeHead = 6

// TreeSize returns the size of the ErgoTree with a stored address that begins b, or -1 if it is not that tree.
func TreeSize(address, b []byte) int {
	script, head := AddressTree(address), 0
	if address[0] != typeP2S {
		script, head = script[1:], maxTreeHead
	}
	at := bytes.Index(b[:min(len(b), head+len(script))], script)
	if at < 0 {
		return -1
	}
	// The tree of a script is the address itself; only other addresses have several trees.
	if address[0] != typeP2S && !bytes.Equal(appendAddress(nil, b[:at+len(script)], nil), address) {
		return -1
	}
	return at + len(script)
}

// KnownTreeSize returns [TreeSize] with the stored address at index i, or -1 if it is unknown.
func KnownTreeSize(addresses [][]byte, i int, b []byte) int {
	if i >= len(addresses) || len(addresses[i]) == 0 {
		return -1
	}
	return TreeSize(addresses[i], b)
}

// GenesisBoxes returns the boxes that exist before block 1 of a network, in the order of their positions in the
// database; nil if they are not built in. Each has a transaction of zeros and the index 0.
func GenesisBoxes(name string) ([]sigma.Box, error) {
	n, err := networks.Get(Name, name)
	if err != nil || n.genesisBoxes() == nil {
		return nil, err
	}
	d, err := newDecoder(newChain(n), nil)
	if err != nil {
		return nil, err
	}
	if _, err := d.genesis(n.genesisBoxes()); err != nil {
		return nil, err
	}
	return d.boxes, nil
}

// StoredAddress returns the stored address of an ErgoTree.
func StoredAddress(tree []byte) []byte { return appendAddress(nil, tree, nil) }

// TreeHash returns the value of the index ergo_tree_hash: the Blake2b-256 of an ErgoTree.
func TreeHash(tree []byte) [hashSize]byte { return treeHash(tree) }
