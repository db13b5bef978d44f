package sigma

import (
	"encoding/binary"

	"golang.org/x/crypto/blake2b"
)

// ID is what boxes, transactions, tokens and headers are named by: a Blake2b-256 hash.
type ID [32]byte

// Token is one entry of a box: an id may stand in it more than once.
type Token struct {
	ID     ID
	Amount uint64
}

// Box is an output before it is known in which transaction it stands: a box candidate.
type Box struct {
	Value     uint64 // in nanoErg
	Tree      []byte // the ErgoTree that guards it
	Height    uint32 // at which its maker says that it was made
	Tokens    []Token
	Registers [][]byte // the constants in R4, R5 and so on to R9, without a gap
}

// AppendTo appends the box at an index of a transaction, as it is hashed to its id.
func (b *Box) AppendTo(dst []byte, tx *ID, index int) []byte {
	dst = b.appendGuard(dst)
	for i := range b.Tokens {
		dst = append(dst, b.Tokens[i].ID[:]...)
		dst = binary.AppendUvarint(dst, b.Tokens[i].Amount)
	}
	dst = b.appendRegisters(dst)
	dst = append(dst, tx[:]...)
	return binary.AppendUvarint(dst, uint64(index))
}

// ID of the box at an index of a transaction.
func (b *Box) ID(tx *ID, index int) ID { return blake2b.Sum256(b.AppendTo(nil, tx, index)) }

// appendGuard appends what stands before the tokens, their number included.
func (b *Box) appendGuard(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, b.Value)
	dst = append(dst, b.Tree...)
	dst = binary.AppendUvarint(dst, uint64(b.Height))
	return append(dst, byte(len(b.Tokens)))
}

func (b *Box) appendRegisters(dst []byte) []byte {
	dst = append(dst, byte(len(b.Registers)))
	for _, r := range b.Registers {
		dst = append(dst, r...)
	}
	return dst
}
