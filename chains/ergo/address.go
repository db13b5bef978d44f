package ergo

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/adapter"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// A stored address is its type and its content. The text is base58 of a byte with network and type, the content, and
// the first bytes of the Blake2b-256 of both.
const (
	typeP2PK = 1 // content: a public key
	typeP2SH = 2 // content: prefix of a script's hash
	typeP2S  = 3 // content: the ErgoTree

	typeMask     = 0x0f
	checksumSize = 4
	// maxAddressText exceeds the length of the address of the largest tree: decoding base58 takes quadratic time.
	maxAddressText = 12 << 10
	// maxWritten is the largest ErgoTree in bytes that is written in base 58; a box is smaller.
	maxWritten = 8 << 10
	anyHex     = "hex:"

	addressExpected = "an address in base 58, or hex: and the digits of an ErgoTree"
)

// appendAddress appends the stored address of an ErgoTree by the rules of the reference implementation: P2PK if the tree
// is a constant public key, P2SH if it is the script that runs a script by its hash, else P2S, also for an invalid tree.
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

// points caches keys that are points of the curve: the check takes as long as the rest of a transaction. A nil points
// caches nothing.
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

// formatAddress writes a stored address. parseAddress returns the same bytes.
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

// addressTypes returns the type of a stored address.
func addressTypes(value []byte) []string {
	if len(value) == 0 {
		return nil
	}
	switch value[0] {
	case typeP2PK:
		return []string{"P2PK"}
	case typeP2SH:
		return []string{"P2SH"}
	case typeP2S:
		return []string{"P2S"}
	}
	return nil
}

// parseAddress returns the stored form of an address. An error is of kind [model.Usage], code bad_value.
func parseAddress(n *network, text string) ([]byte, error) {
	value, err := readAddress(n, text)
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_value", "invalid address %s for ergo %s (expected %s): %w", adapter.Quote(text), n.name, addressExpected, err)
	}
	return value, nil
}

func readAddress(n *network, text string) ([]byte, error) {
	if len(text) >= len(anyHex) && text[:len(anyHex)] == anyHex {
		tree, err := hex.DecodeString(text[len(anyHex):])
		if err != nil || len(tree) == 0 {
			return nil, errors.New("invalid hex digits of an ErgoTree")
		}
		return appendAddress(nil, tree, nil), nil
	}
	if len(text) > maxAddressText {
		return nil, fmt.Errorf("it has %d characters, expected at most %d", len(text), maxAddressText)
	}
	raw := base58.Decode(text)
	if len(raw) < 1+1+checksumSize {
		return nil, errors.New("invalid base 58")
	}
	end := len(raw) - checksumSize
	if sum := blake2b.Sum256(raw[:end]); !bytes.Equal(sum[:checksumSize], raw[end:]) {
		return nil, errors.New("invalid checksum")
	}
	if prefix := raw[0] &^ typeMask; prefix != n.prefix {
		for _, other := range networks {
			if other.prefix == prefix {
				return nil, fmt.Errorf("it is an address of ergo %s", other.name)
			}
		}
		return nil, fmt.Errorf("unknown network (first byte %#02x)", raw[0])
	}
	value := raw[:end]
	value[0] &= typeMask
	sizes := map[byte]int{typeP2PK: sigma.PointSize, typeP2SH: sigma.ScriptHashSize, typeP2S: 0}
	size, ok := sizes[value[0]]
	switch {
	case !ok:
		return nil, fmt.Errorf("unknown address type %d", value[0])
	case size != 0 && len(value) != 1+size:
		return nil, fmt.Errorf("its content has %d bytes, expected %d for type %d", len(value)-1, size, value[0])
	case value[0] == typeP2S:
		// A tree with a shorter address is stored as that address.
		return appendAddress(nil, value[1:], nil), nil
	case value[0] == typeP2PK && !sigma.IsPoint(value[1:]):
		return nil, errors.New("its key is not a point of the curve")
	case value[0] == typeP2PK && value[1] == 0:
		copy(value[1:], sigma.Infinity[:])
	}
	return value, nil
}
