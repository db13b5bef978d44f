package bitcoin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"birthmark/model"
)

// headerSize is the bytes of a header on every network.
const headerSize = 80

// header reads the fields of 80 bytes where they stand.
type header []byte

func (h header) version() int32     { return int32(binary.LittleEndian.Uint32(h)) }
func (h header) parent() model.Hash { return model.Hash(h[4:36]) }
func (h header) merkle() model.Hash { return model.Hash(h[36:68]) }
func (h header) time() uint32       { return binary.LittleEndian.Uint32(h[68:]) }
func (h header) bits() uint32       { return binary.LittleEndian.Uint32(h[72:]) }
func (h header) nonce() uint32      { return binary.LittleEndian.Uint32(h[76:]) }
func (h header) hash() model.Hash   { return doubleHash(h[:headerSize]) }

// doubleHash is SHA-256 of SHA-256, Bitcoin's hash of blocks, transactions and merkle nodes.
func doubleHash(b []byte) model.Hash {
	once := sha256.Sum256(b)
	return sha256.Sum256(once[:])
}

// Header is a header as JSON shows it. Hash, parent and time are the block's own fields.
type Header struct {
	Version    int32   `json:"version"`
	MerkleRoot string  `json:"merkle_root"`
	Bits       string  `json:"bits"` // the target in its compact form, as Core writes it: 8 hex digits
	Nonce      uint32  `json:"nonce"`
	Difficulty float64 `json:"difficulty"` // of the target, in units of mainnet's easiest
}

func parseHeader(raw []byte) (*Header, error) {
	if len(raw) != headerSize {
		return nil, fmt.Errorf("a bitcoin header has %d bytes, not %d", headerSize, len(raw))
	}
	h := header(raw)
	return &Header{
		Version:    h.version(),
		MerkleRoot: formatHash(h.merkle()),
		Bits:       fmt.Sprintf("%08x", h.bits()),
		Nonce:      h.nonce(),
		Difficulty: difficulty(h.bits()),
	}, nil
}

// difficulty is computed as Core does it (GetDifficulty in rpc/blockchain.cpp), so that the digits agree.
// 0 where the compact form has no mantissa, which no valid header has.
func difficulty(compact uint32) float64 {
	mantissa := compact & 0xffffff
	if mantissa == 0 {
		return 0
	}
	d := float64(0xffff) / float64(mantissa)
	shift := int(compact >> 24)
	for ; shift < 29; shift++ {
		d *= 256
	}
	for ; shift > 29; shift-- {
		d /= 256
	}
	return d
}

// target is the number a header's hash must not exceed, big-endian.
type target [32]byte

// expand reads the compact form: a mantissa of 23 bits and a sign, and an exponent in bytes. Not ok where it is
// negative, zero or wider than 256 bits: no header may state those.
func expand(compact uint32) (t target, ok bool) {
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
	return t, t != target{}
}

// checkWork says whether the header's hash meets the target the header states, and whether the network allows
// so easy a target.
func (n *network) checkWork(h header, hash model.Hash) error {
	t, ok := expand(h.bits())
	if !ok {
		return fmt.Errorf("header of %s states the impossible target %08x", formatHash(hash), h.bits())
	}
	if bytes.Compare(t[:], n.limit[:]) > 0 {
		return fmt.Errorf("header of %s states the target %08x, easier than %s allows", formatHash(hash), h.bits(), n.name)
	}
	number := hash
	slices.Reverse(number[:])
	if bytes.Compare(number[:], t[:]) > 0 {
		return fmt.Errorf("header %s does not have the proof of work its target %08x asks for", formatHash(hash), h.bits())
	}
	return nil
}
