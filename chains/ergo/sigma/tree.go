package sigma

import (
	"bytes"
	"fmt"
)

// Bits of an ErgoTree's first byte besides the version in the lowest three.
const (
	treeHasSize     = 0x08
	treeSegregation = 0x10
)

const maxConstants = 4096

// Tree is an ErgoTree taken apart. Slices point into what was parsed.
type Tree struct {
	Header   byte
	Template []byte // what follows the header, the size and the constants: the script with places for them
}

// Version of the language the tree is written for.
func (t *Tree) Version() int { return int(t.Header & 7) }

// Segregated reports whether the constants stand before the script.
func (t *Tree) Segregated() bool { return t.Header&treeSegregation != 0 }

// ParseTree takes an ErgoTree apart. The script itself is not looked at. The size that some trees state is for readers
// that do not know the script's language: the reference implementation reads a script to its own end, and so a size may
// be wrong.
func ParseTree(b []byte) (Tree, error) {
	r := reader{b: b}
	t := Tree{Header: r.byte("header of the tree")}
	if t.Header&treeHasSize != 0 {
		r.uint("size of the tree")
	} else if t.Version() > 0 {
		r.fail("a tree of version %d without its size", t.Version())
	}
	if t.Segregated() {
		n := r.length(maxConstants, "number of constants")
		for i := 0; i < n && r.err == nil; i++ {
			r.skipConstant()
		}
	}
	if r.err == nil && r.at == len(b) {
		r.fail("the script is missing")
	}
	if r.err != nil {
		return Tree{}, fmt.Errorf("ErgoTree: %w", r.err)
	}
	t.Template = b[r.at:]
	return t, nil
}

// PublicKey is the key of a tree whose script is a key's constant, which is what pay-to-public-key addresses are of;
// nil of every other. A key that stands among the segregated constants is not the script. Whether the key is a point of
// the curve [IsPoint] says; a tree with another cannot be read.
func (t *Tree) PublicKey() []byte {
	s := t.Template
	if len(s) != 2+PointSize || s[0] != typeSigmaProp || s[1] != codeProveDlog {
		return nil
	}
	return s[2:]
}

// ScriptHashSize is the bytes of the hash in pay-to-script-hash addresses.
const ScriptHashSize = 24

// What stands around the hash in the script that pay-to-script-hash addresses are of: the script in variable 126 is
// run if the first 24 bytes of its Blake2b-256 are the hash.
var (
	scriptHashHead = []byte{
		0xea, 2, // both of
		0xd1, 0x93, // are equal
		0xb4, 0xcb, 0xe4, 0xe3, scriptVariable, embeddable + typeByte, // slice of the hash of the variable's bytes
		typeInt, 0, typeInt, 2 * ScriptHashSize, // from 0 to 24
		embeddable + typeByte, ScriptHashSize, // the hash
	}
	scriptHashTail = []byte{0xd4, typeSigmaProp, scriptVariable}
)

const scriptVariable = 126

// ScriptHash is the hash in a tree whose script is that of pay-to-script-hash addresses, nil of every other.
func (t *Tree) ScriptHash() []byte {
	s, ok := bytes.CutPrefix(t.Template, scriptHashHead)
	if !ok {
		return nil
	}
	if s, ok = bytes.CutSuffix(s, scriptHashTail); !ok || len(s) != ScriptHashSize {
		return nil
	}
	return s
}

// PublicKeyTree is the tree of a pay-to-public-key address.
func PublicKeyTree(key [PointSize]byte) []byte {
	return append([]byte{0, typeSigmaProp, codeProveDlog}, key[:]...)
}

// ScriptHashTree is the tree of a pay-to-script-hash address.
func ScriptHashTree(hash [ScriptHashSize]byte) []byte {
	return bytes.Join([][]byte{{0}, scriptHashHead, hash[:], scriptHashTail}, nil)
}
