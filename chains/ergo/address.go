package ergo

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// An address is stored as its type and its content. Written, it is base58 of a byte that holds network and type, the
// content, and the first bytes of the Blake2b-256 of both.
const (
	typeP2PK = 1 // content: a public key
	typeP2SH = 2 // content: the beginning of a script's hash
	typeP2S  = 3 // content: the ErgoTree

	typeMask     = 0x0f
	checksumSize = 4
	// maxAddressText is more characters than the address of the largest tree has: base 58 takes long for many.
	maxAddressText = 12 << 10
	// maxWritten is the most bytes of an ErgoTree that are written in base 58; a box has no room for as many.
	maxWritten = 8 << 10
	anyHex     = "hex:"

	addressExpected = "an address in base 58, or hex: and the digits of an ErgoTree"
)

// appendAddress appends the address of an ErgoTree as it is stored, by the rules of the reference implementation: the
// script itself has to be a public key's constant, or the one that runs a script by its hash. Every other tree is its
// own address, also one that cannot be read.
func appendAddress(dst, tree []byte, known *points) []byte {
	t, err := sigma.ParseTree(tree)
	if err == nil {
		if key := t.PublicKey(); key != nil && known.has(key) {
			if key[0] == 0 {
				key = sigma.Infinity[:]
			}
			return append(append(dst, typeP2PK), key...)
		}
		if hash := t.ScriptHash(); hash != nil {
			return append(append(dst, typeP2SH), hash...)
		}
	}
	return append(append(dst, typeP2S), tree...)
}

// points remembers keys that are points of the curve: to find it out takes as long as the rest of a transaction. The
// zero value is ready, and nil remembers nothing.
type points [4096][sigma.PointSize]byte

// has reports whether a key is a point of the curve.
func (p *points) has(key []byte) bool {
	if p == nil || key[0] == 0 {
		return sigma.IsPoint(key)
	}
	slot := &p[(uint(key[1])|uint(key[2])<<8)%uint(len(p))]
	if string(slot[:]) == string(key) {
		return true
	}
	if !sigma.IsPoint(key) {
		return false
	}
	copy(slot[:], key)
	return true
}

// formatAddress writes an address as people do. What comes out parses back to the same bytes.
func formatAddress(n *network, value []byte) string {
	if len(value) == 0 {
		return ""
	}
	if len(value) > maxWritten {
		return anyHex + hex.EncodeToString(value[1:])
	}
	raw := append([]byte{n.prefix | value[0]}, value[1:]...)
	sum := blake2b.Sum256(raw)
	return base58.Encode(append(raw, sum[:checksumSize]...))
}

// parseAddress makes an address of what a person writes. The error, of kind [model.Usage] and code bad_value, says
// what is wrong and what was expected.
func parseAddress(n *network, text string) ([]byte, error) {
	value, err := readAddress(n, text)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_value", "%q is no address of ergo %s: %w: expected %s", shownText(text), n.name, err, addressExpected)
	}
	return value, nil
}

func readAddress(n *network, text string) ([]byte, error) {
	if len(text) >= len(anyHex) && text[:len(anyHex)] == anyHex {
		tree, err := hex.DecodeString(text[len(anyHex):])
		if err != nil || len(tree) == 0 {
			return nil, errors.New("these are no hex digits of a tree")
		}
		return appendAddress(nil, tree, nil), nil
	}
	if len(text) > maxAddressText {
		return nil, fmt.Errorf("it has %d characters, the most is %d", len(text), maxAddressText)
	}
	raw := base58.Decode(text)
	if len(raw) < 1+1+checksumSize {
		return nil, errors.New("it is not base 58 of an address")
	}
	end := len(raw) - checksumSize
	if sum := blake2b.Sum256(raw[:end]); !bytes.Equal(sum[:checksumSize], raw[end:]) {
		return nil, errors.New("its checksum is wrong")
	}
	if prefix := raw[0] &^ typeMask; prefix != n.prefix {
		for _, other := range networks {
			if other.prefix == prefix {
				return nil, fmt.Errorf("it is of ergo %s", other.name)
			}
		}
		return nil, fmt.Errorf("it is of a network that is not known (first byte %#02x)", raw[0])
	}
	value := raw[:end]
	value[0] &= typeMask
	sizes := map[byte]int{typeP2PK: sigma.PointSize, typeP2SH: sigma.ScriptHashSize, typeP2S: 0}
	size, ok := sizes[value[0]]
	switch {
	case !ok:
		return nil, fmt.Errorf("it is of type %d, which is not known", value[0])
	case size != 0 && len(value) != 1+size:
		return nil, fmt.Errorf("its content has %d bytes where type %d has %d", len(value)-1, value[0], size)
	case value[0] == typeP2S:
		// A tree that has a shorter address is stored under that.
		return appendAddress(nil, value[1:], nil), nil
	case value[0] == typeP2PK && !sigma.IsPoint(value[1:]):
		return nil, errors.New("its key is no point of the curve")
	case value[0] == typeP2PK && value[1] == 0:
		copy(value[1:], sigma.Infinity[:])
	}
	return value, nil
}
