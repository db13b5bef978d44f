package sigma

import (
	"bytes"
	"fmt"
)

// Bits of an ErgoTree's first byte; the lowest three are the version.
const (
	treeHasSize     = 0x08
	treeSegregation = 0x10
)

const maxConstants = 4096

// Tree is a parsed ErgoTree. Slices point into the input.
type Tree struct {
	Header   byte
	Template []byte // after header, size and constants: the script with placeholders
}

// Version returns the language version of the tree.
func (t *Tree) Version() int { return int(t.Header & 7) }

// Segregated reports whether the constants precede the script.
func (t *Tree) Segregated() bool { return t.Header&treeSegregation != 0 }

// ParseTree parses an ErgoTree without its script. The size in some trees is for readers that do not know the language
// version: the reference implementation reads a script to its own end, so a size may be wrong.
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

// PublicKey returns the key of a tree whose script is a key constant (pay-to-public-key), or nil. A segregated constant
// does not count. [IsPoint] checks whether the key is on the curve; a tree with an invalid key cannot be parsed.
func (t *Tree) PublicKey() []byte {
	s := t.Template
	if len(s) != 2+PointSize || s[0] != typeSigmaProp || s[1] != codeProveDlog {
		return nil
	}
	return s[2:]
}

// ScriptHashSize is the size of the hash in pay-to-script-hash addresses.
const ScriptHashSize = 24

// The bytes around the hash in a pay-to-script-hash script: the script in variable 126 is run if the first 24 bytes of
// its Blake2b-256 equal the hash.
var (
	scriptHashHead = []byte{
		0xea, 2, // both of
		0xd1, 0x93, // equal
		0xb4, 0xcb, 0xe4, 0xe3, scriptVariable, embeddable + typeByte, // slice of the hash of the variable's bytes
		typeInt, 0, typeInt, 2 * ScriptHashSize, // from 0 to 24
		embeddable + typeByte, ScriptHashSize, // the hash
	}
	scriptHashTail = []byte{0xd4, typeSigmaProp, scriptVariable}
)

const scriptVariable = 126

// ScriptHash returns the hash in a pay-to-script-hash tree, or nil.
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

// PublicKeyTree returns the tree of a pay-to-public-key address.
func PublicKeyTree(key [PointSize]byte) []byte {
	return append([]byte{0, typeSigmaProp, codeProveDlog}, key[:]...)
}

// ScriptHashTree returns the tree of a pay-to-script-hash address.
func ScriptHashTree(hash [ScriptHashSize]byte) []byte {
	return bytes.Join([][]byte{{0}, scriptHashHead, hash[:], scriptHashTail}, nil)
}

// TreeConstants returns the serialized constants of a tree, none if they are part of its script.
func TreeConstants(b []byte) (constants [][]byte, err error) {
	if _, err := ParseTree(b); err != nil {
		return nil, err
	}
	r := reader{b: b}
	header := r.byte("header of the tree")
	if header&treeHasSize != 0 {
		r.uint("size of the tree")
	}
	if header&treeSegregation == 0 {
		return nil, nil
	}
	for n := r.length(maxConstants, "number of constants"); n > 0; n-- {
		start := r.at
		r.skipConstant()
		constants = append(constants, r.b[start:r.at:r.at])
	}
	return constants, r.err
}
