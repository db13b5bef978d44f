package sigma

import (
	"encoding/binary"
	"iter"

	"golang.org/x/crypto/blake2b"
)

// ID identifies boxes, transactions, tokens and headers: a Blake2b-256 hash.
type ID [32]byte

// Token is one entry of a box: an id may be repeated.
type Token struct {
	ID     ID
	Amount uint64
}

// FirstRegister is the number of the first additional register.
const FirstRegister = 4

// Box is an output without its transaction: a box candidate.
type Box struct {
	Value     uint64 // in nanoErg
	Tree      []byte // the ErgoTree of the box
	Height    uint32 // the stated creation height
	Tokens    []Token
	Registers [][]byte // the serialized values in R4 to R9, without a gap
}

// Additional yields the additional registers by their numbers, without empty ones: see [ParseTx].
func (b *Box) Additional() iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		for i, value := range b.Registers {
			if len(value) == 0 || !yield(FirstRegister+i, value) {
				return
			}
		}
	}
}

// AppendTo appends the box at an index of a transaction in the form whose hash is its id.
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

// ID returns the id of the box at an index of a transaction.
func (b *Box) ID(tx *ID, index int) ID { return blake2b.Sum256(b.AppendTo(nil, tx, index)) }

// appendGuard appends the fields before the tokens, and their number.
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
