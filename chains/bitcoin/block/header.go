package block

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"

	"birthmark/model"
)

// HeaderSize is the length of a header in bytes.
const HeaderSize = 80

// Header is a serialized header of at least [HeaderSize] bytes.
type Header []byte

func (h Header) Version() int32         { return int32(binary.LittleEndian.Uint32(h)) }
func (h Header) Parent() model.Hash     { return model.Hash(h[4:36]) }
func (h Header) MerkleRoot() model.Hash { return model.Hash(h[36:68]) }
func (h Header) Time() uint32           { return binary.LittleEndian.Uint32(h[68:]) } // unix seconds
func (h Header) Bits() uint32           { return binary.LittleEndian.Uint32(h[72:]) } // compact target
func (h Header) Nonce() uint32          { return binary.LittleEndian.Uint32(h[76:]) }
func (h Header) Hash() model.Hash       { return DoubleHash(h[:HeaderSize]) }

// DoubleHash is SHA-256 of SHA-256: Bitcoin's hash of blocks, transactions and merkle nodes.
func DoubleHash(b []byte) model.Hash {
	once := sha256.Sum256(b)
	return sha256.Sum256(once[:])
}

// FormatHash writes a hash in display order, with its bytes reversed.
func FormatHash(h model.Hash) string {
	slices.Reverse(h[:])
	return h.String()
}

// ParseHash reads 64 hex digits in display order.
func ParseHash(s string) (h model.Hash, ok bool) {
	if len(s) != 2*len(h) {
		return h, false
	}
	if _, err := hex.Decode(h[:], []byte(s)); err != nil {
		return model.Hash{}, false
	}
	slices.Reverse(h[:])
	return h, true
}

// Target is the largest value that a header's hash may have, big-endian.
type Target [32]byte

// ExpandTarget reads the compact form: a mantissa of 23 bits with a sign, and an exponent in bytes. ok is false if the
// target is negative, zero or wider than 256 bits, which is invalid in a header.
func ExpandTarget(compact uint32) (t Target, ok bool) {
	exponent, mantissa := int(compact>>24), compact&0x7fffff
	if compact&0x800000 != 0 {
		return t, false
	}
	for i := range 3 {
		b := byte(mantissa >> (8 * i))
		at := len(t) - 1 - (exponent - 3 + i)
		if b == 0 || at >= len(t) {
			continue
		}
		if at < 0 {
			return t, false
		}
		t[at] = b
	}
	return t, t != Target{}
}

// CheckWork checks that the header's hash meets its target, and that its target is not easier than limit.
func (h Header) CheckWork(hash model.Hash, limit Target) error {
	t, ok := ExpandTarget(h.Bits())
	if !ok {
		return fmt.Errorf("header %s has the invalid target %08x", FormatHash(hash), h.Bits())
	}
	if bytes.Compare(t[:], limit[:]) > 0 {
		return fmt.Errorf("header %s has the target %08x, which is easier than the network allows", FormatHash(hash), h.Bits())
	}
	number := hash
	slices.Reverse(number[:])
	if bytes.Compare(number[:], t[:]) > 0 {
		return fmt.Errorf("header %s does not have the proof of work that its target %08x requires", FormatHash(hash), h.Bits())
	}
	return nil
}
