package block

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chainhash/v2"

	"birthmark/model"
)

// HeaderSize is the length of a header in bytes.
const HeaderSize = 80

// timeAt is the offset of the time.
const timeAt = 68

// Header is a serialized header of at least [HeaderSize] bytes.
type Header []byte

func (h Header) Version() int32         { return int32(binary.LittleEndian.Uint32(h)) }
func (h Header) Parent() model.Hash     { return model.Hash(h[4:36]) }
func (h Header) MerkleRoot() model.Hash { return model.Hash(h[36:68]) }
func (h Header) Time() uint32           { return binary.LittleEndian.Uint32(h[timeAt:]) } // unix seconds
func (h Header) Bits() uint32           { return binary.LittleEndian.Uint32(h[72:]) }     // compact target
func (h Header) Nonce() uint32          { return binary.LittleEndian.Uint32(h[76:]) }
func (h Header) Hash() model.Hash       { return DoubleHash(h[:HeaderSize]) }

// DoubleHash is SHA-256 of SHA-256: Bitcoin's hash of blocks, transactions and merkle nodes.
func DoubleHash(b []byte) model.Hash {
	once := sha256.Sum256(b)
	return sha256.Sum256(once[:])
}

// FormatHash writes a hash in display order, with its bytes reversed.
func FormatHash(h model.Hash) string {
	var text [2 * len(h)]byte
	for i := range h {
		*(*[2]byte)(text[2*i:]) = hexDigits[h[len(h)-1-i]]
	}
	return string(text[:])
}

// hexDigits are the two digits of each byte.
var hexDigits = func() (digits [256][2]byte) {
	for b := range digits {
		hex.Encode(digits[b][:], []byte{byte(b)})
	}
	return digits
}()

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

// ExpandTarget reads the compact form of a target, the largest number that a header's hash may be. ok is false if the
// target is negative, zero or wider than 256 bits, which is invalid in a header.
func ExpandTarget(compact uint32) (t *big.Int, ok bool) {
	t = blockchain.CompactToBig(compact)
	return t, t.Sign() > 0 && t.BitLen() <= 256
}

// CheckTarget checks that the target of a header is valid, and not easier than limit.
func (h Header) CheckTarget(limit *big.Int) error { return h.CheckWork(model.Hash{}, limit) }

// CheckWork checks that the header's hash meets its target, and that its target is not easier than limit.
func (h Header) CheckWork(hash model.Hash, limit *big.Int) error {
	id := chainhash.Hash(hash)
	target, ok := ExpandTarget(h.Bits())
	switch {
	case !ok:
		return fmt.Errorf("header %s has the invalid target %08x", id, h.Bits())
	case target.Cmp(limit) > 0:
		return fmt.Errorf("header %s has the target %08x, which is easier than the network allows", id, h.Bits())
	case blockchain.HashToBig(&id).Cmp(target) > 0:
		return fmt.Errorf("header %s does not have the proof of work that its target %08x requires", id, h.Bits())
	}
	return nil
}
