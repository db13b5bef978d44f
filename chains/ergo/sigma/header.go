package sigma

import (
	"encoding/binary"
	"fmt"
	"math/big"

	"golang.org/x/crypto/blake2b"
)

// PointSize is the size in bytes of a compressed curve point, such as a public key.
const PointSize = 33

// Header is a block's header of any version.
type Header struct {
	Version          byte
	Parent           ID
	ADProofsRoot     ID
	TransactionsRoot ID
	StateRoot        [33]byte // of the AVL+ tree of unspent boxes, with its height
	Timestamp        uint64   // in milliseconds since 1970
	ExtensionRoot    ID
	NBits            uint32 // the packed difficulty: see [Header.Difficulty]
	Height           uint32
	Votes            [3]byte
	Unparsed         []byte // since version 2: fields of a later protocol

	MinerKey [PointSize]byte
	W        [PointSize]byte // version 1
	Nonce    [8]byte
	D        []byte // version 1: a distance, big-endian without zeros in front
}

// AppendTo appends the header in the form whose hash is its id.
func (h *Header) AppendTo(dst []byte) []byte {
	dst = append(dst, h.Version)
	dst = append(dst, h.Parent[:]...)
	dst = append(dst, h.ADProofsRoot[:]...)
	dst = append(dst, h.TransactionsRoot[:]...)
	dst = append(dst, h.StateRoot[:]...)
	dst = binary.AppendUvarint(dst, h.Timestamp)
	dst = append(dst, h.ExtensionRoot[:]...)
	dst = binary.BigEndian.AppendUint32(dst, h.NBits)
	dst = binary.AppendUvarint(dst, uint64(h.Height))
	dst = append(dst, h.Votes[:]...)
	if h.Version > 1 {
		dst = append(dst, byte(len(h.Unparsed)))
		dst = append(dst, h.Unparsed...)
	}
	dst = append(dst, h.MinerKey[:]...)
	if h.Version > 1 {
		return append(dst, h.Nonce[:]...)
	}
	dst = append(dst, h.W[:]...)
	dst = append(dst, h.Nonce[:]...)
	dst = append(dst, byte(len(h.D)))
	return append(dst, h.D...)
}

// ID returns the id of the header, which is also the id of the block.
func (h *Header) ID() ID { return HeaderID(h.AppendTo(nil)) }

// HeaderID returns the id of a serialized header.
func HeaderID(raw []byte) ID { return blake2b.Sum256(raw) }

// ParseHeader parses exactly what [Header.AppendTo] writes.
func ParseHeader(raw []byte) (*Header, error) {
	r := reader{b: raw}
	h := r.header()
	if r.err == nil && r.at < len(raw) {
		r.fail("%d bytes follow the header", len(raw)-r.at)
	}
	if r.err != nil {
		return nil, fmt.Errorf("header: %w", r.err)
	}
	return h, nil
}

// header reads a header.
func (r *reader) header() *Header {
	h := &Header{}
	h.Version = r.byte("version")
	r.copy(h.Parent[:], "parent")
	r.copy(h.ADProofsRoot[:], "root of the proofs")
	r.copy(h.TransactionsRoot[:], "root of the transactions")
	r.copy(h.StateRoot[:], "state root")
	h.Timestamp = r.uint("timestamp")
	r.copy(h.ExtensionRoot[:], "root of the extension")
	var bits [4]byte
	r.copy(bits[:], "nBits")
	h.NBits = binary.BigEndian.Uint32(bits[:])
	height := r.uint("height")
	if height > 1<<32-1 {
		r.fail("height %d", height)
	}
	h.Height = uint32(height)
	r.copy(h.Votes[:], "votes")
	if h.Version > 1 {
		h.Unparsed = r.take(int(r.byte("length of unparsed fields")), "unparsed fields")
	}
	r.copy(h.MinerKey[:], "miner's key")
	if h.Version <= 1 {
		r.copy(h.W[:], "w")
	}
	r.copy(h.Nonce[:], "nonce")
	if h.Version <= 1 {
		h.D = r.take(int(r.byte("length of d")), "d")
	}
	return h
}

// Difficulty unpacks NBits: a byte with the length of the number, and its first three bytes. The first bit is a sign
// that is never set.
func (h *Header) Difficulty() *big.Int {
	size, mantissa := uint(h.NBits>>24), h.NBits&0x7fffff
	d := big.NewInt(int64(mantissa))
	if size <= 3 {
		return d.Rsh(d, 8*(3-size))
	}
	return d.Lsh(d, 8*(size-3))
}
